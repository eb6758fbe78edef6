"""The explainers of a run, by name."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from ipdp.core.importance import Result
from ipdp.core.jsonable import readable
from ipdp.core.typing import Feature
from ipdp.explainers.base import Explainer, canonical
from ipdp.runs.metrics import numbered

ByName = Mapping[str, Explainer]
Results = dict[str, dict[Feature, Result]]
"""By the name of the explainer, then by feature."""


def by_name(given: Any, *, pdp: Any = None, pfi: Any = None) -> dict[str, Explainer]:
    """An explainer, several, or a dict of them, by their names, in their order.

    By default an explainer has the name of its kind, with a number if that is taken. `pdp` and
    `pfi` are what was given before there could be any; they go with the next release.
    """
    old = [explainer for explainer in (pdp, pfi) if explainer is not None]
    if old:
        warnings.warn(
            "pdp= and pfi= go with the next release: give explainers=[pdp, pfi]",
            DeprecationWarning,
            stacklevel=3,
        )
        given = [given, *old] if given is not None else old
    named = numbered(given, lambda explainer: getattr(explainer, "name", "?"))
    if not named:
        raise TypeError("a run needs an explainer, such as ipdp.IncrementalPDP")
    for explainer in named.values():
        if not isinstance(explainer, Explainer):
            raise TypeError(f"an explainer must be an ipdp.Explainer, got {explainer!r:.60}")
    return named


def results_of(explainers: ByName) -> Results:
    """What each of them has to tell by now."""
    return {name: explainer.results() for name, explainer in explainers.items()}


def described(explainers: ByName) -> dict[str, dict[str, Any]]:
    """The settings of each of them, JSON-safe."""
    return {
        name: {
            "kind": type(explainer).__name__,
            "title": getattr(explainer, "title", name),
            "seed": explainer.seed,
            **{setting: _plain(value) for setting, value in explainer.settings.items()},
        }
        for name, explainer in explainers.items()
    }


def _plain(setting: Any) -> Any:
    # The keys of a dict, such as of grids by feature, may be what JSON has no keys for.
    return canonical(setting) if isinstance(setting, Mapping) else readable(setting)
