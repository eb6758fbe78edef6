"""Addresses without what may be a secret in them, for logs, pages and messages."""

from __future__ import annotations

import hashlib
from urllib.parse import urlsplit


def redacted(secret: str) -> str:
    """What stands in a secret's place: too short a hash to find the secret by.

    Examples
    --------
    >>> redacted("hunter2")
    'redacted-f52fbd'
    """
    return f"redacted-{hashlib.sha256(secret.encode(errors='replace')).hexdigest()[:6]}"


def redacted_url(url: str) -> str:
    """An address with its scheme and host only; the path is a secret with many services.

    Examples
    --------
    >>> redacted_url("https://me:word@hooks.example.com:8443/T000/B000?key=1")
    'https://hooks.example.com:8443/redacted-f42b1f'
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return redacted(url)
    host = parts.netloc.rpartition("@")[2]
    rest = url.removeprefix(f"{parts.scheme}://").replace(host, "", 1)
    return f"{parts.scheme}://{host}/{redacted(rest)}" if host else redacted(url)
