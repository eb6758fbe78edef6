"""Metrics are given by names of this machine only, however many connections there are."""

from __future__ import annotations

import http.client
import socket
import threading
import time

import pytest

from ipdp.runs.metrics_server import MOST
from ipdp.runs.prometheus import MetricsServer


@pytest.fixture
def server():
    with MetricsServer(0) as server:
        yield server


def status(server, name):
    connection = http.client.HTTPConnection(server.host, server.port, timeout=120)
    connection.putrequest("GET", "/metrics", skip_host=True)
    connection.putheader("Host", name)
    connection.endheaders()
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


@pytest.mark.parametrize("name", ["localhost:9", "127.0.0.1", "LOCALHOST", "[::1]:80"])
def test_by_names_of_this_machine(server, name):
    assert status(server, name) == 200


@pytest.mark.parametrize("name", ["", "evil.example", "localhost.evil.example:80", "10.0.0.1"])
def test_a_name_that_points_here_from_elsewhere_is_refused(server, name):
    assert status(server, name) == 421


def test_silent_connections_are_bounded(server):
    before = threading.active_count()
    silent = [socket.create_connection((server.host, server.port)) for _ in range(100)]
    try:
        # All of them have been dealt with when the last one is: they come in order.
        silent[-1].settimeout(120)
        assert silent[-1].recv(1) == b""
        assert threading.active_count() - before <= MOST
    finally:
        for connection in silent:
            connection.close()
    while threading.active_count() > before:
        time.sleep(0.01)
    assert status(server, "localhost") == 200
