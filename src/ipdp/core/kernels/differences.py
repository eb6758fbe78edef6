"""How a model's answers differ from its earlier ones, number by number.

Compiled as it is into `_differences`, with the types in `_differences.pxd`; `differences_array.py`
does the same by operations on arrays, to rounding.
"""

from __future__ import annotations

from typing import Any

from ipdp.core.typing import Array, FloatArray

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from ipdp.core.kernels import cython_stub as cython
if not cython.compiled:
    from math import isfinite, isnan, sqrt

# A difference of this share of the answers is rounding.
_ROUNDING = 1e-9
# What a difference counts at most: the squares of those that are larger would be infinite.
LARGEST_ANSWER = 1e140
# The most that a size is, in standard deviations: of outputs without any it would be infinite.
_MOST_STD = 1e100
# With fewer observations nothing is measured.
FEWEST = 4
# A change is this many times what is usual,
UNUSUAL = 1.8
# the mean difference is so many standard errors from zero (before it is looked at closer, less is
# enough if it is larger by as much),
CLEAR = 4.0
# and differences of single observations must be larger by this factor, as they are not averaged.
HIDDEN = 2.0
# What is so many times what is usual need not last.
_SUDDEN = 8.0
# The largest ratio that counts in the score; how quickly the score falls.
_LARGEST, _FALL = 12.0, 4.0
# Ratios are about the same from this share on.
_ABOUT = 0.8
# A model that wanders differs from itself of a short while ago by a good part of what it differs
# from itself of long ago; no more than so many times the former becomes usual.
_WANDERING = 3.0
_INFINITY = float("inf")


# What was asked at a check.


def compare(
    earlier: FloatArray,
    answer: FloatArray,
    cells: Array,
    outputs: Array,
    weights: FloatArray,
    rows: Array,
    difference: FloatArray,
    then: FloatArray,
    counts: Array,
) -> None:
    """Write how answers differ from earlier ones, each curve centred, and the earlier ones.

    Answers are of shape (n, n_labels, n_columns); a column belongs to one of n_features x width
    `cells`. Of the `outputs` they are written by feature, (n_all, n_outputs, n_features, width),
    into so many `rows`. Where one is not finite, it counts no more for its feature, and is 0.
    """
    n, n_columns, width = earlier.shape[0], earlier.shape[2], weights.shape[1]
    fits = answer.shape[0] == rows.shape[0] == n and answer.shape[2] == cells.shape[0] == n_columns
    fits = fits and then.shape[0] == counts.shape[0] == difference.shape[0]
    fits = fits and then.shape[1] == difference.shape[1] == outputs.shape[0]
    fits = fits and then.shape[2] == difference.shape[2] == counts.shape[1] == weights.shape[0]
    fits = fits and then.shape[3] == difference.shape[3] == width
    fits = fits and _are_below(cells, weights.shape[0] * width)
    fits = fits and _are_below(rows, difference.shape[0])
    if not fits or not _are_below(outputs, min(earlier.shape[1], answer.shape[1])):
        raise ValueError("the answers do not fit")
    for o in range(outputs.shape[0]):
        limit = _ROUNDING * _largest(earlier, outputs[o])
        for k in range(n):
            for column in range(n_columns):
                f, place = cells[column] // width, cells[column] % width
                said = earlier[k, outputs[o], column]
                moved = answer[k, outputs[o], column] - said
                # Functions of arrays round a row differently beside others.
                moved = 0.0 if abs(moved) <= limit else moved
                difference[rows[k], o, f, place] = moved
                then[rows[k], o, f, place] = said
                if not isfinite(moved + said):
                    counts[rows[k], f] = 0
    for k in range(n):
        _centre(difference, then, weights, rows[k], counts)


def _are_below(numbers: Array, limit: int) -> bool:
    fits = True
    for k in range(numbers.shape[0]):
        fits = fits and 0 <= numbers[k] < limit
    return fits


def _largest(earlier: Any, label: int) -> float:
    """The largest of some answers; NaN if one of them is."""
    largest = 0.0
    for k in range(earlier.shape[0]):
        for column in range(earlier.shape[2]):
            size: float = abs(earlier[k, label, column])
            if isnan(size):
                return size
            largest = max(largest, size)
    return largest


def _centre(difference: Any, then: Any, weights: Any, row: int, counts: Any) -> None:
    """Take the mean off the differences of one observation; 0 for features that do not count."""
    width = weights.shape[1]
    for f in range(weights.shape[0]):
        is_fine = counts[row, f] != 0
        for o in range(difference.shape[1]):
            level = _weighted(difference[row, o, f], weights[f], 0, width) if is_fine else 0.0
            for k in range(width):
                if not is_fine:
                    then[row, o, f, k] = 0.0
                is_there = is_fine and weights[f, k] > 0
                difference[row, o, f, k] = difference[row, o, f, k] - level if is_there else 0.0


def _weighted(values: Any, weights: Any, first: int, stop: int) -> float:
    """The weighted sum of some values, by halves as numpy does."""
    if stop <= first:
        return 0.0
    if stop - first == 1:
        product: float = values[first] * weights[first]
        return product
    half = (first + stop) // 2
    return _weighted(values, weights, first, half) + _weighted(values, weights, half, stop)


def sum_up(
    difference: FloatArray,
    counts: Array,
    ages: Array,
    is_young: Array,
    recent: int,
    n: FloatArray,
    sums: FloatArray,
) -> bool:
    """Add up what counts of a check: differences, and their squares; whether there are any.

    First over the rows that are not young, then over those of at most so `recent` answers: `n` is
    of shape (2, n_features), `sums` (2, 2, n_outputs, n_features, width).
    """
    n_rows, n_outputs = difference.shape[0], difference.shape[1]
    n_features, width, moves = difference.shape[2], difference.shape[3], False
    fits = counts.shape[0] == ages.shape[0] == is_young.shape[0] == n_rows
    fits = fits and counts.shape[1] == ages.shape[1] == n.shape[1] == sums.shape[3] == n_features
    fits = fits and n.shape[0] == sums.shape[0] == sums.shape[1] == 2 and sums.shape[4] == width
    if not fits or sums.shape[2] != n_outputs:
        raise ValueError("the differences do not fit")
    n[:, :] = 0.0
    sums[:, :, :, :, :] = 0.0
    for row in range(n_rows):
        for f in range(n_features):
            is_old = counts[row, f] and not is_young[row]
            is_recent = counts[row, f] and ages[row, f] <= recent
            n[0, f] += is_old
            n[1, f] += is_recent
            for o in range(n_outputs):
                for k in range(width):
                    value = difference[row, o, f, k]
                    moves = moves or value != 0
                    value = max(min(value, LARGEST_ANSWER), -LARGEST_ANSWER)
                    for part in range(2):
                        sums[0, part, o, f, k] += value * is_old
                        sums[1, part, o, f, k] += value * is_recent
                        value *= value
    return moves


def fold_outputs(
    then: FloatArray, counts: Array, weights: FloatArray, share: float, moments: FloatArray
) -> None:
    """Let mean and mean square of the outputs, (2, n_features, n_outputs), follow a check."""
    n_rows, n_outputs = then.shape[0], then.shape[1]
    n_features, width = then.shape[2], then.shape[3]
    fits = counts.shape[0] == n_rows and counts.shape[1] == weights.shape[0] == n_features
    fits = fits and moments.shape[0] == 2 and moments.shape[1] == n_features
    if not fits or moments.shape[2] != n_outputs or weights.shape[1] != width:
        raise ValueError("the answers do not fit")
    for f in range(n_features):
        n = 0
        for row in range(n_rows):
            n += counts[row, f] != 0
        for o in range(n_outputs if n else 0):
            mean, square = 0.0, 0.0
            for row in range(n_rows):
                for k in range(width if counts[row, f] else 0):
                    value = then[row, o, f, k] * (weights[f, k] / n)
                    mean += value
                    square += value * then[row, o, f, k]
            moments[0, f, o] += share * (mean - moments[0, f, o])
            moments[1, f, o] += share * (square - moments[1, f, o])


# Several checks.


def add_windows(
    kept_n: FloatArray, kept: FloatArray, ages: Array, windows: Any, n: FloatArray, sums: FloatArray
) -> None:
    """Add up the newest checks, of which there are `kept_n` and `kept` as `sum_up` makes them.

    `ages` are the places of the checks, newest first; of each window it is said how many of them
    it has, and which of the two sums: `n` is of shape (n_windows, n_features), `sums` (n_windows,
    2, n_outputs, n_features, width).
    """
    n_windows, n_features, width = len(windows), kept_n.shape[2], kept.shape[5]
    fits = kept_n.shape[0] == kept.shape[0] and kept_n.shape[1] == kept.shape[1] == kept.shape[2]
    fits = fits and kept.shape[2] == sums.shape[1] == 2 and kept.shape[3] == sums.shape[2]
    fits = fits and kept.shape[4] == sums.shape[3] == n.shape[1] == n_features
    if not fits or n.shape[0] != n_windows or sums.shape[0] != n_windows or sums.shape[4] != width:
        raise ValueError("the sums do not fit")
    for k in range(ages.shape[0]):
        if not 0 <= ages[k] < kept.shape[0]:
            raise ValueError("there is no such check")
    n[:, :] = 0.0
    sums[:, :, :, :, :] = 0.0
    for number in range(n_windows):
        n_checks, which = windows[number]
        for k in range(min(n_checks, ages.shape[0])):
            for f in range(n_features):
                n[number, f] += kept_n[ages[k], which, f]
            for part in range(2):
                for o in range(kept.shape[3]):
                    for f in range(n_features):
                        for place in range(width):
                            value = kept[ages[k], which, part, o, f, place]
                            sums[number, part, o, f, place] += value


def measure(
    n: FloatArray, sums: FloatArray, weights: FloatArray, std: FloatArray, sizes: FloatArray
) -> None:
    """Write sizes in standard deviations of the outputs, (n_features, n_outputs).

    `sizes` is of shape (3, n_windows, n_features, n_outputs): of the mean difference, of single
    ones, and the largest mean difference in standard errors; 0 of too few observations.
    """
    n_windows, n_features, n_outputs = sums.shape[0], sums.shape[3], sums.shape[2]
    fits = n.shape[0] == sizes.shape[1] == n_windows and sizes.shape[0] == 3 and sums.shape[1] == 2
    fits = fits and n.shape[1] == sizes.shape[2] == std.shape[0] == n_features
    fits = fits and weights.shape[0] == n_features and weights.shape[1] == sums.shape[4]
    if not fits or sizes.shape[3] != n_outputs or std.shape[1] != n_outputs:
        raise ValueError("the sums do not fit")
    for number in range(n_windows):
        for f in range(n_features):
            for o in range(n_outputs):
                if n[number, f] >= FEWEST:
                    _size(n[number, f], sums, weights, std[f, o], sizes, number, f, o)
                else:
                    sizes[0, number, f, o] = sizes[1, number, f, o] = sizes[2, number, f, o] = 0.0


def _size(
    n: float, sums: Any, weights: Any, std: float, sizes: Any, number: int, f: int, o: int
) -> None:
    """Write the sizes of one effect on one output in one window; its sums are used up."""
    largest = 0.0
    for k in range(weights.shape[1]):
        mean, square = sums[number, 0, o, f, k] / n, sums[number, 1, o, f, k] / n
        # Of the mean, whose square is too large by it.
        error = max(square - mean * mean, 0.0) / (n - 1)
        if abs(mean) > 1e-12 * std:
            errors = abs(mean) / sqrt(error) if error > 0 else _INFINITY
            largest = max(largest, errors)
        sums[number, 0, o, f, k] = mean * mean - error
        sums[number, 1, o, f, k] = square
    for part in range(2):
        total = _weighted(sums[number, part, o, f], weights[f], 0, weights.shape[1])
        sizes[part, number, f, o] = min(sqrt(max(total, 0.0)) / std, _MOST_STD)
    sizes[2, number, f, o] = largest


# What is news.


def weigh(
    sizes: FloatArray, usual: FloatArray, std: FloatArray, tolerance: float, found: Any
) -> None:
    """Compare sizes with what is usual, (2, n_windows, n_features, n_outputs).

    `sizes` are of those windows and, at last, of a short while ago. Written is, for each feature,
    the largest ratio and the size, (2, n_features); of which output, whether it is that of single
    observations, and whether nothing like it is usual, (3, n_features).
    """
    n_windows, n_features, n_outputs = usual.shape[1], usual.shape[2], usual.shape[3]
    numbers, which = found
    fits = sizes.shape[0] == 3 and usual.shape[0] == numbers.shape[0] == 2 and which.shape[0] == 3
    fits = fits and sizes.shape[1] > n_windows > 0 and sizes.shape[3] == std.shape[1] == n_outputs
    fits = fits and sizes.shape[2] == std.shape[0] == n_features
    if not fits or numbers.shape[1] != n_features or which.shape[1] != n_features or not n_outputs:
        raise ValueError("the sizes do not fit")
    for f in range(n_features):
        best_ratio, best_sort, best_window, best = -1.0, 0, 0, 0
        for sort in range(2):
            for window in range(n_windows):
                for o in range(n_outputs):
                    ratio = _ratio(sizes, usual, tolerance, sort, window, f, o)
                    if ratio > best_ratio or (isnan(ratio) and not isnan(best_ratio)):
                        best_ratio, best_sort, best_window, best = ratio, sort, window, o
        is_usual, size = (
            usual[best_sort, best_window, f, best],
            sizes[best_sort, best_window, f, best],
        )
        numbers[0, f], numbers[1, f] = best_ratio, size
        which[1, f] = best_sort
        which[2, f] = UNUSUAL * is_usual < tolerance / 4 or size > _SUDDEN * is_usual
        # Of outputs that changed about as much, the one whose change is the largest in its units.
        largest, which[0, f] = -2.0, 0
        for o in range(n_outputs):
            ratio = _ratio(sizes, usual, tolerance, best_sort, best_window, f, o)
            in_units = ratio * std[f, o] if ratio >= _ABOUT * best_ratio else -1.0
            if in_units > largest:
                largest, which[0, f] = in_units, o


def _ratio(
    sizes: Any, usual: Any, tolerance: float, sort: int, window: int, f: int, o: int
) -> float:
    """How large a difference is, against what is news."""
    least = max(tolerance, UNUSUAL * usual[sort, window, f, o])
    ratio: float = sizes[sort, window, f, o] / least
    if sort:
        return ratio / HIDDEN
    # What is not clear counts less, not as nothing: in a forest a change stays about there.
    clear: float = sizes[2, window, f, o] / CLEAR
    return ratio * min(clear, 1.0)


def add_up(ratio: FloatArray, is_going_on: Array, clock: float, score: FloatArray) -> None:
    """Let the score of each feature follow its ratio; 0 while a change of it goes on."""
    if ratio.shape[0] != score.shape[0] or is_going_on.shape[0] != score.shape[0]:
        raise ValueError("the ratios do not fit")
    for f in range(ratio.shape[0]):
        above = (_LARGEST if ratio[f] > _LARGEST else ratio[f]) - 1
        total = score[f] + (above if above > 0 else _FALL * above) * clock
        score[f] = 0.0 if is_going_on[f] or total < 0 else total


def becoming(sizes: FloatArray, n: FloatArray, most: FloatArray) -> None:
    """Write what may become usual: no more than some times the difference to a short while ago.

    What grows with the age of the observations is a gradual change, and not wandering.
    """
    n_windows, n_features, n_outputs = most.shape[1], most.shape[2], most.shape[3]
    fits = sizes.shape[0] > 1 and most.shape[0] == 2 and n.shape[0] == sizes.shape[1] > n_windows
    fits = fits and sizes.shape[2] == n.shape[1] == n_features
    if not fits or sizes.shape[3] != n_outputs:
        raise ValueError("the sizes do not fit")
    last = sizes.shape[1] - 1
    for sort in range(2):
        for f in range(n_features):
            for o in range(n_outputs):
                limit = _WANDERING * sizes[sort, last, f, o] if n[last, f] >= FEWEST else _INFINITY
                for window in range(n_windows):
                    most[sort, window, f, o] = min(sizes[sort, window, f, o], limit)


def learn(
    usual: FloatArray, n_usual: Array, sizes: FloatArray, rows: Array, up: float, down: float
) -> None:
    """Let what is usual of some features follow sizes, at one rate upwards and another downwards.

    At once if nothing was usual before.
    """
    n_windows, n_features, n_outputs = usual.shape[1], usual.shape[2], usual.shape[3]
    fits = usual.shape[0] == sizes.shape[0] and n_windows == sizes.shape[1]
    fits = fits and n_features == sizes.shape[2] == n_usual.shape[0] == rows.shape[0]
    if not fits or n_outputs != sizes.shape[3]:
        raise ValueError("the sizes do not fit")
    for f in range(n_features):
        if not rows[f]:
            continue
        for sort in range(usual.shape[0]):
            for window in range(n_windows):
                for o in range(n_outputs):
                    step = sizes[sort, window, f, o] - usual[sort, window, f, o]
                    rate = 1.0 if n_usual[f] == 0 else min(up if step > 0 else down, 1.0)
                    usual[sort, window, f, o] += rate * step
        n_usual[f] += 1
