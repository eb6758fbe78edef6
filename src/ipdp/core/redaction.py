"""Addresses without what may be a secret in them, for logs, pages and messages."""

from __future__ import annotations

import hashlib
from urllib.parse import urlsplit


def redacted(secret: str) -> str:
    """What stands in a secret's place: too short a hash to find the secret by."""
    return f"redacted-{hashlib.sha256(secret.encode(errors='replace')).hexdigest()[:6]}"


def redacted_url(url: str) -> str:
    """An address with its scheme and host only; the path is a secret with many services."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return redacted(url)
    host = parts.netloc.rpartition("@")[2]
    rest = url.removeprefix(f"{parts.scheme}://").replace(host, "", 1)
    return f"{parts.scheme}://{host}/{redacted(rest)}" if host else redacted(url)
