"""The paper's loan decisions: a real drift of the rule, then a virtual one of the salaries."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

from river.datasets import synth

from ipdp.core.validation import as_number, listed
from ipdp.core.words import shown
from ipdp.datasets.drift import Drift, DriftStream

# Features of the generator that a rule reads, in the order that it takes them.
_FEATURES = ("salary", "commission", "age", "elevel", "car", "zipcode", "hvalue", "hyears", "loan")


class AgrawalDrift(DriftStream):
    """Loan decisions of the Agrawal generator with a real and a virtual drift.

    First the rule changes: in the paper from one of age and education (river's classification
    function 2) to one of age and salary (function 1). Then salaries rise, each by a factor drawn
    between 1 and `stretch`, while the rule stays.

    Parameters
    ----------
    position, width
        When the rule changes and how long it takes; see `ipdp.datasets.drift.Drift`.
    functions
        The rules before and after, numbered as in river's `Agrawal`.
    stretch
        Largest factor by which a salary rises; 1 for no virtual drift.
    stretch_position, stretch_width
        When salaries rise and how long it takes.
    relabel
        Whether the decision is made on the risen salary, so that the drift is virtual. False
        keeps the decision of the salary before it rose, as the script of the paper's authors does:
        then the rule as seen from the data changes as well.
    n_samples
        Where the stream ends; None: never.
    seed
        Start of the random numbers; None for other ones each time.

    Examples
    --------
    >>> from ipdp.datasets import AgrawalDrift
    >>> stream = AgrawalDrift(position=2, stretch_position=3, seed=42)
    >>> for x, y in stream.take(4):
    ...     print(round(x["salary"]), x["age"], x["elevel"], y)
    103125 21 2 0
    135983 25 4 0
    98262 55 1 1
    137041 68 1 0
    """

    def __init__(
        self,
        position: float = 10_000,
        width: float = 0,
        *,
        functions: tuple[int, int] = (2, 1),
        stretch: float = 1.3334,
        stretch_position: float = 20_000,
        stretch_width: float = 0,
        relabel: bool = True,
        n_samples: int | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(position, width, n_features=len(_FEATURES), n_samples=n_samples, seed=seed)
        known = listed("functions", functions)
        if len(known) != 2 or any(function not in range(10) for function in known):
            raise ValueError(f"functions must be two numbers from 0 to 9, got {shown(functions)}")
        if not as_number(stretch) >= 1:
            raise ValueError(f"stretch must be at least 1, got {shown(stretch)}")
        self._salary_drift = Drift(stretch_position, stretch_width)
        self.functions = functions
        self.stretch = stretch
        self.stretch_position = stretch_position
        self.stretch_width = stretch_width
        self.relabel = relabel

    def __iter__(self) -> Iterator[tuple[dict[str, Any], int]]:
        # The drifts have random numbers of their own: people are river's of the same seed.
        rng = random.Random(None if self.seed is None else f"drift {self.seed}")
        for t, (x, _) in enumerate(itertools.islice(synth.Agrawal(seed=self.seed), self.n_samples)):
            function = self.functions[self._drift.happened(t, rng)]
            risen = x["salary"]
            if self._salary_drift.happened(t, rng):
                risen *= rng.uniform(1, self.stretch)
            y = self.decide(function, {**x, "salary": risen if self.relabel else x["salary"]})
            yield {**x, "salary": risen}, y

    @staticmethod
    def decide(function: int, x: dict[str, Any]) -> int:
        """What a rule says of an observation.

        Parameters
        ----------
        function
            Number of the rule, from 0 to 9.
        x
            The observation, with all nine features.
        """
        rule = getattr(synth.Agrawal, f"_classification_function_{function}")
        return int(rule(*(x[name] for name in _FEATURES)))
