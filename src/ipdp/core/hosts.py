"""Hosts and their addresses: which can be asked, and whether only this machine reaches them."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("0.0.0.0")
    (True, False)
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def without_port(host: str) -> str:
    """The name in a Host header, without its port.

    Examples
    --------
    >>> without_port("localhost:8321"), without_port("[::1]:8321")
    ('localhost', '::1')
    """
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if host.count(":") == 1 else host


def problem_of_url(url: str) -> str | None:
    """What an address of the web must do that this one does not; it is not quoted.

    Who asks such an address gets it quoted whole, with what is secret in it.

    Examples
    --------
    >>> problem_of_url("https://example.com/T000 /B000")
    'must hold nothing but printable ASCII, and no spaces'
    """
    if not url.startswith(("http://", "https://")):
        return "must start with http:// or https://"
    if not (url.isascii() and url.isprintable() and " " not in url):
        return "must hold nothing but printable ASCII, and no spaces"
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        host.encode("idna")
    except ValueError:
        return "must have a host, and a number for its port"
    return "must have a host" if not host or port == 0 else None
