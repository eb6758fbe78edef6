"""The importance of a feature as one number: the result of explainers without curves."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TypeAlias

from ipdp.core import schema
from ipdp.core.curve import Curve
from ipdp.core.jsonable import readable
from ipdp.core.student_t import student_quantile
from ipdp.core.typing import Feature, State
from ipdp.core.validation import checked_level


@dataclass(frozen=True)
class Importance:
    """The importance of a feature, or of a pair, at one time.

    Attributes
    ----------
    feature
        Name of the feature, or a tuple of two names.
    value
        How much it matters, in the units of whoever computed it (for permutation importance, those
        of the loss); negative where the model does better without the feature.
    std_error
        Standard error of `value`, with the dependence between observations; NaN where it rests on
        one of them.
    n_samples
        Number of observations that were explained.
    n_effective
        How many independent observations it is worth.
    t
        Time of the snapshot: number of observations seen, or the time given by the user.

    Examples
    --------
    >>> importance = Importance("age", 0.3, std_error=0.05, n_samples=500, n_effective=400.0)
    >>> low, high = importance.band()
    >>> round(low, 2), round(high, 2)
    (0.2, 0.4)
    """

    feature: Feature
    value: float
    std_error: float
    n_samples: int
    n_effective: float
    t: float | None = None

    @property
    def overall_importance(self) -> float:
        """The `value`, by the name that a `Curve` has for its own."""
        return self.value

    def band(self, level: float = 0.95) -> tuple[float, float]:
        """Confidence bound of the importance, lower and upper end.

        Parameters
        ----------
        level
            Probability with which it is to cover the importance, while model and data do not
            change.
        """
        level = checked_level(level)
        half = float(student_quantile((1 + level) / 2, self.n_effective - 1)) * self.std_error
        return self.value - half, self.value + half

    def to_dict(self) -> State:
        """A JSON-safe dict; `from_dict` gives the importance back."""
        return {**{name: readable(value) for name, value in asdict(self).items()}, "version": 1}

    @classmethod
    def from_dict(cls, state: State) -> Importance:
        """The importance that gave this dict."""
        schema.check(state)
        schema.must_be_version("an importance", state.get("version"), 1)
        values = {name: value for name, value in state.items() if name != "version"}
        with schema.intact("the importance"):
            if isinstance(values["feature"], list):
                values["feature"] = tuple(values["feature"])
            if values["std_error"] is None:
                values["std_error"] = float("nan")
            return cls(**values).checked()

    def checked(self) -> Importance:
        """The same, or an error if it cannot be what was saved."""
        number = schema.number
        schema.check(vars(self), value=number, n_samples=schema.count, n_effective=number)
        schema.check(vars(self), t=schema.maybe(number))
        names = self.feature if isinstance(self.feature, tuple) else (self.feature,)
        is_error = isinstance(self.std_error, float | int) and not self.std_error < 0
        if not is_error or not all(map(schema.name.fits, names)):
            raise ValueError("the state is damaged: it is no importance of a feature")
        return self


Result: TypeAlias = Curve | Importance
"""The result of an explainer for one feature: log, page and metrics take any of them."""
