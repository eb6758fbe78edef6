"""The engine of batch-trained trees: one walk where it can, the library's own answers else."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from ipdp.core.output_names import PREDICTION
from ipdp.core.typing import FeatureName, FloatArray, Observation
from ipdp.models.base import Engine, Outputs, Probe, warn_of_slow_path
from ipdp.models.batched import BatchedEngine
from ipdp.models.columns import ice_beside_idle
from ipdp.models.forests import kernels
from ipdp.models.forests.axes import NotWalked, Request
from ipdp.models.forests.checking import Asked, Checker
from ipdp.models.forests.flat import Flat, NotRead
from ipdp.models.forests.readers import Reader, reader_of

# From so many rows on that have the same points, their leaves are found by masks.
_ALIKE = 8
# So many walks of one tree are worth another thread.
_WORK = 20_000


def with_walk(plain: BatchedEngine, response: str = "predict") -> Engine:
    """The engine that walks the model's trees, if it has some that are known; else the same."""
    reader = reader_of(plain.model)
    return plain if reader is None else ForestEngine(plain, reader, response)


class ForestEngine(Engine):
    """Trees of scikit-learn, LightGBM, XGBoost or CatBoost.

    Its trees are read once, and again when the model has learned. One walk of each tree serves all
    points of all features of an observation. The answers at some points are compared with those of
    the library, more often at first. After a difference that remains when the trees are read
    again the library is asked about everything, as it is in the pure build and about models
    with something that is not known.

    Parameters
    ----------
    plain
        The engine that asks the library.
    reader
        How the trees are read.
    response
        Which answer of the model is explained.
    """

    def __init__(self, plain: BatchedEngine, reader: Reader, response: str) -> None:
        self.model = plain.model
        self.ordered = plain.ordered
        self.plain = plain
        self.reader = reader
        self.response = response
        self.checker = Checker(plain)
        self.fault: str | None = None
        self._forest: Flat | None = None
        self._signature: Any = None
        self._why = "it has not learned"
        self._request: Request | None = None

    @property
    def description(self) -> str:
        if self.fault is not None:
            return f"{self.plain.description} ({self.fault})"
        if kernels.current is None:
            return self.plain.description
        if self._trees() is None:
            return f"{self.plain.description} ({self._why})"
        start = self.plain.description.rpartition(", ")[0]
        return f"{start}, one walk of its trees for all points (compiled)"

    @property
    def by_column(self) -> bool:  # type: ignore[override]
        return kernels.current is not None and self.fault is None

    @property
    def feature_names(self) -> tuple[FeatureName, ...] | None:
        return self.plain.feature_names

    def remember(self, X: Any) -> None:
        self.plain.remember(X)
        self.schema = self.plain.schema

    def orders(self, x: Observation) -> Mapping[FeatureName, Sequence[Any]]:
        return self.plain.orders(x)

    def check_columns(self, columns: Sequence[FeatureName]) -> None:
        self.plain.check_columns(columns)

    def predict(self, observations: Sequence[Observation]) -> Outputs:
        return self.plain.predict(observations)

    def ice(
        self, observations: Sequence[Observation], probes: Sequence[Probe], positions: FloatArray
    ) -> Outputs:
        return self._ice(observations, probes, positions, check=True)

    def ice_again(
        self, observations: Sequence[Observation], probes: Sequence[Probe], positions: FloatArray
    ) -> Outputs:
        return self._ice(observations, probes, positions, check=False)

    def _ice(
        self,
        observations: Sequence[Observation],
        probes: Sequence[Probe],
        positions: FloatArray,
        *,
        check: bool,
    ) -> Outputs:
        columns = self.plain._columns_of(observations[0])
        idle = self.plain.idle(probes, observations[0], columns)
        if any(idle):
            ask, plain = partial(self._ice, check=check), self.predict(observations)
            each = list(zip(probes, idle, strict=True))
            return ice_beside_idle(ask, plain, observations, each, positions)
        for _ in range(2):
            forest = self._trees()
            if forest is None:
                break
            try:
                request = self._asked(probes, columns, forest)
                answer = self._walked(request, observations, positions, check=check)
            except NotWalked:
                break
            except Exception as error:
                # If the library raises as well, it is the observation.
                outputs = self.plain.ice(observations, probes, positions)
                self._give_up(f"{type(error).__name__}: {error}")
                return outputs
            if answer is not None:
                return answer
            self._signature = None  # a change that was not seen: the trees are read again
        else:
            self._give_up("its answers differ from those of the library")
        return self.plain.ice(observations, probes, positions)

    def _trees(self) -> Flat | None:
        """The trees of the model as it is now; None if they cannot be walked."""
        if self.fault is not None or kernels.current is None:
            return None
        try:
            signature = self.reader.signature(self.model)
            if self._signature is None or signature != self._signature:
                self._forest = self._request = None
                self._signature = signature
                self._forest = self.reader.read(self.model, self.response)
                self.checker.begin()
        except NotRead as error:
            self._why = f"its trees are not walked: {error}"
        except Exception as error:  # not fitted, or a version with other names
            self._why = f"its trees cannot be read: {type(error).__name__}"
            self._forest = None
        return self._forest

    def _walked(
        self,
        request: Request,
        observations: Sequence[Observation],
        positions: FloatArray,
        *,
        check: bool,
    ) -> Outputs | None:
        """The answer of the walk; None if it is not that of the library."""
        forest = request.forest
        X, points = request.rows(observations), request.points(positions)
        values = forest.link(_sums(forest, request, X, points, positions.shape[2]))
        labels = self.plain._labels() or (PREDICTION if values.shape[1] == 1 else None)
        if check:
            asked = Asked(observations, request.probes, positions, X, points)
            if not self.checker.agrees(asked, values, forest.tolerance):
                return None
        return Outputs(labels, values)

    def _asked(
        self, probes: Sequence[Probe], columns: tuple[FeatureName, ...], forest: Flat
    ) -> Request:
        """The probes as the walk is asked about them; made again only if they are others."""
        request = self._request
        # A list might have been changed since.
        if request is None or request.probes is not probes or not isinstance(probes, tuple):
            request = None
        if request is None or request.columns != columns or request.forest is not forest:
            request = self._request = Request(probes, columns, forest)
        return request

    def _give_up(self, why: str) -> None:
        self.fault = f"the walk of its trees was given up: {why}"
        warn_of_slow_path(
            f"{type(self.model).__name__} is asked about every point from now on, which is "
            f"slower: {self.fault}"
        )


def _sums(
    forest: Flat, request: Request, X: FloatArray, points: FloatArray, n_points: int
) -> FloatArray:
    """The sum of all trees at all points, of shape (n_rows, n_outputs, n_points)."""
    axes, n = request.axes, len(X)
    assert axes is not None
    base = np.repeat(forest.base[None], n, axis=0)
    single = np.zeros((n, forest.n_outputs, points.shape[1]))
    pair = np.zeros((n, forest.n_outputs, axes.n_cells))
    n_threads = min(_n_cores(), 1 + n * len(forest.roots) // _WORK, n)
    ends = [n * k // n_threads for k in range(n_threads + 1)]

    splits = forest.splits if n >= _ALIKE and not axes.n_cells else None

    def run(first: int, last: int) -> None:
        walk = kernels.current.Walk(forest, axes, X, points, base, single, pair)
        if splits is None:
            walk.run(first, last)
            return
        masks = kernels.current.Masks(forest, splits, axes, X, points, base, single)
        for start, stop, are_alike in _runs(points, first, last):
            (masks if are_alike else walk).run(start, stop)

    if n_threads == 1:
        run(0, n)
    else:
        with ThreadPoolExecutor(n_threads) as pool:
            list(pool.map(run, ends[:-1], ends[1:]))
    answer = request.assembled(single, pair, n_points)
    answer += base[:, :, None]
    return answer


def _runs(points: FloatArray, first: int, last: int) -> list[tuple[int, int, bool]]:
    """Neighbouring rows, and whether they are many that have the same points."""
    own = points[first:last]
    same = (own[1:] == own[:-1]).all(axis=1)
    runs: list[tuple[int, int, bool]] = []
    for start, stop in pairwise([first, *(first + 1 + np.flatnonzero(~same)).tolist(), last]):
        are_alike = stop - start >= _ALIKE
        go_on = runs and not are_alike and not runs[-1][2]
        runs.append((runs.pop()[0] if go_on else start, stop, are_alike))
    return runs


def _n_cores() -> int:
    """How many threads to use: OMP_NUM_THREADS, which the libraries obey too, or all cores."""
    given = os.environ.get("OMP_NUM_THREADS", "")
    if given.isdecimal() and len(given) < 10 and int(given):
        return int(given)
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1
