"""What is news of a model, by numpy.

The steps of `news.py`, under the same names, for where they are not compiled: to rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ipdp.core.kernels import news as rules
from ipdp.core.kernels.differences import FEWEST
from ipdp.core.typing import Array, FloatArray


def weigh(
    sizes: FloatArray, usual: FloatArray, std: FloatArray, tolerance: float, found: Any
) -> None:
    """Compare sizes with what is usual, (2, n_windows, n_features, n_outputs).

    `sizes` are of those windows and, at last, of a short while ago. Written is, for each feature,
    the largest ratio and the size, (2, n_features); of which output, whether it is that of single
    observations, and whether nothing like it is usual, (3, n_features).
    """
    _, n_windows, n_features, n_outputs = usual.shape
    numbers, which = found
    own = sizes[:2, :n_windows]
    ratios = own / np.maximum(tolerance, rules.UNUSUAL * usual)
    # What is not clear counts less, not as nothing: in a forest a change stays about there.
    ratios[0] *= np.minimum(sizes[2, :n_windows] / rules.CLEAR, 1.0)
    ratios[1] /= rules.HIDDEN
    rows = np.arange(n_features)
    flat, is_usual, flat_sizes = (
        part.transpose(2, 0, 1, 3).reshape(n_features, -1) for part in (ratios, usual, own)
    )
    best = flat.argmax(axis=1)
    sort, window = best // (n_windows * n_outputs), best // n_outputs % n_windows
    ratio, size, is_usual = flat[rows, best], flat_sizes[rows, best], is_usual[rows, best]
    is_frozen = rules.UNUSUAL * is_usual < tolerance / 4
    # Of outputs that changed about as much, the one whose change is the largest in its units.
    each = ratios[sort, window, rows]
    in_units = np.where(each >= rules._ABOUT * ratio[:, None], each * std, -1.0)
    numbers[:] = ratio, size
    which[:] = in_units.argmax(axis=1), sort, is_frozen | (size > rules._SUDDEN * is_usual)


def add_up(ratio: FloatArray, is_going_on: Array, clock: float, score: FloatArray) -> None:
    """Let the score of each feature follow its ratio; 0 while a change of it goes on."""
    above = np.minimum(ratio, rules._LARGEST) - 1
    step = np.where(above > 0, above, rules._FALL * above) * clock
    score[:] = np.where(is_going_on, 0.0, np.maximum(score + step, 0.0))


def becoming(
    sizes: FloatArray, n: FloatArray, is_going_on: Array, most: FloatArray, known: Array
) -> None:
    """Write what may become usual: no more than some times the difference to a short while ago.

    What grows with the age of the observations is a gradual change, and not wandering. `known` is
    of which features there are enough observations, and no change goes on.
    """
    known[:] = (n[most.shape[1] - 1] >= FEWEST) & (is_going_on == 0)
    limit = rules._WANDERING * sizes[:2, -1:]
    limit = np.where((n[-1] >= FEWEST)[:, None], limit, np.inf)
    most[:] = np.minimum(sizes[:2, : most.shape[1]], limit)


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
    rows = (known > 0) & (is_going_on == 0)
    rate = np.where(sizes > usual, up, down)
    rate = np.minimum(np.where(n_usual[:, None] > 0, rate, 1.0), 1.0)
    usual += np.where(rows[:, None], rate * (sizes - usual), 0.0)
    n_usual += rows
