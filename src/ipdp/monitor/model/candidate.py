"""A candidate for a change of the model: its answers of before and now, compared and described."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ipdp.core.curve import Curve
from ipdp.core.typing import FeatureName, FloatArray, Label
from ipdp.monitor.change import Change, extent
from ipdp.monitor.model.answers import Answers

# With fewer observations from before a change the two models are not compared.
FEWEST = 8


class Compared(NamedTuple):
    """The answers about one feature, then and now, of the observations from before a change."""

    before: Answers
    output: int
    size: float  # root mean square of the mean difference of the centred curves
    hidden: float  # the same of the differences of single observations
    errors: float  # the largest mean difference in standard errors

    @classmethod
    def at(cls, answers: Answers, output: int, last: int | None = None) -> Compared | None:
        """Compare on the observations before the change, whose last one is found if not given.

        None if there are too few of them.
        """
        difference = answers.difference[:, output]
        if last is None:
            n_before = _divided(np.sqrt((difference**2).mean(axis=1)))
        else:
            n_before = int(np.searchsorted(answers.numbers, last, "right"))
        if n_before < FEWEST:
            return None
        difference = difference[:n_before]
        mean, variance = difference.mean(axis=0), difference.var(axis=0, ddof=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            errors = np.abs(mean) / np.sqrt(variance / n_before)
        errors = np.where(np.abs(mean) > 1e-12, errors, 0.0)
        size = max(float((mean**2 - variance / n_before).mean()), 0.0) ** 0.5
        hidden = float((difference**2).mean()) ** 0.5
        before = answers.of(slice(n_before))
        return cls(before, output, size, hidden, float(errors.max()))

    @property
    def std(self) -> float:
        """Standard deviation of the earlier answers, over observations and places."""
        return float(self.before.then[:, self.output].std())

    @property
    def last(self) -> int:
        """The number of the last observation before the change."""
        return int(self.before.numbers[-1])

    @property
    def difference(self) -> FloatArray:
        """The mean difference of the centred curves, (n_places,)."""
        return np.asarray(self.before.difference[:, self.output].mean(axis=0))

    def sizes(self) -> dict[str, float]:
        """The largest difference, in units of the output and in standard errors."""
        each = self.before.difference[:, self.output]
        mean, error = each.mean(axis=0), each.std(axis=0, ddof=1) / len(each) ** 0.5
        largest = int(np.abs(mean).argmax())
        size = float(abs(mean[largest]))
        return {
            "size": size,
            "size_in_errors": size / float(error[largest]) if error[largest] > 0 else np.inf,
        }

    @property
    def where(self) -> tuple[Any, ...]:
        """The part of the axis that changed most."""
        return extent(self.before.places, self.difference)

    def curves(
        self, feature: FeatureName, output: Label, began: float, t: float
    ) -> tuple[Curve, Curve]:
        """The mean of what the model said of the observations, and of what it says now."""
        before, now = (
            self._curve(feature, output, values[:, self.output], time)
            for values, time in ((self.before.then, began), (self.before.now, t))
        )
        return before, now

    def _curve(self, feature: FeatureName, output: Label, values: FloatArray, time: float) -> Curve:
        n, places = len(values), self.before.places
        return Curve(
            feature=feature,
            outputs=(output,),
            grid_values=[places],
            average=values.mean(axis=0)[None],
            std_error=(values.std(axis=0, ddof=1) / n**0.5)[None],
            n_samples=n,
            n_effective_points=np.full(len(places), float(n)),
            categorical=(places.dtype == object,),
            t=time,
        )

    def to_change(self, feature: FeatureName, label: Label, t: float, **rest: Any) -> Change:
        """The change to be reported; the rest are attributes that the answers do not show."""
        began = float(self.before.times[-1])
        before, after = self.curves(feature, label, began, t)
        level = self.before.now[:, self.output] - self.before.then[:, self.output]
        return Change(
            feature=feature,
            output=label,
            t=t,
            began=began,
            before=before,
            after=after,
            **{"where": self.where, **self.sizes(), **rest},
            level=float(level.mean()),
            n_asked=len(self.before.numbers),
        )


def _divided(sizes: FloatArray) -> int:
    """How many of the observations, oldest first, are from before the model changed.

    What is stored after a change is answered as it was: the cut divides large differences from
    small ones best. All are from before it if none can be found.
    """
    n = np.arange(1, len(sizes))
    if len(sizes) <= FEWEST:
        return len(sizes)
    sums = sizes.cumsum()
    older, newer = sums[:-1] / n, (sums[-1] - sums[:-1]) / (len(sizes) - n)
    gain = np.where(older > newer, n * (len(sizes) - n) * (older - newer) ** 2, 0.0)
    gain[: FEWEST - 1] = 0.0
    best = int(gain.argmax())
    # A part that is small by chance is not all that has come after a change.
    return best + 1 if gain[best] > 0 and newer[best] < 0.5 * older[best] else len(sizes)
