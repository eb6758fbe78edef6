"""How far a smoothed mean may be from the truth where observations depend on each other.

The variance of a mean is that of one value over their number only if the values are independent. It
is estimated from the means of blocks (`core/blocks.py`): autoregressions of order 0 to `_ORDERS`
are fitted to them, by Burg's recursion, corrected for its bias, and averaged by their likelihood;
each implies a variance of the smoothed mean. Blocks are long, so that what is left of the memory of
most series is short, and one or two coefficients say it all: a cycle needs two.

How well the variance is known is said in degrees of freedom, fewer where the block means have heavy
tails or a long memory. The errors of a cycle are bounded and far from normal: where the block means
oscillate, the band is as wide as the mean itself has moved in `_CYCLE` of the blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ipdp.core.blocks import Blocks
from ipdp.core.smoothing import Smoothing
from ipdp.core.student_t import student_quantile
from ipdp.core.typing import Array, FloatArray

FEWEST = 12
"""Nothing is said of a series with fewer blocks than this."""

QUANTILE = 0.975
"""That of the bands, of 95 %, for which standard error and degrees of freedom fit each other."""

# Highest order of the autoregressions, and what each coefficient costs against its likelihood.
_ORDERS, _PENALTY = 3, 2.5
# The reflection coefficients of a series that still has a mean.
_LOWEST, _HIGHEST = -0.995, 0.98
# How much of the uncertainty of a coefficient reaches the variance, and the fewest degrees.
_REACHES, _DEGREES = 1.5, 3.0
# Of how many blocks the band of a cycle is the largest distance.
_CYCLE = 0.96
_NEGLIGIBLE = 1e-300
# How much of the variance of changed blocks has to be left.
_ENOUGH = 0.5
# The median of the square of a normal variable, and how much a median of successive squares knows.
_MEDIAN_OF_SQUARE, _EFFICIENCY = 0.4549, 0.3


class BlockWeights:
    """How the blocks of each column weigh in the smoothed mean.

    Parameters
    ----------
    blocks
        Blocks that are over.
    t
        When the mean is read.
    total
        Sum of the weights of the mean, of shape (n_columns,); without it, that of the blocks.

    Attributes
    ----------
    valid
        Which blocks count, of shape (n_blocks, n_columns), and `n`, how many.
    n_effective
        How many blocks with the same weight the mean is worth.
    overlap
        How the weights of a mean agree with those one block later.
    """

    def __init__(self, blocks: Blocks, t: float, total: FloatArray | None = None) -> None:
        weight = blocks.weight
        ages = t - (blocks.numbers + 1) * blocks.size
        aged = blocks.decay ** ages[:, None]
        typical = weight.sum(axis=0) / np.maximum((weight > 0).sum(axis=0), 1)
        self.valid: Array = (weight >= typical / 2) & (weight > 0)
        self.n: FloatArray = self.valid.sum(axis=0).astype(float)
        now = weight * aged
        known = now.sum(axis=0)
        # What the block that goes on has; more than that is from before the blocks.
        rest = 0.0 if total is None else np.clip(total - known, 0.0, typical)
        # The mean of a block with little weight varies more.
        squares = typical * ((now * aged).sum(axis=0) + rest)
        self.n_effective = (known + rest) ** 2 / np.maximum(squares, _NEGLIGIBLE)
        overlap = (now[1:] * now[:-1]).sum(axis=0)
        self.overlap = overlap / np.maximum((now * now).sum(axis=0), _NEGLIGIBLE)


@dataclass(frozen=True)
class MeanErrors:
    """Errors of smoothed means at the end of the last block, of shape (n_rows, n_columns).

    Attributes
    ----------
    std_error
        Standard error: times Student's quantile for `degrees` half a band of 95 %.
    degrees
        Degrees of freedom of that estimate.
    stretches
        How many independent stretches of time the blocks are worth.
    """

    std_error: FloatArray
    degrees: FloatArray
    stretches: FloatArray


def independent_errors(smoothing: Smoothing, blocks: Blocks) -> tuple[FloatArray, FloatArray]:
    """Standard errors of smoothed means, and how many independent observations each is worth.

    Parameters
    ----------
    smoothing
        Whose means they are.
    blocks
        Its blocks.

    Returns
    -------
    Two arrays of shape (n_rows, n_columns). The error, times Student's quantile for one degree of
    freedom less than the number, is half a band of 95 %. Those of independent observations as long
    as nothing is known of their memory.
    """
    plain, n = smoothing.std_error, np.broadcast_to(smoothing.n_effective, smoothing.mean.shape)
    closed = blocks.closed(smoothing.t or 0.0)
    if len(closed.numbers) < FEWEST:
        return plain, n
    then = BlockWeights(closed, float(closed.numbers[-1] + 1) * closed.size)
    now = BlockWeights(closed, smoothing.t or 0.0, smoothing.weight)
    errors = mean_errors(closed, then, closed.mean)
    # The mean of a stream that has just begun still gets better.
    own = errors.std_error * np.sqrt(then.n_effective / np.maximum(now.n_effective, 1.0))
    known = (then.n >= FEWEST) & (plain > 0)
    inflation = np.where(known, (own / np.where(known, plain, 1.0)) ** 2, 1.0)
    independent = np.where(known, np.maximum(n / np.maximum(inflation, 1.0), _DEGREES + 1), n)
    half = own * student_quantile(QUANTILE, errors.degrees)
    error = half / student_quantile(QUANTILE, independent - 1)
    return np.where(known, error, plain), independent


class Changed(NamedTuple):
    """What blocks were whose means are others by now, because a model has changed.

    Attributes
    ----------
    before
        Their means as they were, of shape (n_blocks, n_rows, n_columns).
    spread
        The variance of one value by now against that of one then, (n_rows, n_columns).
    left
        How much of the variance of blocks is left where these were drawn to their mean, because
        little is known of how they have changed, (n_rows, n_columns).
    """

    before: FloatArray
    spread: FloatArray
    left: FloatArray


def mean_errors(
    blocks: Blocks, weights: BlockWeights, x: FloatArray, *, changed: Changed | None = None
) -> MeanErrors:
    """The errors of smoothed means.

    Parameters
    ----------
    blocks, weights
        Blocks that are over, and their weights at the end of the last one.
    x
        Their means, of shape (n_blocks, n_rows, n_columns).
    changed
        Given if what the means are of has changed meanwhile, suddenly or slowly, which is not to
        count as an error. Then `x` are the means as they would be had it always been as it is now;
        where that is not known, no more is believed of memory than successive blocks show.

    Examples
    --------
    >>> from ipdp.core.smoothing import Smoothing
    >>> smoothing, blocks = Smoothing(alpha=0.01), Blocks(alpha=0.01)
    >>> for t, value in enumerate(np.random.default_rng(1).normal(size=2_000)):
    ...     if t >= blocks.until:
    ...         blocks.advance(smoothing, t)
    ...     smoothing.update(value, t=t)
    >>> errors = mean_errors(blocks, BlockWeights(blocks, t=2_000), blocks.mean)
    >>> errors.std_error.round(3), smoothing.std_error.round(3)
    (array([[0.072]]), array([[0.066]]))
    """
    valid, n = weights.valid[:, None], np.maximum(weights.n, 1.0)
    # From the last one, so that a constant has no error at all.
    x = np.where(valid, x - x[-1:], 0.0)
    x = np.where(valid, x - x.sum(axis=0) / n, 0.0)
    fit = _Fit(x, n, weights.overlap)
    # A mean of blocks does not vary more than one of them, whatever a fit to a trend says.
    variance = np.minimum(fit.variance / np.maximum(weights.n_effective, 1.0), fit.plain)
    normal = _Normality(x, n, fit, variance)
    error = np.sqrt(variance) * normal.shrinkage
    cyclic = normal.cyclic
    if blocks.alpha is not None and (cyclic > 0).any():
        moved = _moved(blocks, x, blocks.weight * weights.valid)
        moved = moved / student_quantile(QUANTILE, normal.degrees)
        error = np.where(cyclic > 0, error ** (1 - cyclic) * moved**cyclic, error)
    errors = MeanErrors(error, normal.degrees, n / np.maximum(fit.inflation, 1.0))
    return errors if changed is None else _beyond_change(errors, weights, changed)


def _beyond_change(errors: MeanErrors, weights: BlockWeights, changed: Changed) -> MeanErrors:
    """Errors of which a change of the model is no part.

    What is not known of the blocks by the model as it is now is taken from how much each differed
    from the next one. A season is not in that.
    """
    own = of_neighbours(changed.before, weights.valid) * changed.spread
    own = np.sqrt(own / np.maximum(weights.n_effective, 1.0))
    # Blocks that were drawn to their mean by far say little of their errors, others nearly all.
    is_known = changed.left >= _ENOUGH
    whole = errors.std_error / np.sqrt(np.where(is_known, changed.left, 1.0))
    own = np.where(is_known, np.minimum(own, whole), own)
    is_more = ~is_known | (own > errors.std_error)
    # A median knows about a third of what a variance knows, and neighbours share half of it.
    degrees = np.maximum(weights.n * _EFFICIENCY, _DEGREES)
    return MeanErrors(
        np.maximum(own, errors.std_error),
        np.where(is_more, degrees, errors.degrees),
        np.where(is_more, np.maximum(weights.n, 1.0), errors.stretches),
    )


def of_neighbours(x: FloatArray, valid: Array) -> FloatArray:
    """The variance of values by the median of the squared differences of neighbours.

    It stays what it was where a level changes once, and nearly so where it changes slowly.

    Parameters
    ----------
    x
        Of shape (n, n_rows, n_columns).
    valid
        Which of them count, (n, n_columns).
    """
    both = (valid[1:] & valid[:-1])[:, None]
    squares = np.diff(x, axis=0) ** 2
    return _median(squares, both) / (2 * _MEDIAN_OF_SQUARE)


def _median(x: FloatArray, known: Array) -> FloatArray:
    """The median over the first axis of what is known; 0 where nothing is.

    What `numpy.nanmedian` says in a fifth of its time.
    """
    x = np.sort(np.where(known, x, np.inf), axis=0)
    n = known.sum(axis=0)
    middle = [np.broadcast_to(at, x[:1].shape) for at in ((n - 1).clip(min=0) // 2, n // 2)]
    pair = [np.take_along_axis(x, at.clip(max=len(x) - 1), axis=0)[0] for at in middle]
    return np.where(n > 0, (pair[0] + pair[1]) / 2, 0.0)


def _moved(blocks: Blocks, x: FloatArray, weight: FloatArray) -> FloatArray:
    """How far from its centre the smoothed mean was at most in most of the blocks."""
    ends = blocks.numbers * blocks.size
    # Of each block on, what is left of the sums until the end of the next one.
    left = blocks.decay ** np.diff(ends, prepend=ends[:1]).clip(min=0.0)
    # The weights, and the sums of each row.
    sums = np.concatenate([weight[:, None], x * weight[:, None]], axis=1)
    for k in range(1, len(left)):
        sums[k] += left[k] * sums[k - 1]
    total = sums[:, 0]
    path = np.abs(sums[:, 1:] / np.maximum(total, _NEGLIGIBLE)[:, None])
    # Before that the mean is one of few blocks.
    settled = (total >= 0.8 * total.max(axis=0)) & (weight > 0)
    path = np.sort(np.where(settled[:, None], path, np.inf), axis=0)
    at = np.clip(np.ceil(_CYCLE * settled.sum(axis=0)) - 1, 0, None).astype(int)
    return np.asarray(np.take_along_axis(path, np.broadcast_to(at, path[:1].shape), axis=0)[0])


class _Fit:
    """Autoregressions of block means, of shape (n_blocks, n_rows, n_columns), around 0.

    `variance` is that of one block, with all covariances that reach the mean: divided by the number
    of blocks it is that of the smoothed mean. `plain` is without them, `inflation` their ratio,
    `dependent` the probability that there are any.
    """

    def __init__(self, x: FloatArray, n: FloatArray, overlap: FloatArray) -> None:
        orders = min(_ORDERS, max(len(x) - 2, 0))
        self.reflections = _burg(x, orders)
        squares = np.einsum("nrc,nrc->rc", x, x)
        self.plain = plain = squares / np.maximum(n - 1, 1.0)
        scores, variances = [np.zeros_like(plain)], [plain]
        explained, left = np.zeros_like(plain), squares
        for order, last in enumerate(self.reflections, start=1):
            rest = np.maximum(1 - last * last, 1e-5)
            explained, left = explained + n * np.log(rest), left * rest
            scores.append(explained + _PENALTY * order * n / np.maximum(n - order - 1, 0.1))
            covariances = _sum_of_covariances(self._corrected(order, n), overlap)
            variances.append(left / np.maximum(n - 1 - order, 1.0) * covariances)
        shares = np.exp(-0.5 * (np.array(scores) - np.min(scores, axis=0)))
        shares /= shares.sum(axis=0)
        self.variance = np.einsum("orc,orc->rc", shares, np.array(variances))
        self.inflation = np.where(plain > 0, self.variance / np.maximum(plain, _NEGLIGIBLE), 1.0)
        self.dependent = 1 - shares[0]

    def _corrected(self, order: int, n: FloatArray) -> list[FloatArray]:
        """The first reflection coefficients without their bias (Shaman and Stine 1988).

        The bias is of the size of the variance, which is small for the first coefficients where
        the later ones leave little to explain.
        """
        corrected, left = [], np.ones_like(self.reflections[0])
        for p in range(order, 0, -1):
            k = self.reflections[p - 1]
            bias = ((1 if p % 2 else 2) + (p + 2) * k) / n
            corrected.append((k + left * bias).clip(_LOWEST, _HIGHEST))
            left = left * (1 - k * k)
        return corrected[::-1]


def _burg(x: FloatArray, orders: int) -> list[FloatArray]:
    """Reflection coefficients of an autoregression."""
    forward, backward = x[1:], x[:-1]
    reflections = []
    for _ in range(orders):
        product = np.einsum("nrc,nrc->rc", forward, backward)
        squares = np.einsum("nrc,nrc->rc", forward, forward)
        squares += np.einsum("nrc,nrc->rc", backward, backward)
        k = 2 * product / np.maximum(squares, _NEGLIGIBLE)
        forward, backward = (forward - k * backward)[1:], (backward - k * forward)[:-1]
        reflections.append(k)
    return reflections


def _sum_of_covariances(reflections: list[FloatArray], overlap: FloatArray) -> FloatArray:
    """The autocovariances at all lags h, each times overlap^|h|, for innovations of variance 1."""
    one = np.ones_like(reflections[0])
    coefficients: list[FloatArray] = []
    correlations, left = [one], one
    for m, k in enumerate(reflections, start=1):
        last = k * left
        for i, a in enumerate(coefficients):
            last = last + a * correlations[m - 1 - i]
        correlations.append(last)
        left = left * (1 - k * k)
        turned = coefficients[::-1]
        coefficients = [a - k * b for a, b in zip(coefficients, turned, strict=True)] + [k]
    # The sum over h >= 0 satisfies the equation of the autoregression from h = 1 on.
    start, rest = one, one
    powers = [overlap**i for i in range(len(coefficients) + 1)]
    for i, a in enumerate(coefficients, start=1):
        rest = rest - a * powers[i]
        for m in range(1, i):
            start = start + a * powers[i - m] * correlations[m]
    return np.asarray((2 * start / np.maximum(rest, 1e-6) - 1).clip(min=0.0) / left)


class _Normality:
    """How well a variance is known, and how far the error is from a normal one.

    `degrees` of freedom; `shrinkage` of the band of a bounded series; `cyclic`, from 0 to 1,
    whether the block means oscillate.
    """

    def __init__(self, x: FloatArray, n: FloatArray, fit: _Fit, variance: FloatArray) -> None:
        squares = x * x
        square = squares.sum(axis=0) / n
        # Of ratios: fourth powers of values of 1e-100, and of 1e100, are no numbers.
        ratios = squares / np.maximum(square, _NEGLIGIBLE)
        kurtosis = np.where(square > 0, np.einsum("nrc,nrc->rc", ratios, ratios) / n, 3.0)
        memory = ((fit.inflation - 1) / (fit.inflation + 1)).clip(0.0, 0.95)
        of_memory = 4 * (1 + memory) / (1 - memory) * fit.dependent / _REACHES
        degrees = 2 * n / (np.maximum(kurtosis - 1, 2.0) + of_memory)
        # A mean of few values that lie between two ends does so itself.
        few = (2 - square / np.maximum(variance, _NEGLIGIBLE) / 6).clip(0.0, 1.0)
        bounded = ((2.3 - kurtosis) / 0.5).clip(0.0, 1.0) * few
        self.degrees = np.maximum(degrees, _DEGREES) / np.maximum(1 - bounded, 0.05)
        self.shrinkage = 1 - 0.09 * bounded
        second = fit.reflections[1] if len(fit.reflections) > 1 else np.zeros_like(square)
        swings = ((-second - 0.25) / 0.2).clip(0.0, 1.0)
        self.cyclic = swings * ((2.6 - kurtosis) / 0.3).clip(0.0, 1.0)
