"""Whether two explainers, or an explainer and a saved state, belong together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ipdp.core.typing import State

VERSION = 1
"""Of the states that are written and read."""


def canonical(setting: Any) -> str:
    """A setting as text; a dict in an order that does not depend on the user's.

    Examples
    --------
    >>> canonical({"b": 1, "a": 2})
    "{'a': 2, 'b': 1}"
    """
    if isinstance(setting, dict):
        setting = dict(sorted(setting.items(), key=lambda item: repr(item[0])))
    return repr(setting)


def must_agree(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> None:
    """Raise unless two explainers have the same settings, and can be merged."""
    for name, value in mine.items():
        if value != theirs[name]:
            raise ValueError(
                f"explainers can be merged only if their settings agree: {name} is {value!r} "
                f"and {theirs[name]!r}"
            )


def must_fit(state: State, mine: Mapping[str, Any]) -> None:
    """Raise unless a saved state is one that an explainer with these settings can take."""
    version = state.get("version") if isinstance(state, Mapping) else None
    if version != VERSION:
        raise ValueError(
            f"this is a state of version {version!r}; this ipdp reads version {VERSION}"
        )
    for name, value in mine.items():
        if state["settings"][name] != canonical(value):
            raise ValueError(
                f"the state was made with {name} = {state['settings'][name]}, this explainer "
                f"has {value!r}"
            )
