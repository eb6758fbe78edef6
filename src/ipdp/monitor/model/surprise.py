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

from ipdp.core import schema
from ipdp.core.jsonable import pack_floats, unpack_floats
from ipdp.core.typing import Array, FloatArray, State
from ipdp.monitor.model.asked import RECENT, Asked, Joined, Summed, bounded

# What is measured: over the last so many checks, for what is large and for what is small. Trees of
# a forest answer very differently about single observations: a small change needs many of them.
WINDOWS = 2, 8, 24
# What a short while ago was, and whether the model moves at all, is seen in so many.
_LATELY = 8
# What follows on a change is seen in so many.
_FOLLOWED = 3
# With fewer observations nothing is measured.
_FEWEST = 4
# A change is this many times what is usual,
_UNUSUAL = 1.8
# the mean difference is so many standard errors from zero (before it is looked at closer, less is
# enough if it is larger by as much),
CLEAR = 4.0
# and differences of single observations must be larger by this factor, as they are not averaged.
_HIDDEN = 2.0
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
# A model that wanders differs from itself of a short while ago by a good part of what it differs
# from itself of long ago; no more than so many times the former becomes usual.
_WANDERING = 3.0
# A change goes on while a short while makes this share of it.
_SETTLED = 0.1
# A model that stood still has no usual changes; none become so for so many observations.
_FROZEN = 4096
# What is so many times what is usual need not last.
_SUDDEN = 8.0
# The score that makes a candidate; the largest ratio that counts; how quickly the score falls.
_ENOUGH, _LARGEST, _FALL = 320.0, 12.0, 4.0
# Ratios are about the same from this share on.
_ABOUT = 0.8
# The mean and mean square of the outputs are those of about so many checks.
_MOMENTS = 64
# The most that a size is, in standard deviations: of outputs without any it would be infinite.
_MOST_STD = 1e100


class Sizes(NamedTuple):
    """How large differences are, in standard deviations of the output; 0 of too few observations.

    Each of shape (k, n_features, n_outputs).
    """

    mean: FloatArray  # of the mean difference
    single: FloatArray  # of the differences of single observations
    errors: FloatArray  # the largest mean difference in standard errors
    n: FloatArray  # number of observations, (k, n_features)


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
        self.usual: FloatArray = np.zeros((2, len(WINDOWS), n_features, n_outputs))
        self.n_usual: Array = np.zeros(n_features, dtype=int)
        self.score: FloatArray = np.zeros(n_features)
        self.n_checks = 0
        # For how many checks the model has been changing since it stood still.
        self.n_moving = _FROZEN
        self.window: deque[Asked] = deque(maxlen=max(WINDOWS))
        self.weights: FloatArray = np.zeros((n_features, 0))
        self._sums: deque[Summed] = deque(maxlen=max(WINDOWS))
        self._joined: Joined | None = None
        self._std: FloatArray | None = None
        # What will become usual: sizes, and of which features.
        self._later: deque[tuple[FloatArray, Array]] = deque()

    def add(self, asked: Asked, then: FloatArray, weights: FloatArray) -> None:
        """Take what was asked at a check.

        `then` are the earlier answers at the knots, of the shape of the differences; `weights`, of
        shape (n_features, width), say how much each knot counts, together 1 for each feature.
        """
        if self.window and self.window[-1].difference.shape[3] != asked.difference.shape[3]:
            self.window.clear()  # there are more knots, or fewer
            self._sums.clear()
        self.window.append(asked)
        self._sums.append(Summed.of(asked))
        self._joined = None
        self.weights = weights
        rows = asked.counts.sum(axis=0)
        if not rows.any():
            return
        self.n_checks += 1
        each = asked.counts[:, :, None] * weights / np.maximum(rows, 1)[:, None]
        mean = then * each[:, None]
        now = np.array([mean.sum(axis=(0, 3)).T, (mean * then).sum(axis=(0, 3)).T])
        share = np.where(rows[:, None] > 0, max(1 / self.n_checks, 1 / _MOMENTS), 0.0)
        self.moments += share * (now - self.moments)
        self._std = None

    def forget(self, row: int) -> None:
        """What was asked about a feature counts no more."""
        for asked, summed in zip(self.window, self._sums, strict=True):
            asked.counts[:, row] = False
            summed.n[:, row] = summed.moments[:, :, :, row] = 0.0
        self._joined = None
        self.score[row] = 0.0

    @property
    def output_std(self) -> FloatArray:
        """Standard deviation of the outputs over observations and knots."""
        if self._std is None:
            mean, square = self.moments
            std = np.sqrt(np.maximum(square - mean**2, 0.0))
            self._std = np.asarray(std + 1e-12 * np.sqrt(square) + 1e-300)
        return self._std

    @property
    def is_moving(self) -> bool:
        """Whether the model has given another answer lately."""
        return any(summed.moves for summed in list(self._sums)[-_LATELY:])

    @property
    def _all(self) -> Joined:
        """What was asked at all checks of the window, joined once a check."""
        if self._joined is None:
            last = list(self.window)
            sizes = [len(asked.ages) for asked in last]
            self._joined = Joined(
                np.repeat(np.arange(len(last))[::-1], sizes),
                *(np.concatenate(parts) for parts in zip(*last, strict=True)),
            )
        return self._joined

    def _counting(self, n_checks: int, oldest: int | None = None) -> Array:
        """Which of the rows asked about at the last checks count for which feature.

        With `oldest` those of up to so many observations ago, else all but the young ones.
        """
        every = self._all
        picked = ~every.is_young[:, None] if oldest is None else every.ages <= oldest
        return np.asarray(every.counts & picked & (every.checks_ago < n_checks)[:, None])

    def measure(self, counts: FloatArray) -> Sizes:
        """Sizes over the rows that count, of shape (k, n_rows, n_features), k times."""
        difference = bounded(self._all.difference)
        moments = np.stack([difference, difference**2])
        return self._sizes(counts.sum(axis=1), np.einsum("snofw,knf->ksofw", moments, counts))

    def _sizes(self, n: FloatArray, sums: FloatArray) -> Sizes:
        """Sizes by the number of rows (k, n_features) and `Summed.moments`, k times."""
        if not self.is_moving:
            zeros = np.zeros((len(n), *self.moments.shape[1:]))
            return Sizes(zeros, zeros, zeros, n)
        several = np.maximum(n, 2)[:, None, :, None]
        mean, square = sums[:, 0] / several, sums[:, 1] / several
        squared = mean * mean
        # Of the mean, whose square is too large by it.
        error = np.maximum(square - squared, 0.0) / (several - 1)
        std = self.output_std
        distance = np.abs(mean)
        # Outputs may all have been 0 until now.
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            errors = distance / np.sqrt(error)
            errors = np.where(distance > 1e-12 * std.T[:, :, None], errors, 0.0)
            # (2, k, n_features, n_outputs), over the knots
            squares = (np.array([squared - error, square]) * self.weights).sum(axis=4)
            sizes = np.sqrt(np.maximum(squares.swapaxes(2, 3), 0.0)) / std
        fine = (n >= _FEWEST)[:, :, None]
        sizes = np.where(fine, np.minimum(sizes, _MOST_STD), 0.0)
        clear = np.where(fine, errors.max(axis=3).swapaxes(1, 2), 0.0)
        return Sizes(sizes[0], sizes[1], clear, n)

    def weigh(self, is_going_on: Array, n: int) -> Weighed:
        """Compare what is measured with what is usual, then let it become so.

        What is usual of a feature stays as it is while a change of it goes on. `n` is the number
        of the observation.
        """
        measured = self._measured()
        sizes = np.stack([measured.mean[:-1], measured.single[:-1]])
        ratios = sizes / np.maximum(self.tolerance, _UNUSUAL * self.usual)
        # What is not clear counts less, not as nothing: in a forest a change stays about there.
        ratios[0] *= np.minimum(measured.errors[:-1] / CLEAR, 1.0)
        ratios[1] /= _HIDDEN
        result = self._largest(ratios, sizes)
        if len(self.window) >= _LATELY:
            self.n_moving = self.n_moving + 1 if self.is_moving else 0
        if self.n_moving * self.clock >= _FROZEN:
            most = np.minimum(sizes, self._wandering(measured))
            self._later.append((most, (measured.n[-2] >= _FEWEST) & ~is_going_on))
            if len(self._later) > _LATER:
                earlier, known = self._later.popleft()
                self._learn(earlier, known & ~is_going_on, n)
        self._add_up(result.ratio, is_going_on)
        return result

    def _measured(self) -> Sizes:
        """Sizes over each of the windows, and over what was asked of a short while ago."""
        if not self.window:
            zeros = np.zeros((len(WINDOWS) + 1, *self.moments.shape[1:]))
            return Sizes(zeros, zeros, zeros, zeros[:, :, 0])
        first = self._sums[-1]
        n, moments = np.zeros_like(first.n), np.zeros_like(first.moments)
        found = {}
        for k, summed in enumerate(reversed(self._sums), start=1):
            n, moments = n + summed.n, moments + summed.moments
            found[k] = n, moments
        of_windows = [found[min(k, len(found))] for k in (*WINDOWS, _LATELY)]
        old, recent = [0] * len(WINDOWS), [1]
        picked = list(zip(of_windows, old + recent, strict=True))
        return self._sizes(
            np.array([n[which] for (n, _), which in picked]),
            np.array([moments[which] for (_, moments), which in picked]),
        )

    def _wandering(self, measured: Sizes) -> FloatArray:
        """The most that can become usual: some times the difference to a short while ago.

        What grows with the age of the observations is a gradual change, and not wandering.
        """
        most = _WANDERING * np.stack([measured.mean[-1:], measured.single[-1:]])
        return np.where((measured.n[-1] >= _FEWEST)[:, None], most, np.inf)

    def _largest(self, ratios: FloatArray, sizes: FloatArray) -> Weighed:
        n_features, n_outputs = ratios.shape[2:]
        rows = np.arange(n_features)
        flat, usual, flat_sizes = (
            part.transpose(2, 0, 1, 3).reshape(n_features, -1)
            for part in (ratios, self.usual, sizes)
        )
        best = flat.argmax(axis=1)
        sort, window = best // (len(WINDOWS) * n_outputs), best // n_outputs % len(WINDOWS)
        ratio, size, usual = flat[rows, best], flat_sizes[rows, best], usual[rows, best]
        is_sudden = self._is_frozen(usual) | (size > _SUDDEN * usual)
        # Of outputs that changed about as much, the one whose change is the largest in its units.
        own = ratios[sort, window, rows]
        in_units = np.where(own >= _ABOUT * ratio[:, None], own * self.output_std, -1.0)
        return Weighed(ratio, in_units.argmax(axis=1), sort == 1, size, is_sudden)

    def _learn(self, sizes: FloatArray, rows: Array, n: int) -> None:
        down = min(_DOWN, max(n / _YOUNG, float(self.clock)))
        rate = np.where(sizes > self.usual, self.clock / _UP, self.clock / down)
        rate = np.minimum(np.where(self.n_usual[:, None] > 0, rate, 1.0), 1.0)
        self.usual += np.where(rows[:, None], rate * (sizes - self.usual), 0.0)
        self.n_usual += rows

    def _add_up(self, ratio: FloatArray, is_going_on: Array) -> None:
        above = np.minimum(ratio, _LARGEST) - 1
        step = np.where(above > 0, above, _FALL * above) * self.clock
        self.score = np.where(is_going_on, 0.0, np.maximum(self.score + step, 0.0))

    def is_candidate(self, weighed: Weighed) -> Array:
        """Which features have changed more than usual, for long enough."""
        return (weighed.ratio >= 1) & (weighed.is_sudden | (self.score >= _ENOUGH))

    def _is_frozen(self, usual: FloatArray) -> Array:
        """Where changes that are usual are too small to count: the model stood still."""
        return np.asarray(_UNUSUAL * usual < self.tolerance / 4)

    def least(self, row: int, output: int) -> tuple[float, float]:
        """What must be found at a closer look: of the mean difference, and of single ones.

        In standard deviations of the output.
        """
        usual = self.usual[:, :, row, output]
        tolerance, hidden = self.tolerance, _HIDDEN
        if not self._is_frozen(usual).all():
            tolerance, hidden = _LEARNS * tolerance, _HIDDEN_LEARNS
        mean, single = np.maximum(tolerance, _FOUND_AGAIN * usual[:, 0]).tolist()
        return mean, hidden * single

    def size(self, row: int, output: int) -> float:
        """The mean difference of one effect at the last checks; NaN of too few observations."""
        measured = self.measure(np.array([self._counting(_FOLLOWED)], dtype=float))
        is_known = measured.n[0, row] >= _FEWEST
        return float(measured.mean[0, row, output]) if is_known else np.nan

    def has_settled(self, row: int, output: int, since: int) -> bool:
        """Whether the model agrees with itself of a short while ago, and so many observations."""
        half = _LATELY // 2
        rows = [self._counting(half, min(RECENT, since - 1)), self._counting(half)]
        measured = self.measure(np.array(rows, dtype=float))
        if measured.n[0, row] < _FEWEST:
            return False  # that is not known yet
        young, size = measured.mean[:, row, output]
        usual = _UNUSUAL * float(self.usual[0, 0, row, output])
        return bool(young <= max(usual, _SETTLED * size))

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
            "later": [[pack_floats(sizes), known.tolist()] for sizes, known in self._later],
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
        self._std = None
        self.n_usual = schema.array(state, "n_usual", (n,), "i")
        self.score = schema.array(state, "score", (n,))
        self.n_checks, self.n_moving = state["n_checks"], state["n_moving"]
        self._later = deque()
        for packed, known in state["later"]:
            sizes = unpack_floats(packed)
            schema.must_fit("later", sizes, self.usual.shape)
            self._later.append((sizes, schema.array({"known": known}, "known", (n,), "b")))
        self.window.clear()
        self._sums.clear()
        self._joined = None
        for ages, is_young, counts, difference in state["window"]:
            shape = len(ages), self.moments.shape[1]
            flags = (
                np.array(is_young, dtype=bool),
                np.array(counts, dtype=bool).reshape(shape),
            )
            own = np.array(ages, dtype=int).reshape(shape)
            asked = unpack_floats(difference)
            n_rows, n_features = shape
            wanted = n_rows, self.moments.shape[2], n_features, self.weights.shape[1]
            schema.must_fit("difference", asked, wanted, finite=False)
            schema.must_fit("is_young", flags[0], shape[:1])
            self.window.append(Asked(own, *flags, asked))
            self._sums.append(Summed.of(self.window[-1]))
