"""Exponential smoothing as a mergeable state (eq. 2 and 3, debiased, with their spread).

A set of observations with values y_i, weights w_i and times t_i is summarised, at time T, by

    weight  W = sum_i k_i            with k_i = w_i (1 - alpha)^(T - t_i)
    mean      = sum_i k_i y_i / W
    spread    = sum_i k_i (y_i - mean)^2
    squares   = sum_i k_i^2

Dividing by W is the paper's debiasing: without sample weights, alpha W = 1 - (1 - alpha)^t. The
mean and the spread are kept instead of the raw sums because raw sums cancel when the mean is large
against the deviations (Chan, Golub, LeVeque 1983); a constant series keeps its value to the last
bit. Two summaries are joined by rebasing both to the later T, which multiplies weight and spread
by (1 - alpha)^(T' - T) and leaves the mean alone. Nothing is ever weighted by (1 - alpha)^(-t).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ipdp.core import kernels, schema
from ipdp.core.decay import resolve_alpha
from ipdp.core.errors import NotEnoughSamples
from ipdp.core.typing import Array, FloatArray, State
from ipdp.core.validation import whole_number

_ALPHA = schema.Kind("in (0, 1]", lambda v: schema.number.fits(v) and 0 < v <= 1)
_MOST = {
    "weight": schema.LARGEST_WEIGHT,
    "squares": schema.LARGEST_SQUARES,
    "mean": schema.LARGEST_MEAN,
    "spread": schema.LARGEST_SQUARES,
}
# Below this the weights are those of one single value up to rounding, and say nothing of a spread.
_ONE_VALUE = 1 + 1e-9


class Smoothing:
    """Weighted mean and variance of many series at once, with exponential forgetting.

    Values come as an array of shape (n_rows, n_columns); the columns of one row may have weights
    of their own (a grid point that was added later), the rows of one column always share theirs.

    Parameters
    ----------
    alpha
        Weight of the newest value, in (0, 1]; larger forgets faster. None is the plain mean.
    n_rows, n_columns
        Shape of the values.

    Attributes
    ----------
    n
        Number of updates.
    t
        Time of the last update, None before it.
    mean, spread
        Two of the sums of the module's docstring, of shape (n_rows, n_columns).

    Examples
    --------
    >>> smoothing = Smoothing(alpha=0.5)
    >>> for value in [4.0, 4.0, 7.0]:
    ...     smoothing.update(value)
    >>> smoothing.mean.round(3)
    array([[5.714]])

    The first mean is the first value; nothing pulls it towards zero.

    >>> smoothing = Smoothing(alpha=0.001)
    >>> smoothing.update(0.5)
    >>> smoothing.mean
    array([[0.5]])
    """

    def __init__(self, *, alpha: float | None, n_rows: int = 1, n_columns: int = 1) -> None:
        alpha = self.alpha = resolve_alpha(alpha)
        self._decay = 1.0 if alpha is None else 1.0 - alpha
        self.n = 0
        self.t: float | None = None
        # One for all columns, until one is added later or left out of an update: half of the work.
        self._weight: FloatArray = np.zeros(1)
        self._squares: FloatArray = np.zeros(1)
        shape = [whole_number("n_rows, n_columns", n, least=0) for n in (n_rows, n_columns)]
        self.mean: FloatArray = np.zeros(shape)
        self.spread: FloatArray = np.zeros(shape)

    def update(
        self, values: float | Array, w: float | FloatArray = 1.0, t: float | None = None
    ) -> None:
        """Fold one observation in.

        Parameters
        ----------
        values
            Shape (n_rows, n_columns).
        w
            Sample weight, positive; or one for each column, of shape (n_columns,), where 0 leaves
            a column as it is but for its age.
        t
            Time of the observation; the next whole number if it is not given.
        """
        if t is None:
            t = 1 if self.t is None else self.t + 1
        self.update_rows(
            np.broadcast_to(np.asarray(values, dtype=float), self.mean.shape), w=w, t=t
        )

    def update_rows(self, *rows: FloatArray, w: float | FloatArray, t: float) -> None:
        """Fold one observation in, whose rows stand in several arrays, one below the other.

        Parameters
        ----------
        rows
            Of shape (n, n_columns) each, n_rows in all.
        w, t
            As in `update`.

        Examples
        --------
        >>> smoothing = Smoothing(alpha=0.5, n_rows=2, n_columns=2)
        >>> smoothing.update_rows(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]), w=1.0, t=1)
        >>> smoothing.mean
        array([[1., 2.],
               [3., 4.]])
        """
        gap = 1 if self.t is None else t - self.t
        decay = self._decay if gap == 1 else self._decay**gap
        rows = tuple(map(np.ascontiguousarray, rows))
        if isinstance(w, np.ndarray):
            self._weight, self._squares = self.weight, self.squares
            kernels.array.fold_in(self, rows, decay, w)
        else:
            kernels.current.fold_in(self, rows, decay, w)
        self.n += 1
        self.t = t

    def update_at(self, columns: list[int], values: FloatArray, w: float, t: float) -> None:
        """Fold one observation in, which has values of some columns only; the others age.

        Parameters
        ----------
        columns
            Numbers of the columns, none twice; -1 for a value that is not to count.
        values
            Of shape (n_rows, n); those of columns after the n-th are 0.
        w, t
            Weight and time of the observation.

        Examples
        --------
        >>> smoothing = Smoothing(alpha=0.5, n_columns=3)
        >>> smoothing.update_at([2, 0], np.array([[5.0, 1.0]]), w=1.0, t=1)
        >>> smoothing.update_at([2], np.array([[8.0]]), w=1.0, t=2)
        >>> smoothing.mean, smoothing.weight
        (array([[1., 0., 7.]]), array([0.5, 0. , 1.5]))
        """
        self.update_many_at(np.array([columns], dtype=np.intp), values[None], [w], [t])

    def update_some(self, columns: Array, values: FloatArray, w: FloatArray, t: float) -> None:
        """Fold one observation in, with values of some columns, each with a weight; others age.

        Parameters
        ----------
        columns
            Numbers of the columns, none twice.
        values
            Of shape (n_rows, n).
        w
            Weights, positive, of shape (n,).
        t
            Time of the observation.

        Examples
        --------
        >>> smoothing = Smoothing(alpha=0.5, n_columns=3)
        >>> smoothing.update_some(np.array([2, 0]), np.array([[5.0, 1.0]]), np.array([1.0, 2]), 1)
        >>> smoothing.update_some(np.array([2]), np.array([[8.0]]), np.array([4.0]), 2)
        >>> smoothing.mean.round(2), smoothing.weight
        (array([[1.  , 0.  , 7.67]]), array([1. , 0. , 4.5]))
        """
        if len(self._weight) != self.mean.shape[1]:
            self._weight, self._squares = self.weight, self.squares
        (decay,) = self._decays([t])
        self._weight *= decay
        self._squares *= decay * decay
        self.spread *= decay
        weight = self._weight[columns]
        delta = values - self.mean[:, columns]
        step = delta * (w / (weight + w))
        self.mean[:, columns] += step
        self.spread[:, columns] += step * delta * weight
        self._weight[columns] += w
        self._squares[columns] += w * w
        self.n += 1
        self.t = t

    def update_many_at(
        self, columns: Array, values: FloatArray, w: list[float], t: list[float]
    ) -> None:
        """Do so with several observations, one after the other.

        Parameters
        ----------
        columns
            Of shape (n, n_columns), whole numbers as `np.intp`.
        values
            Of shape (n, n_rows, n_values).
        w, t
            Weights, and times in ascending order.
        """
        if len(self._weight) != self.mean.shape[1]:
            self._weight, self._squares = self.weight, self.squares
        kernels.current.fold_at(self, values, columns, self._decays(t), w)
        self.n += len(t)
        self.t = t[-1]

    def _decays(self, t: list[float]) -> list[float]:
        """What is left of the past at each of some times, of what was there before it."""
        before = t[0] - 1 if self.t is None else self.t
        gaps = [later - earlier for earlier, later in pairwise([before, *t])]
        return [self._decay if gap == 1 else self._decay**gap for gap in gaps]

    def update_many(self, values: Array, w: FloatArray, t: FloatArray) -> None:
        """Fold many observations in at once; the same as one by one, to rounding.

        Parameters
        ----------
        values
            Shape (n, n_rows, n_columns).
        w, t
            Shape (n,): weights, and times in ascending order.
        """
        values = np.ascontiguousarray(values, dtype=float)
        self.update_many_rows((values,), w.tolist(), t.tolist())

    def update_many_rows(
        self, rows: tuple[FloatArray, ...], w: list[float], t: list[float]
    ) -> None:
        """Fold many observations in, whose rows stand in several arrays, as in `update_rows`.

        Parameters
        ----------
        rows
            Of shape (n, n_own_rows, n_columns) each, contiguous; or (1, n_own_rows, n_columns), if
            they are the same for all observations.
        w, t
            Weights, and times in ascending order.
        """
        if not t:
            return
        kernels.current.fold_many(self, rows, self._decays(t), w)
        self.n += len(t)
        self.t = t[-1]

    def merge(self, other: Smoothing) -> Smoothing:
        """The state of the observations of both, expressed at the later time.

        Associative, and commutative where the times are those of one common clock.

        Examples
        --------
        >>> first, second = Smoothing(alpha=0.5), Smoothing(alpha=0.5)
        >>> first.update(4.0, t=1)
        >>> first.update(4.0, t=2)
        >>> second.update(7.0, t=3)
        >>> first.merge(second).mean.round(3)
        array([[5.714]])
        """
        if self.alpha != other.alpha:
            raise ValueError(f"smoothing differs: alpha is {self.alpha} and {other.alpha}")
        if self.mean.shape != other.mean.shape:
            raise ValueError(f"shapes differ: {self.mean.shape} and {other.mean.shape}")
        times = [t for t in (self.t, other.t) if t is not None]
        joined = self.copy()
        if not times:
            return joined
        joined.n, joined.t = self.n + other.n, max(times)
        mine, theirs = self._decay_until(joined.t), other._decay_until(joined.t)
        weight, other_weight = mine * self.weight, theirs * other.weight
        total = weight + other_weight
        squares = mine * mine * self.squares + theirs * theirs * other.squares
        joined._weight, joined._squares = _even(total, squares)
        # 0 / 0 where neither has a value: then the share does not matter.
        share = other_weight / np.where(total > 0, total, 1.0)
        delta = other.mean - self.mean
        joined.mean = self.mean + share * delta
        joined.spread = mine * self.spread + theirs * other.spread + weight * share * delta**2
        return joined

    def beside(self, *others: Smoothing, columns: Array | None = None) -> Smoothing:
        """The columns of all, or some of these, at the latest time; `n` is that of this one.

        In `columns`, numbers as `np.intp`, -1 stands for an empty one.

        Examples
        --------
        >>> first, second = Smoothing(alpha=0.5), Smoothing(alpha=0.5)
        >>> first.update(1.0, t=2)
        >>> second.update(2.0, t=1)
        >>> both = first.beside(second)
        >>> both.mean, both.weight
        (array([[1., 2.]]), array([1. , 0.5]))
        """
        joined = Smoothing(alpha=self.alpha, n_rows=0, n_columns=0)
        joined.n = self.n
        joined.t = max([s.t for s in (self, *others) if s.t is not None], default=None)
        parts = [
            (s.mean, s.spread, s._weight, s._squares, s._decay_until(joined.t))
            for s in (self, *others)
        ]
        if columns is None:
            columns = np.arange(sum(part[0].shape[1] for part in parts))
        joined._weight, joined._squares, joined.mean, joined.spread = kernels.current.side_by_side(
            parts, columns
        )
        return joined

    def _decay_until(self, t: float | None) -> float:
        return 1.0 if self.t is None or t is None else float(self._decay ** (t - self.t))

    def take(
        self, columns: Sequence[int] | Array, *, rows: Sequence[int] | None = None
    ) -> Smoothing:
        """The same state with some columns, and rows, picked; -1 stands for a new one.

        A new column is empty; a new row has had the value 0 so far (a class that had not been met).

        Examples
        --------
        >>> smoothing = Smoothing(alpha=0.5, n_columns=2)
        >>> smoothing.update([[1.0, 2.0]])
        >>> smoothing.take([1, -1]).mean
        array([[2., 0.]])
        """
        taken = self.beside(columns=np.asarray(columns, dtype=np.intp))
        if rows is not None:
            taken.mean = pick(taken.mean, rows, axis=0)
            taken.spread = pick(taken.spread, rows, axis=0)
        return taken

    @property
    def weight(self) -> FloatArray:
        """Sum of the weights of each column, of shape (n_columns,)."""
        return np.full(self.mean.shape[1], self._weight)

    @property
    def squares(self) -> FloatArray:
        """Sum of the squared weights of each column, of shape (n_columns,)."""
        return np.full(self.mean.shape[1], self._squares)

    @property
    def n_effective(self) -> FloatArray:
        """Effective sample size of each column: W^2 / squares, (2 - alpha) / alpha in the limit."""
        squares = self.squares
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(squares > 0, self.weight**2 / squares, 0.0)

    @property
    def variance(self) -> FloatArray:
        """Unbiased weighted variance of the values; NaN where there is only one."""
        n_effective = self.n_effective
        with np.errstate(invalid="ignore", divide="ignore"):
            variance = self.spread / (self.weight * (1 - 1 / n_effective))
        return np.where(n_effective > _ONE_VALUE, variance, np.nan)

    @property
    def std_error(self) -> FloatArray:
        """Standard error of the mean, Theorem 4 with the exact weights; NaN for one value."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.sqrt(self.variance / self.n_effective)

    @property
    def value(self) -> float:
        """The mean of the first series, for those who smooth one number."""
        if not self.n:
            raise NotEnoughSamples("no value yet: call update first")
        return float(self.mean[0, 0])

    def copy(self) -> Smoothing:
        """An independent copy."""
        return self.take(range(self.mean.shape[1]))

    @property
    def state(self) -> State:
        """Everything it remembers."""
        return {
            "alpha": self.alpha,
            "n": self.n,
            "t": self.t,
            "weight": self.weight.tolist(),
            "squares": self.squares.tolist(),
            "mean": self.mean.tolist(),
            "spread": self.spread.tolist(),
        }

    @classmethod
    def from_state(cls, state: State) -> Smoothing:
        """The smoothing that gave this `state`.

        Examples
        --------
        >>> smoothing = Smoothing(alpha=0.5)
        >>> smoothing.update(4.0)
        >>> Smoothing.from_state(smoothing.state).value
        4.0
        """
        may = schema.maybe
        schema.check(state, alpha=may(_ALPHA), n=schema.count, t=may(schema.number))
        arrays: dict[str, Any] = {
            name: np.asarray(state[name], dtype=float)
            for name in ("weight", "squares", "mean", "spread")
        }
        _check(arrays)
        restored = cls(alpha=state["alpha"], n_rows=0, n_columns=0)
        restored.n, restored.t = state["n"], state["t"]
        shape = len(arrays["mean"]), len(arrays["weight"])
        restored._weight, restored._squares = _even(arrays["weight"], arrays["squares"])
        restored.mean = arrays["mean"].reshape(shape)
        restored.spread = arrays["spread"].reshape(shape)
        return restored


def _check(arrays: dict[str, Any]) -> None:
    """Raise unless the arrays of a state fit each other: compiled loops would not notice."""
    n_columns, n_rows = arrays["weight"].size, len(np.atleast_1d(arrays["mean"]))
    wanted: dict[str, tuple[int, ...]] = dict.fromkeys(("weight", "squares"), (n_columns,))
    wanted |= dict.fromkeys(("mean", "spread"), (n_rows, n_columns) if n_rows else (0,))
    for name, shape in wanted.items():
        if arrays[name].shape != shape:
            raise ValueError(
                f"the state of a smoothing is damaged: {name} has the shape {arrays[name].shape}, "
                f"not {shape}"
            )
        if not (np.abs(arrays[name]) < _MOST[name]).all():
            raise ValueError(f"the state of a smoothing is damaged: {name} is not finite")
        if name != "mean" and (arrays[name] < 0).any():
            raise ValueError(f"the state of a smoothing is damaged: a {name} is negative")


def _even(weight: FloatArray, squares: FloatArray) -> tuple[FloatArray, FloatArray]:
    """One number instead of many equal ones, of both or of none.

    They are folded in together. Weights may differ in the last bit where their squares do not.
    """
    if not len(weight):
        return np.zeros(1), np.zeros(1)
    if (weight == weight[0]).all() and (squares == squares[0]).all():
        return weight[:1].copy(), squares[:1].copy()
    return weight, squares


def pick(array: FloatArray, at: Sequence[int] | Array, axis: int) -> FloatArray:
    """Like `numpy.take`, with zeros where the index is -1."""
    at = np.asarray(at, dtype=int)
    if not array.shape[axis]:  # nothing to take from
        shape = list(array.shape)
        shape[axis] = len(at)
        return np.zeros(shape)
    taken: FloatArray = array.take(at, axis=axis)
    if len(at) and at.min() < 0:
        new = at < 0
        taken[(slice(None),) * axis + (new,)] = 0.0
    return taken
