"""Other models beside the one of a run, asked about the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ipdp.comparison import Comparison, challenge, paired
from ipdp.comparison.paired import is_paired
from ipdp.core.importance import Result
from ipdp.core.typing import Feature
from ipdp.core.validation import must_be_dict
from ipdp.explainers import Explainer, IncrementalPDP
from ipdp.log.blobs import as_logged
from ipdp.runs.step import by_name

PREFIX = "challenger "
"""What the names of their explainers begin with."""


def with_challengers(explainers: Any, challengers: Mapping[str, Any]) -> dict[str, Explainer]:
    """The explainers by name, and for each challenger one that follows both models."""
    must_be_dict("challengers", challengers)
    named = by_name(explainers)
    first = next((each for each in named.values() if isinstance(each, IncrementalPDP)), None)
    if first is None:
        raise ValueError("challengers are compared by curves: give an IncrementalPDP, too")
    return named | {f"{PREFIX}{name}": challenge(first, m) for name, m in challengers.items()}


def is_challenger(explainer: str, results: Mapping[Feature, Result]) -> bool:
    """Whether the results of an explainer are those of a challenger beside the model."""
    return explainer.startswith(PREFIX) and is_paired(results)


def compared(results: Mapping[str, Mapping[Feature, Result]]) -> dict[str, Comparison]:
    """How each challenger differs from the model, by name, from the results of all explainers."""
    found = {}
    for explainer, of_both in results.items():
        if is_challenger(explainer, of_both):
            name = explainer.removeprefix(PREFIX)
            found[name] = paired(as_logged(of_both), names=("model", name))
    return found
