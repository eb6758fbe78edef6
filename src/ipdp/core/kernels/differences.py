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
_INFINITY = float("inf")


# What was asked at a check.


def gather(records: Any, columns: Array, at: FloatArray, earlier: FloatArray) -> None:
    """Write where the points in some columns were, (n, n_columns), and what the model said there.

    `records` are positions (n_axes, n_points) and values (n_labels_then, n_points) of each
    observation; what it said is of shape (n, n_labels, n_columns), 0 for a label not known then.
    """
    n, n_columns = columns.shape[0], columns.shape[1]
    fits = len(records) == at.shape[0] == earlier.shape[0] == n
    if not fits or at.shape[1] != n_columns or earlier.shape[2] != n_columns:
        raise ValueError("the records do not fit")
    for k in range(n):
        positions, values = records[k]
        fits = values.shape[0] <= earlier.shape[1] and positions.shape[0] > 0
        if not fits or not _are_below(columns[k], min(positions.shape[1], values.shape[1])):
            raise ValueError("the records do not fit")
        for column in range(n_columns):
            at[k, column] = positions[0, columns[k, column]]
        for label in range(earlier.shape[1]):
            for column in range(n_columns):
                known = label < values.shape[0]
                earlier[k, label, column] = values[label, columns[k, column]] if known else 0.0


def count_in(
    numbers: Array, newest: int, since: Any, renewed: Any, limits: Any, ages: Array, counts: Array
) -> None:
    """Write the age of each answer, (n, n_features), and let only those count that may.

    An answer counts for a feature that was stored after the observation of the number in `since`;
    if it was `renewed` then, it is that old. `limits` are the least and the largest age.
    """
    youngest, oldest = limits
    n_features = len(since)
    fits = len(renewed) == ages.shape[1] == counts.shape[1] == n_features
    if not fits or not numbers.shape[0] == ages.shape[0] == counts.shape[0]:
        raise ValueError("the ages do not fit")
    for f in range(n_features):
        begun, is_renewed = since[f], renewed[f]
        for k in range(numbers.shape[0]):
            age = newest - (max(numbers[k], begun) if is_renewed else numbers[k])
            ages[k, f] = age
            if not (is_renewed or numbers[k] > begun) or age < youngest or age > oldest:
                counts[k, f] = 0


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
) -> tuple[bool, bool]:
    """Add up what counts of a check: differences, and their squares; whether any are, and count.

    First over the rows that are not young, then over those of at most so `recent` answers: `n` is
    of shape (2, n_features), `sums` (2, 2, n_outputs, n_features, width).
    """
    n_rows, n_outputs = difference.shape[0], difference.shape[1]
    n_features, width = difference.shape[2], difference.shape[3]
    moves, some = False, False
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
            some = some or counts[row, f] != 0
            for o in range(n_outputs):
                for k in range(width):
                    value = difference[row, o, f, k]
                    moves = moves or value != 0
                    value = max(min(value, LARGEST_ANSWER), -LARGEST_ANSWER)
                    for part in range(2):
                        sums[0, part, o, f, k] += value * is_old
                        sums[1, part, o, f, k] += value * is_recent
                        value *= value
    return moves, some


def fold_outputs(
    then: FloatArray,
    counts: Array,
    weights: FloatArray,
    share: float,
    moments: FloatArray,
    std: FloatArray,
) -> None:
    """Let mean and mean square of the outputs, (2, n_features, n_outputs), follow a check.

    Their standard deviations are written, too.
    """
    n_rows, n_outputs = then.shape[0], then.shape[1]
    n_features, width = then.shape[2], then.shape[3]
    fits = counts.shape[0] == n_rows and counts.shape[1] == weights.shape[0] == n_features
    fits = fits and moments.shape[0] == 2 and moments.shape[1] == std.shape[0] == n_features
    fits = fits and moments.shape[2] == std.shape[1] == n_outputs
    if not fits or weights.shape[1] != width:
        raise ValueError("the answers do not fit")
    for f in range(n_features):
        n = 0
        for row in range(n_rows):
            n += counts[row, f] != 0
        for o in range(n_outputs):
            mean, square = 0.0, 0.0
            for row in range(n_rows):
                for k in range(width if counts[row, f] else 0):
                    value = then[row, o, f, k] * (weights[f, k] / n)
                    mean += value
                    square += value * then[row, o, f, k]
            if n:
                moments[0, f, o] += share * (mean - moments[0, f, o])
                moments[1, f, o] += share * (square - moments[1, f, o])
            mean, square = moments[0, f, o], moments[1, f, o]
            std[f, o] = sqrt(max(square - mean * mean, 0.0)) + 1e-12 * sqrt(square) + 1e-300


# A closer look.


def read_at(
    records: Any,
    columns: Array,
    sizes: Array,
    answer: FloatArray,
    places: FloatArray,
    then: FloatArray,
    now: FloatArray,
) -> None:
    """Read curves over numbers at some places, as `numpy.interp` does.

    `records` are positions and values of each observation; its curve has so many points as `sizes`
    says, in the first of its `columns`, and `answer` is what the model says there now, (n,
    n_labels, n_columns). What it said is 0 for a label that was not known then.
    """
    n, n_places, n_labels = columns.shape[0], places.shape[0], answer.shape[1]
    fits = len(records) == sizes.shape[0] == answer.shape[0] == then.shape[0] == now.shape[0] == n
    fits = fits and then.shape[1] == now.shape[1] == n_labels
    if not fits or not then.shape[2] == now.shape[2] == n_places:
        raise ValueError("the answers do not fit")
    for k in range(n):
        positions, values = records[k]
        size = sizes[k]
        fits = 0 < size <= min(columns.shape[1], answer.shape[2])
        fits = fits and positions.shape[0] > 0 and values.shape[0] <= n_labels
        if not fits or not _are_below(columns[k], min(positions.shape[1], values.shape[1])):
            raise ValueError("the answers do not fit")
        at = 0
        for place in range(n_places):
            x = places[place]
            # The last point that is not beyond the place; from the last one on, as places ascend.
            at = 0 if place and x < places[place - 1] else at
            while at + 1 < size and positions[0, columns[k, at + 1]] <= x:
                at += 1
            left, right = columns[k, at], columns[k, at + 1 if at + 1 < size else at]
            low, high = positions[0, left], positions[0, right]
            for label in range(n_labels):
                y, y_next = answer[k, label, at], answer[k, label, at + 1 if at + 1 < size else at]
                now[k, label, place] = _between(low, high, y, y_next, x)
                then[k, label, place] = 0.0
                if label < values.shape[0]:
                    y, y_next = values[label, left], values[label, right]
                    then[k, label, place] = _between(low, high, y, y_next, x)


def _between(low: float, high: float, y: float, y_next: float, x: float) -> float:
    """What a line from one point to the next says; beyond its ends what it says there."""
    if x <= low or high <= low:
        return y
    slope = (y_next - y) / (high - low)
    return slope * (x - low) + y


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
