"""Change detection on the explanation stream: what changed, where, when, of which kind."""

from importlib import import_module
from typing import Any

from ipdp.monitor import notify
from ipdp.monitor.change import Change
from ipdp.monitor.monitor import Monitor

__all__ = ["Change", "Monitor", "notify"]


def __getattr__(name: str) -> Any:
    if name == "handlers":  # the old name of `notify`
        return import_module("ipdp.monitor.handlers")
    raise AttributeError(f"module 'ipdp.monitor' has no attribute {name!r}")
