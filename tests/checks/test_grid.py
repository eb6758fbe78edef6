"""The laws of grids: ours keep them, and what breaks one is found."""

import numpy as np
import pytest
from tests.grid.test_laws import CASES

from ipdp.checks import check_grid
from ipdp.grid import Auto, Categories, Fixed, MinMax, QuantileRange, Quantiles


@pytest.mark.parametrize("name", [name for name in CASES if "attice" not in name])
def test_our_grids_keep_the_laws(name):
    grid, values = CASES[name]
    check_grid(grid, values(120))


@pytest.mark.parametrize("grid", [Auto(5, missing=True), Categories(missing=True)])
def test_values_that_are_missing_are_no_trouble(grid):
    check_grid(grid, [None if k % 5 == 0 else "abc"[k % 3] for k in range(90)])


class Squares(MinMax):
    """Points that are dense near the lower end."""

    @property
    def points(self):
        low, high = self.range
        return low + (high - low) * np.linspace(0, 1, self.size) ** 2


class Doubled(QuantileRange):
    """A range of its own."""

    @property
    def range(self):
        low, high = super().range
        return 2 * low, 2 * high + 1


class Fewer(Quantiles):
    """Points that are as many as there are values, up to three."""

    @property
    def points(self):
        return np.array(sorted(set(self.storage.values))[:3], dtype=float)


@pytest.mark.parametrize("grid", [Squares(5, 30), Doubled(5, window=30), Fewer(9, window=40)])
def test_a_subclass_that_places_its_points_itself_is_asked_there(grid):
    rng = np.random.default_rng(0)
    check_grid(grid, rng.normal(size=100).tolist())
    check_grid(grid, rng.integers(0, 99, size=100).tolist())


class Unstable(Fixed):
    """Points that depend on who looks."""

    looks = 0

    @property
    def points(self):
        type(self).looks += 1
        return super().points + type(self).looks


class Descending(Fixed):
    @property
    def points(self):
        return super().points[::-1]


class Untruthful(MinMax):
    """Says that others may spread its points out, and places them elsewhere."""

    @property
    def span(self):
        return self.storage.kernel if self.n_values else None

    @property
    def points(self):
        return super().points * 2


class Greedy(Fixed):
    """Keeps everything."""

    def __init__(self, values, *, missing=False):
        super().__init__(values, missing=missing)
        self.everything = []

    def update(self, x):
        super().update(x)
        self.everything.append(x)

    @property
    def state(self):
        return {**super().state, "everything": list(self.everything)}

    @state.setter
    def state(self, state):
        Fixed.state.fset(self, state)
        self.everything = list(state["everything"])

    def merge(self, later):
        joined = super().merge(later)
        twin = Greedy(self.values)
        twin.state = {**joined.state, "everything": self.everything + later.everything}
        return twin


@pytest.mark.parametrize(
    ("grid", "sentence"),
    [
        (Unstable([1.0, 2.0]), "different points"),
        (Descending([1.0, 2.0]), "ascending order"),
        (Untruthful(5, 20), "span says"),
        (Greedy([1.0, 2.0]), "grows with the stream"),
    ],
)
def test_what_breaks_a_law_is_found(grid, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_grid(grid, np.random.default_rng(1).normal(size=60).tolist())


def test_without_values_there_is_nothing_to_check():
    with pytest.raises(ValueError, match="some values"):
        check_grid(MinMax(), [])


def test_a_class_made_inside_a_function_can_be_checked():
    class Local(MinMax):
        pass

    check_grid(Local(5, window=20), [k % 17 / 4 for k in range(60)])
