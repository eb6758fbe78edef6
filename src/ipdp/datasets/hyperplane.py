"""The paper's hyperplane: two features that change their roles."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipdp.core.typing import FloatArray
from ipdp.core.validation import as_number, listed
from ipdp.core.words import shown
from ipdp.datasets.drift import DriftStream

FEATURES = ("x1", "x2")


@dataclass(frozen=True)
class Plane:
    """One concept of `Hyperplane`.

    Attributes
    ----------
    means, sds
        Mean and standard deviation of the two features, which are normal.
    betas
        Their coefficients.

    Examples
    --------
    >>> from ipdp.datasets import Plane
    >>> Plane(means=(0, 5), sds=(1, 1), betas=(1, -1))
    Plane(means=(0, 5), sds=(1, 1), betas=(1, -1))
    """

    means: tuple[float, float]
    sds: tuple[float, float]
    betas: tuple[float, float]

    def __post_init__(self) -> None:
        if min(self.sds) < 0:
            raise ValueError(f"standard deviations must not be negative, got {self.sds}")


BEFORE = Plane(means=(100.0, 200.0), sds=(20.0, 40.0), betas=(1.0, -0.5))
AFTER = Plane(means=(200.0, 100.0), sds=(40.0, 20.0), betas=(-0.5, 1.0))


class Hyperplane(DriftStream):
    """Points on either side of a plane that turns round, while the data move.

    The class is 1 where 1 / (1 + exp(-z)) >= `threshold`, for z = beta1 x1 + beta2 x2 + error, all
    three normal. With the drift means, standard deviations and coefficients of both features are
    swapped: x1 moves from about 100 to about 200, and its effect turns from rising to falling.

    Parameters
    ----------
    position, width
        When the drift happens and how long it takes; see `ipdp.datasets.drift.Drift`.
    before, after
        The two concepts.
    threshold
        Between 0 and 1, tau in the paper.
    error
        Mean and standard deviation of the error. The paper does not give them; these are those of
        its authors' script, whose standard deviations of the features (20 and 40, where the text
        has variances) are used here too.
    n_samples, seed
        As in `AgrawalDrift`.

    Examples
    --------
    >>> from ipdp.datasets import Hyperplane
    >>> stream = Hyperplane(position=2, seed=42)
    >>> for x, y in stream.take(4):
    ...     print({name: round(value) for name, value in x.items()}, y)
    {'x1': 116, 'x2': 205} 1
    {'x1': 132, 'x2': 213} 1
    {'x1': 228, 'x2': 103} 0
    {'x1': 200, 'x2': 85} 0
    >>> stream.partial_dependence("x1", [80.0, 120.0]).round(3)
    array([0.261, 0.913])
    """

    def __init__(
        self,
        position: float = 20_000,
        width: float = 0,
        *,
        before: Plane = BEFORE,
        after: Plane = AFTER,
        threshold: float = 0.1,
        error: tuple[float, float] = (5.0, 1.0),
        n_samples: int | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(position, width, n_features=len(FEATURES), n_samples=n_samples, seed=seed)
        if not 0 < as_number(threshold) < 1:
            raise ValueError(f"threshold must be in (0, 1), got {shown(threshold)}")
        mean_and_deviation = [as_number(each) for each in listed("error", error)]
        if len(mean_and_deviation) != 2 or not mean_and_deviation[1] >= 0:
            raise ValueError(
                "error must be a mean and a standard deviation that is not negative, got "
                f"{shown(error)}"
            )
        self.before, self.after = before, after
        self.threshold, self.error = threshold, error

    def __iter__(self) -> Iterator[tuple[dict[str, Any], int]]:
        rng = random.Random(self.seed)
        for t in itertools.count() if self.n_samples is None else range(self.n_samples):
            plane = self.after if self._drift.happened(t, rng) else self.before
            x1, x2 = map(rng.gauss, plane.means, plane.sds)
            z = plane.betas[0] * x1 + plane.betas[1] * x2 + rng.gauss(*self.error)
            yield {"x1": x1, "x2": x2}, int(z >= self._cut)

    @property
    def _cut(self) -> float:
        # 1 / (1 + exp(-z)) >= threshold, solved for z.
        return math.log(self.threshold / (1 - self.threshold))

    def partial_dependence(self, feature: str, values: Any, *, drifted: bool = False) -> FloatArray:
        """The partial dependence of the concept itself: P(class 1) at these values.

        Parameters
        ----------
        feature
            "x1" or "x2".
        values
            Where on its axis.
        drifted
            Whether the concept after the drift is meant.
        """
        if feature not in FEATURES:
            raise ValueError(f"feature must be one of {', '.join(FEATURES)}, got {shown(feature)}")
        plane = self.after if drifted else self.before
        own = FEATURES.index(feature)
        other = 1 - own
        mean = plane.betas[other] * plane.means[other] + self.error[0] - self._cut
        sd = math.hypot(plane.betas[other] * plane.sds[other], self.error[1])
        scores = (plane.betas[own] * np.asarray(values, dtype=float) + mean) / sd
        shares = [0.5 * math.erfc(-score / math.sqrt(2)) for score in scores.ravel().tolist()]
        return np.array(shares).reshape(scores.shape)
