"""The strongest pairs of a run's features, searched for once in a while."""

from __future__ import annotations

from collections.abc import Mapping

from ipdp.core.curve import Curve
from ipdp.core.errors import NotEnoughSamples
from ipdp.core.explained import Explained
from ipdp.core.importance import Result
from ipdp.core.interactions import RESULTS
from ipdp.core.typing import Feature
from ipdp.core.validation import whole_number
from ipdp.explainers import Explainer, IncrementalPDP


class PairSearch:
    """Searches at each multiple of `every` observations, with the first explainer that can.

    What it finds is among the results of a snapshot, under a name of its own. None: never.
    """

    def __init__(
        self, explainers: Mapping[str, Explainer], every: int | None, snapshot_every: int | None
    ) -> None:
        self.every = None if every is None else whole_number("interactions", every)
        self._pdp: IncrementalPDP | None = None
        if self.every is None:
            return
        can = (e for e in explainers.values() if isinstance(e, IncrementalPDP) and e.n_past)
        self._pdp = next(can, None)
        if self._pdp is None:
            raise ValueError(
                "interactions are searched for by an IncrementalPDP that keeps past observations "
                "(n_past): give one"
            )
        if snapshot_every is not None and self.every % snapshot_every:
            raise ValueError(
                f"interactions are logged with snapshots: give a multiple of snapshot_every "
                f"({snapshot_every}), got {self.every}"
            )
        if RESULTS in explainers:
            raise ValueError(f"an explainer cannot be called {RESULTS!r} beside a search for them")

    def results(
        self, n: int, results: Mapping[str, Mapping[Feature, Result]], *, at_end: bool
    ) -> dict[Feature, Result]:
        """The pairs, by name, if it is time to look for them; nothing of too few observations."""
        if self.every is None or self._pdp is None or (n % self.every and not at_end):
            return {}
        own = [r for found in results.values() for r in found.values() if isinstance(r, Curve)]
        explained = Explained.of([curve for curve in own if curve.kind == "pdp"])
        output = None if explained is None else explained.output
        try:
            return {**self._pdp.interactions(output=output).results(self._pdp.n_seen)}
        except NotEnoughSamples:
            return {}
