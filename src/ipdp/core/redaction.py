"""Addresses without what may be a secret in them, and short paths, for logs, pages and messages."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

_DONE = re.compile(r"redacted-[0-9a-f]{6}")
_DONE_URL = re.compile(rf"https?://[^/@?#]+/{_DONE.pattern}")
# Of a long word only the last letters are tried as a scheme: else it takes time by their square.
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s'\"<>]+")
# Settings of an address that hold no password and run no program; all others are not shown.
HARMLESS = frozenset(
    {
        *("group", "start", "end", "idle", "lost"),
        *("client.id", "security.protocol", "sasl.mechanism", "sasl.mechanisms"),
    }
)
"""Names in the query of a source's address whose values are shown."""

# A path of at least two directories and a name, of either make, that does not belong to an address.
_PATH = re.compile(r"(?<![\w:/.\\…])(?:/(?:[^/\s'\",:]+/)+|[A-Za-z]:\\(?:[^\\\s'\",:]+\\)+)")


def redacted(secret: str) -> str:
    """What stands in a secret's place: too short a hash to find the secret by."""
    if _DONE.fullmatch(secret):
        return secret
    return f"redacted-{hashlib.sha256(secret.encode(errors='replace')).hexdigest()[:6]}"


def is_redacted(text: str) -> bool:
    """Whether something in it was a secret."""
    return _DONE.search(text) is not None


def redacted_url(url: str) -> str:
    """An address with its scheme and host only; the path is a secret with many services."""
    if _DONE_URL.fullmatch(url):
        return url
    try:
        parts = urlsplit(url)
    except ValueError:
        return redacted(url)
    host = parts.netloc.rpartition("@")[2]
    rest = url.removeprefix(f"{parts.scheme}://").replace(host, "", 1)
    return f"{parts.scheme}://{host}/{redacted(rest)}" if host else redacted(url)


def redacted_query(url: str, harmless: Collection[str] = HARMLESS) -> str:
    """An address of a source with its path, without user, password and what else may be secret."""
    scheme = url.partition("://")[0]
    try:
        parts = urlsplit(url)
    except ValueError:
        return f"{scheme}://{redacted(url)}"
    settings = parse_qsl(parts.query, keep_blank_values=True)
    shown = [(key, value if key in harmless else redacted(value)) for key, value in settings]
    user, at, host = parts.netloc.rpartition("@")
    if shown == settings and (not at or _DONE.fullmatch(user)) and not parts.fragment:
        return url
    host = f"{redacted(user)}@{host}" if at else host
    return urlunsplit((scheme, host, parts.path, urlencode(shown, safe="/:,"), ""))


def without_secrets(value: Any, name: str = "") -> Any:
    """Settings, however nested, as they may be shown; those of older logs hold whole addresses.

    Examples
    --------
    >>> without_secrets({"webhook": "https://hooks.example.com/T000/B000", "alpha": 0.1})
    {'webhook': 'https://hooks.example.com/redacted-1505f6', 'alpha': 0.1}
    """
    if isinstance(value, dict):
        return {key: without_secrets(item, str(key)) for key, item in value.items()}
    if isinstance(value, list):
        return [without_secrets(item, name) for item in value]
    if not isinstance(value, str):
        return value
    if name == "webhook":
        return redacted_url(value) if "://" in value else value
    return _ADDRESS.sub(lambda found: redacted_query(found[0]), value)


def short_paths(value: Any) -> Any:
    """Settings or a sentence, with absolute paths as their last name: who mails it says no more.

    Examples
    --------
    >>> short_paths({"data": "/home/jane/projects/loans/march.csv"})
    {'data': '…/march.csv'}
    """
    if isinstance(value, dict):
        return {key: short_paths(item) for key, item in value.items()}
    if isinstance(value, list):
        return [short_paths(item) for item in value]
    return _PATH.sub("…/", value) if isinstance(value, str) else value
