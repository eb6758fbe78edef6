"""Other models beside the one of a run, asked about the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ipdp.comparison import challenge
from ipdp.explainers import Explainer, IncrementalPDP
from ipdp.runs.step import by_name

PREFIX = "challenger "
"""What the names of their explainers begin with."""


def with_challengers(explainers: Any, challengers: Mapping[str, Any]) -> dict[str, Explainer]:
    """The explainers by name, and for each challenger one that follows both models."""
    named = by_name(explainers)
    first = next((each for each in named.values() if isinstance(each, IncrementalPDP)), None)
    if first is None:
        raise ValueError("challengers are compared by curves: give an IncrementalPDP, too")
    return named | {f"{PREFIX}{name}": challenge(first, m) for name, m in challengers.items()}
