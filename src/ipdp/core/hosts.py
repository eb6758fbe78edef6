"""Names of hosts: in a request's header, and whether only this machine reaches them."""

from __future__ import annotations

import ipaddress


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
