"""The strongest interactions of a model, as they were found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, overload

from ipdp.core.curve import feature_text
from ipdp.core.curve_frame import frame_of
from ipdp.core.importance import Importance, Result
from ipdp.core.typing import Feature, FeatureName, Label
from ipdp.core.words import brief, few_digits, harmless, percent

RESULTS = "interactions"
"""Under this name they are among the results of a run's explainers, in its log."""
# From so many standard errors on a pair that was logged is one that was found.
_FOUND = 2.0
# So many letters of a pair's name are written.
_NAME = 40


class Interaction(NamedTuple):
    """How much two features do together.

    Attributes
    ----------
    pair
        Their names.
    strength
        The standard deviation of what they do together, alone or with further features, in the
        units of the predictions, as `Curve.importance` is.
    std_error
        Standard error of it.
    share
        The same as a share of the variance of the predictions. Shares of pairs that have a feature
        in common may overlap, and one may be above 1 where features depend on each other.
    n_asked
        How many pairs of observations it rests on.
    """

    pair: tuple[FeatureName, FeatureName]
    strength: float
    std_error: float
    share: float
    n_asked: int


@dataclass(frozen=True, eq=False)
class Interactions(Sequence[Interaction]):
    """The strongest pairs of features, the strongest first: a sequence of `Interaction`.

    Empty where the effects of all features add up.

    Attributes
    ----------
    found
        The pairs.
    others
        Further pairs that were measured, less precisely, as they seemed to be weaker.
    output
        The output of the model that is meant.
    n_predictions
        How many predictions it took.
    t
        Time of the last observation.

    Examples
    --------
    >>> found = Interactions((Interaction(("a", "b"), 2.0, 0.1, 0.5, 100),), (), "prediction", 640)
    >>> found
    1 pair, of prediction (640 predictions)
      a*b  2 ± 0.1  50 % of the variance
    >>> found[0].pair
    ('a', 'b')
    """

    found: tuple[Interaction, ...]
    others: tuple[Interaction, ...]
    output: Label
    n_predictions: int
    t: float | None = None

    @overload
    def __getitem__(self, k: int) -> Interaction: ...
    @overload
    def __getitem__(self, k: slice) -> tuple[Interaction, ...]: ...
    def __getitem__(self, k: int | slice) -> Interaction | tuple[Interaction, ...]:
        return self.found[k]

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[Interaction]:
        return iter(self.found)

    @property
    def pairs(self) -> list[tuple[FeatureName, FeatureName]]:
        """The pairs alone; `pdp.follow(found.pairs[0])` follows the strongest from now on."""
        return [one.pair for one in self.found]

    def to_frame(self, backend: Any = "pandas") -> Any:
        """A frame with a row for each pair.

        Parameters
        ----------
        backend
            Library of the frame, as narwhals names it: "pandas", "polars" or "pyarrow".

        Returns
        -------
        A frame with the columns `first`, `second`, `strength`, `std_error`, `share`, `n_asked`.
        """
        columns: dict[str, list[Any]] = {
            "first": [one.pair[0] for one in self.found],
            "second": [one.pair[1] for one in self.found],
        }
        for name in ("strength", "std_error", "share", "n_asked"):
            columns[name] = [getattr(one, name) for one in self.found]
        return frame_of(columns, backend)

    def results(self, n_samples: int) -> dict[Feature, Importance]:
        """All pairs as results that a log takes; `of_results` gives them back."""
        return {
            one.pair: Importance(
                one.pair, one.strength, one.std_error, n_samples, float(one.n_asked), self.t
            )
            for one in (*self.found, *self.others)
        }

    @classmethod
    def of_results(
        cls, results: Mapping[Feature, Result], output: Label, variance: float
    ) -> Interactions:
        """The pairs that were logged, of an output with this variance of the predictions."""
        pairs = [
            Interaction(
                (found.feature[0], found.feature[1]),
                found.value,
                found.std_error,
                found.value**2 / variance if variance > 0 else float("nan"),
                round(found.n_effective),
            )
            for found in results.values()
            if isinstance(found, Importance) and isinstance(found.feature, tuple)
        ]
        pairs.sort(key=lambda one: -one.strength)
        is_found = [one.strength > _FOUND * one.std_error for one in pairs]
        sides = [
            tuple(one for one, known in zip(pairs, is_found, strict=True) if known == wanted)
            for wanted in (True, False)
        ]
        return cls(sides[0], sides[1], output, 0, next((r.t for r in results.values()), None))

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw a heat map; see `ipdp.plot.InteractionDisplay.plot` for the options.

        Returns
        -------
        An `ipdp.plot.InteractionDisplay`; with `backend="plotly"` a `plotly.graph_objects.Figure`.
        """
        from ipdp.plot import InteractionDisplay

        return InteractionDisplay(self).plot(ax=ax, **options)

    def __repr__(self) -> str:
        cost = f"({self.n_predictions:,} predictions)"
        if not self.found:
            return harmless(f"no interaction: the effects on {self.output} add up {cost}")
        names = [_shortened(feature_text(one.pair)) for one in self.found]
        width = max(map(len, names))
        lines = [
            f"  {name:<{width}}  {few_digits(one.strength)} ± {brief(one.std_error)}  "
            f"{percent(one.share)} of the variance"
            for name, one in zip(names, self.found, strict=True)
        ]
        n = len(self.found)
        return harmless("\n".join([f"{n} pair{'s' * (n > 1)}, of {self.output} {cost}", *lines]))


def _shortened(name: str) -> str:
    return name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"
