"""By how much a model has changed, against how much it usually does.

At every check the model is asked again about a few stored observations, from all the time since it
changed last. A frozen model gives the answers that it gave: every difference is news. A model that
learns never stands still: a tree splits, an alternate tree takes over, a forest replaces a member.
News is what exceeds its usual wandering, for long enough:

    ratio   how large the mean difference of the centred curves is, against the tolerance or 1.8
            times what is usual, whichever is more; the same for the differences of single
            observations, which an interaction changes while their mean stays
    usual   follows what was measured 512 observations ago, quickly upwards and slowly downwards,
            like a running maximum
    score   the sum of (ratio - 1) over the observations; it falls quickly where the ratio is below
            1. A change of three times what is usual counts after 480 observations, a larger one
            sooner
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from ipdp.core import kernels, schema
from ipdp.core.jsonable import pack_floats, unpack_floats
from ipdp.core.kernels.differences import FEWEST, LARGEST_ANSWER
from ipdp.core.kernels.news import HIDDEN, UNUSUAL
from ipdp.core.typing import Array, FloatArray, State
from ipdp.monitor.model.asked import RECENT, Asked

# What is measured: over the last so many checks, for what is large and for what is small. Trees of
# a forest answer very differently about single observations: a small change needs many of them.
WINDOWS = 2, 8, 24
# What a short while ago was, and whether the model moves at all, is seen in so many.
_LATELY = 8
# What follows on a change is seen in so many.
_FOLLOWED = 3
# When it is looked at closer, this share of what is usual must be found again.
_FOUND_AGAIN = 0.7
# There a model that learns must have changed by more than the tolerance: trees that split and
# weights that follow the noise move curves by up to 0.2 standard deviations where nothing drifts,
# and the answers about single observations by more than half of one.
_LEARNS, _HIDDEN_LEARNS = 2.0, 3.0
# What is usual follows what is measured in so many observations upwards, so many downwards, and
# quicker while the stream is young: models learn most at the beginning.
_UP, _DOWN, _YOUNG = 512.0, 15_000.0, 3.0
# It does so this many checks later: else a change becomes usual before it has lasted long enough.
_LATER = 16
# A change goes on while a short while makes this share of it.
_SETTLED = 0.1
# A model that stood still has no usual changes; none become so for so many observations.
_FROZEN = 4096
# The score that makes a candidate.
_ENOUGH = 320.0
# The mean and mean square of the outputs are those of about so many checks.
_MOMENTS = 64
# What is measured at a check: over how many of the newest checks, 0 of all but the young ones and 1
# of those of a short while ago, which comes last.
_MEASURED = (*((n_checks, 0) for n_checks in WINDOWS), (_FOLLOWED, 0), (_LATELY, 1))
_FOLLOWS = len(WINDOWS)


class Weighed(NamedTuple):
    """For each feature: the largest ratio, of which output, and of which sort."""

    ratio: FloatArray
    output: Array
    is_hidden: Array  # whether it is that of single observations and not that of their mean
    size: FloatArray  # the difference, in standard deviations of the output
    is_sudden: Array  # whether nothing like it is usual, as of a model that was frozen


class Surprise:
    """Which features' effects have changed more than they usually do.

    Arrays are of shape (n_features, n_outputs, ...). `tolerance` is a share of the standard
    deviation of the output, `clock` the number of observations between checks.
    """

    def __init__(self, n_features: int, n_outputs: int, *, tolerance: float, clock: int) -> None:
        self.tolerance = tolerance
        self.clock = clock
        self.moments: FloatArray = np.zeros((2, n_features, n_outputs))
        # Standard deviation of the outputs over observations and knots.
        self.output_std: FloatArray = np.full((n_features, n_outputs), 1e-300)
        self.usual: FloatArray = np.zeros((2, len(WINDOWS), n_features, n_outputs))
        self.n_usual: Array = np.zeros(n_features, dtype=np.intp)
        self.score: FloatArray = np.zeros(n_features)
        self.n_checks = 0
        # For how many checks the model has been changing since it stood still.
        self.n_moving = _FROZEN
        self.window: deque[Asked] = deque(maxlen=max(WINDOWS))
        self.weights: FloatArray = np.zeros((n_features, 0))
        # Whether the model has given another answer lately, and at which of these checks.
        self.is_moving = False
        self._moves: deque[bool] = deque(maxlen=max(WINDOWS))
        # Sums over what was asked at each of them, in turn, so that each window only adds up a few,
        self._newest, size = -1, max(WINDOWS)
        self._kept_n: FloatArray = np.zeros((size, 2, n_features))
        self._kept: FloatArray = np.zeros((size, 2, 2, n_outputs, n_features, 0))
        # and for each place those that come before it, the newest first.
        self._places = (np.arange(size)[:, None] - np.arange(size)) % size
        # What was measured at the newest check: number of rows, and sizes.
        self._n: FloatArray = np.zeros((len(_MEASURED), n_features))
        self._sizes: FloatArray = np.zeros((3, len(_MEASURED), n_features, n_outputs))
        # What will become usual: sizes, and of which features.
        self._later: deque[tuple[FloatArray, Array]] = deque()

    def add(self, asked: Asked, then: FloatArray, weights: FloatArray) -> None:
        """Take what was asked at a check.

        `then` are the earlier answers at the knots, of the shape of the differences; `weights`, of
        shape (n_features, width), say how much each knot counts, together 1 for each feature.
        """
        if asked.difference.shape[3] != self._kept.shape[5]:
            self._clear(asked.difference.shape[3])  # there are more knots, or fewer
        counts = self._take(asked)
        self.weights = weights
        if counts:
            self.n_checks += 1
            self._fold(asked, then, max(1 / self.n_checks, 1 / _MOMENTS))

    def _fold(self, asked: Asked, then: FloatArray, share: float) -> None:
        """Let the moments of the outputs follow a check."""
        parts = then, asked.counts.view(np.uint8), self.weights, share
        kernels.differences_kernel().fold_outputs(*parts, self.moments, self.output_std)

    def _clear(self, width: int) -> None:
        """Begin with no checks, and at most so many knots of a feature."""
        self.window.clear()
        self._moves.clear()
        self.is_moving = False
        self._kept = np.zeros((*self._kept.shape[:5], width))

    def _take(self, asked: Asked) -> bool:
        """Add up what was asked at a check, the newest of the window; whether anything counts."""
        self.window.append(asked)
        self._newest = (self._newest + 1) % len(self._kept)
        flags = asked.counts.view(np.uint8), asked.ages, asked.is_young.view(np.uint8)
        sums = self._kept_n[self._newest], self._kept[self._newest]
        kernel = kernels.differences_kernel()
        moves, counts = kernel.sum_up(asked.difference, *flags, RECENT, *sums)
        self._moves.append(moves)
        self.is_moving = True in list(self._moves)[-_LATELY:]
        return bool(counts)

    def forget(self, row: int) -> None:
        """What was asked about a feature counts no more."""
        for asked in self.window:
            asked.counts[:, row] = False
        self._kept_n[:, :, row] = self._kept[:, :, :, :, row] = self._n[:, row] = 0.0
        self.score[row] = 0.0

    def weigh(self, is_going_on: Array, n: int) -> Weighed:
        """Compare what is measured with what is usual, then let it become so.

        What is usual of a feature stays as it is while a change of it goes on. `n` is the number
        of the observation.
        """
        self._measure()
        kernel, going_on = kernels.news_kernel(), is_going_on.view(np.uint8)
        found = np.empty((2, len(self.score))), np.empty((3, len(self.score)), dtype=np.intp)
        kernel.weigh(self._sizes, self.usual, self.output_std, self.tolerance, found)
        (ratio, size), (output, is_hidden, is_sudden) = found
        if len(self.window) >= _LATELY:
            self.n_moving = self.n_moving + 1 if self.is_moving else 0
        if self.n_moving * self.clock >= _FROZEN:
            most, known = np.empty(self.usual.shape), np.empty(len(self.score), dtype=np.uint8)
            kernel.becoming(self._sizes, self._n, going_on, most, known)
            self._later.append((most, known))
            if len(self._later) > _LATER:
                down = min(_DOWN, max(n / _YOUNG, float(self.clock)))
                rates = self.clock / _UP, self.clock / down
                kernel.learn(self.usual, self.n_usual, *self._later.popleft(), going_on, *rates)
        kernel.add_up(ratio, going_on, self.clock, self.score)
        return Weighed(ratio, output, is_hidden, size, is_sudden)

    def _measure(self) -> None:
        """Measure over each of the windows, and over what was asked of a short while ago."""
        sums = np.empty((len(_MEASURED), *self._kept.shape[2:]))
        places = self._places[self._newest, : len(self.window)]
        kernel = kernels.differences_kernel()
        kernel.add_windows(self._kept_n, self._kept, places, _MEASURED, self._n, sums)
        if self.is_moving:
            kernel.measure(self._n, sums, self.weights, self.output_std, self._sizes)
        else:
            self._sizes[:] = 0.0

    def is_candidate(self, weighed: Weighed) -> Array:
        """Which features have changed more than usual, for long enough."""
        return (weighed.ratio >= 1) & ((weighed.is_sudden > 0) | (self.score >= _ENOUGH))

    def _is_frozen(self, usual: FloatArray) -> Array:
        """Where changes that are usual are too small to count: the model stood still."""
        return np.asarray(UNUSUAL * usual < self.tolerance / 4)

    def least(self, row: int, output: int) -> tuple[float, float]:
        """What must be found at a closer look: of the mean difference, and of single ones.

        In standard deviations of the output.
        """
        usual = self.usual[:, :, row, output]
        tolerance, hidden = self.tolerance, HIDDEN
        if not self._is_frozen(usual).all():
            tolerance, hidden = _LEARNS * tolerance, _HIDDEN_LEARNS
        mean, single = np.maximum(tolerance, _FOUND_AGAIN * usual[:, 0]).tolist()
        return mean, hidden * single

    def size(self, row: int, output: int) -> float:
        """The mean difference of one effect at the last checks; NaN of too few observations."""
        is_known = self._n[_FOLLOWS, row] >= FEWEST
        return float(self._sizes[0, _FOLLOWS, row, output]) if is_known else np.nan

    def has_settled(self, row: int, output: int, since: int) -> bool:
        """Whether the model agrees with itself of a short while ago, and so many observations."""
        n, sums = np.zeros((2, 1)), np.zeros((2, 2, 1, 1, self.weights.shape[1]))
        for asked in list(self.window)[-(_LATELY // 2) :]:
            young = asked.ages[:, row] <= min(RECENT, since - 1)
            for k, picked in enumerate((young, ~asked.is_young)):
                own = asked.difference[asked.counts[:, row] & picked, output, row]
                own = np.clip(own, -LARGEST_ANSWER, LARGEST_ANSWER)
                n[k] += len(own)
                sums[k, :, 0, 0] += own.sum(axis=0), (own * own).sum(axis=0)
        if n[0] < FEWEST:
            return False  # that is not known yet
        if not self.is_moving:
            return True
        sizes, one = np.empty((3, 2, 1, 1)), slice(row, row + 1)
        std = self.output_std[one, output : output + 1]
        kernels.differences_kernel().measure(n, sums, self.weights[one], std, sizes)
        lately, size = sizes[0].ravel().tolist()
        usual = UNUSUAL * float(self.usual[0, 0, row, output])
        return bool(lately <= max(usual, _SETTLED * size))

    @property
    def state(self) -> State:
        """Everything it remembers, JSON-safe."""
        return {
            "moments": pack_floats(self.moments),
            "usual": pack_floats(self.usual),
            "n_usual": self.n_usual.tolist(),
            "score": self.score.tolist(),
            "n_checks": self.n_checks,
            "n_moving": self.n_moving,
            "weights": pack_floats(self.weights),
            "later": [
                [pack_floats(sizes), known.astype(bool).tolist()] for sizes, known in self._later
            ],
            "window": [
                [
                    asked.ages.tolist(),
                    asked.is_young.tolist(),
                    asked.counts.tolist(),
                    pack_floats(asked.difference),
                ]
                for asked in self.window
            ],
        }

    @state.setter
    def state(self, state: State) -> None:
        schema.check(state, n_checks=schema.count, n_moving=schema.count)
        n = len(self.score)
        moments, usual = unpack_floats(state["moments"]), unpack_floats(state["usual"])
        weights = unpack_floats(state["weights"])
        schema.must_fit("moments", moments, self.moments.shape)
        schema.must_fit("usual", usual, self.usual.shape)
        schema.must_fit("weights", weights, (n, *weights.shape[1:2]))
        self.moments, self.usual, self.weights = moments, usual, weights
        self.n_usual = schema.array(state, "n_usual", (n,), "i").astype(np.intp)
        self.score = schema.array(state, "score", (n,))
        self.n_checks, self.n_moving = state["n_checks"], state["n_moving"]
        self._later = deque()
        for packed, known in state["later"]:
            sizes = unpack_floats(packed)
            schema.must_fit("later", sizes, self.usual.shape)
            flags = schema.array({"known": known}, "known", (n,), "b")
            self._later.append((sizes, flags.astype(np.uint8)))
        self._clear(self.weights.shape[1])
        for ages, is_young, counts, difference in state["window"]:
            shape = len(ages), self.moments.shape[1]
            flags = (
                np.array(is_young, dtype=bool),
                np.array(counts, dtype=bool).reshape(shape),
            )
            own = np.array(ages, dtype=np.intp).reshape(shape)
            asked = unpack_floats(difference)
            n_rows, n_features = shape
            wanted = n_rows, self.moments.shape[2], n_features, self.weights.shape[1]
            schema.must_fit("difference", asked, wanted, finite=False)
            schema.must_fit("is_young", flags[0], shape[:1])
            self._take(Asked(own, *flags, asked))
        none = Asked(*(np.empty((0, n), dtype=kind) for kind in (np.intp, bool, bool, float)))
        self._fold(none, np.empty((0, *self._kept.shape[3:])), 0.0)
