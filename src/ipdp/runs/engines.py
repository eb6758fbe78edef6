"""What an engine remembers, and another model for an explainer."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, get_args

from ipdp.models import Engine, engine
from ipdp.models.detect import Response


def engine_state(known: Engine) -> dict[str, Any] | None:
    """What the engine of trees remembers of its own checks, JSON-safe.

    At some observations it gives the answers of plain calls, which differ from its own in the last
    bits; which observations these are must be the same after a resume.
    """
    checker: Any = getattr(known, "checker", None)
    if checker is None:
        return None
    return {**checker.state, "fault": getattr(known, "fault", None)}


def restore_engine(known: Any, state: Mapping[str, Any] | None) -> None:
    """Bring an engine's checks to where they were."""
    checker = getattr(known, "checker", None)
    if checker is None or state is None:
        return
    checker.state = state
    known.fault = state["fault"]


def alike(known: Engine, model: Any) -> Engine | None:
    """An engine for a model that asks it in the same way as a known one asks another.

    None if the known one is not what `ipdp.models.engine` makes.
    """
    for response in get_args(Response):
        with suppress(TypeError, ValueError):
            made = engine(model, response=response)
            if type(made) is type(known) and _way(made) == _way(known):
                return made
    return None


def _way(known: Engine) -> str:
    """What of the model is asked; how many calls that takes does not matter."""
    return known.description.split(", one ")[0]
