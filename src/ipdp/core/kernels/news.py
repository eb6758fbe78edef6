"""What is news of a model, number by number: how large differences are against what is usual.

Compiled as it is into `_news`, with the types in `_news.pxd`; `news_array.py` does the same by
operations on arrays, to rounding.
"""

from __future__ import annotations

from typing import Any

from ipdp.core.kernels.differences import FEWEST
from ipdp.core.typing import Array, FloatArray

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from ipdp.core.kernels import cython_stub as cython
if not cython.compiled:
    from math import isnan

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


def becoming(
    sizes: FloatArray, n: FloatArray, is_going_on: Array, most: FloatArray, known: Array
) -> None:
    """Write what may become usual: no more than some times the difference to a short while ago.

    What grows with the age of the observations is a gradual change, and not wandering. `known` is
    of which features there are enough observations, and no change goes on.
    """
    n_windows, n_features, n_outputs = most.shape[1], most.shape[2], most.shape[3]
    fits = sizes.shape[0] > 1 and most.shape[0] == 2 and n.shape[0] == sizes.shape[1] > n_windows
    fits = fits and sizes.shape[2] == n.shape[1] == known.shape[0] == n_features
    if not fits or sizes.shape[3] != n_outputs or is_going_on.shape[0] != n_features:
        raise ValueError("the sizes do not fit")
    last = sizes.shape[1] - 1
    for f in range(n_features):
        known[f] = n[n_windows - 1, f] >= FEWEST and not is_going_on[f]
    for sort in range(2):
        for f in range(n_features):
            for o in range(n_outputs):
                limit = _WANDERING * sizes[sort, last, f, o] if n[last, f] >= FEWEST else _INFINITY
                for window in range(n_windows):
                    most[sort, window, f, o] = min(sizes[sort, window, f, o], limit)


def learn(
    usual: FloatArray,
    n_usual: Array,
    sizes: FloatArray,
    known: Array,
    is_going_on: Array,
    up: float,
    down: float,
) -> None:
    """Let what is usual follow sizes that are known, at one rate upwards and another downwards.

    At once if nothing was usual before; not while a change goes on.
    """
    n_windows, n_features, n_outputs = usual.shape[1], usual.shape[2], usual.shape[3]
    fits = usual.shape[0] == sizes.shape[0] and n_windows == sizes.shape[1]
    fits = fits and n_features == sizes.shape[2] == n_usual.shape[0] == known.shape[0]
    if not fits or n_outputs != sizes.shape[3] or is_going_on.shape[0] != n_features:
        raise ValueError("the sizes do not fit")
    for f in range(n_features):
        if not known[f] or is_going_on[f]:
            continue
        for sort in range(usual.shape[0]):
            for window in range(n_windows):
                for o in range(n_outputs):
                    step = sizes[sort, window, f, o] - usual[sort, window, f, o]
                    rate = 1.0 if n_usual[f] == 0 else min(up if step > 0 else down, 1.0)
                    usual[sort, window, f, o] += rate * step
        n_usual[f] += 1
