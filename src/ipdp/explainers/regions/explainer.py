"""Curves where they hold: incremental regional effects (after Herbinger et al. 2022, 2024)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ipdp.core.curve import Curve
from ipdp.core.decay import Default
from ipdp.core.errors import NotEnoughSamples
from ipdp.core.explained import Explained
from ipdp.core.importance import Result
from ipdp.core.link import Link
from ipdp.core.typing import Feature, FeatureName, Observation
from ipdp.explainers.pdp import IncrementalPDP
from ipdp.explainers.regions.memory import RegionsMemory
from ipdp.explainers.regions.snapshot import RegionsSnapshot
from ipdp.explainers.regions.split import Split
from ipdp.explainers.state.targets import followed, make_targets
from ipdp.explainers.turns import in_turn
from ipdp.grid import Grid


class IncrementalRegions(IncrementalPDP):
    """Partial dependence curves, and where the effect differs, one for each region.

    A partial dependence curve is a mean of ICE curves. Where these disagree, the split of another
    feature is looked for that explains most of it: "hour, where workingday = yes". It is
    reported as soon as there are enough observations to be sure of it, and no longer than it helps.
    The model is asked nothing more than for the curves: this is an `ipdp.IncrementalPDP` that can
    do more, and takes its place.

    Parameters
    ----------
    model
        Anything that `ipdp.models.engine` takes. It is called as it is at that time, so it may
        learn in between: explain first, then learn.
    features
        Names of features; None takes every feature of the first observation. The effect of each is
        split by the others of them. Pairs may be among them, but are not split.
    alpha, half_life, span
        How fast the past is forgotten, as for `ipdp.IncrementalPDP`.
    grid, every, n_ice, n_past, seed, link
        As for `ipdp.IncrementalPDP`.

    Notes
    -----
    *Splits.* Numbers are split at one of about thirty quantiles, categories into two groups. A
    missing value is on the side that it is more alike. The gain of a split is the share of the
    variance of the centred ICE curves that is between both sides; it is reported if the gain,
    less a Hoeffding bound for as many independent observations as there are, is at least a tenth,
    and if what it explains matters against what the features do at all.

    *Memory* does not grow with the stream, but with the square of the number of features.

    Examples
    --------
    >>> import random, ipdp
    >>> def model(x):
    ...     return x["hour"] / 10 if x["workingday"] else 1 - x["hour"] / 20
    >>> regions = ipdp.IncrementalRegions(model)
    >>> draws = random.Random(1)
    >>> for _ in range(500):
    ...     regions.explain_one({"hour": draws.randrange(24), "workingday": draws.random() < 0.7})
    >>> [curve.feature for curve in regions.splits["hour"].curves]
    ['hour, where workingday = False', 'hour, where workingday = True']
    """

    name = "regions"
    title = "partial dependence by region"

    def __init__(
        self,
        model: Any,
        features: Any = None,
        *,
        alpha: float | Default | None = Default.ALPHA,
        half_life: float | None = None,
        span: float | None = None,
        grid: Grid | Mapping[FeatureName, Grid] | None = None,
        every: int = 1,
        n_ice: int = 20,
        n_past: int = 288,
        seed: int | None = None,
        link: Link | None = None,
    ) -> None:
        super().__init__(
            model,
            features,
            alpha=alpha,
            half_life=half_life,
            span=span,
            grid=grid,
            every=every,
            n_ice=n_ice,
            n_past=n_past,
            seed=seed,
            link=link,
        )

    def _begin(self, x: Observation) -> RegionsMemory:
        targets = make_targets(
            followed(x, self.features, self.engine),
            self.grid,
            regrid=True,
            seed=self.seed,
            orders=self.engine.orders(x),
            wary=self.features is None,
        )
        return RegionsMemory(
            targets, tuple(x), alpha=self.alpha, n_ice=self.n_ice, n_past=self.n_past
        )

    @property
    def settings(self) -> dict[str, Any]:
        known = super().settings
        return {name: value for name, value in known.items() if name != "estimator"}

    @property
    def _shown(self) -> dict[str, Any]:
        return {"alpha": self.alpha}

    # Reading.

    @property
    @in_turn
    def splits(self) -> dict[Feature, Split]:
        """The splits that there are now, by the feature whose effect they explain."""
        snapshot = self._regions()
        return {} if snapshot is None else snapshot.splits

    @property
    @in_turn
    def explained(self) -> Explained:
        """How much the curves tell of the model, each where it holds."""
        snapshot = self._regions()
        found = None if snapshot is None else Explained.of(_of_all(snapshot))
        if found is None:
            raise NotEnoughSamples("too few observations to say how much the curves tell")
        return found

    @in_turn
    def results(self) -> dict[Feature, Result]:
        """The curve of each feature and, for one that is split, those of both sides."""
        snapshot = self._regions()
        if snapshot is None:
            return {}
        found: dict[Feature, Result] = {curve.feature: curve for curve in _of_all(snapshot)}
        for split in snapshot.splits.values():
            found |= {curve.feature: curve for curve in split.curves}
        return found

    def _read(self) -> None:
        self.results()

    def _regions(self) -> RegionsSnapshot | None:
        if self._memory is None:
            return None
        found = RegionsSnapshot(self._memory, self.engine if self.n_past else None)
        found.show(self.on_scale)
        return found


def _of_all(snapshot: RegionsSnapshot) -> list[Curve]:
    """The curves of all observations, which say how much is explained with the splits."""
    if snapshot.explained is None:
        return list(snapshot.curves.values())
    return [replace(c, explained=snapshot.explained) for c in snapshot.curves.values()]
