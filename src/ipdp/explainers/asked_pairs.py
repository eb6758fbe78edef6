"""What an explainer of curves can say of pairs of features, by asking the model once more."""

from __future__ import annotations

from abc import abstractmethod

from ipdp.core.errors import NotEnoughSamples
from ipdp.core.interactions import Interactions
from ipdp.core.typing import Feature, FeatureName, FloatArray, Label
from ipdp.core.validation import unknown, whole_number
from ipdp.core.words import shown
from ipdp.explainers.base import Explainer
from ipdp.explainers.h_statistic import asked_h
from ipdp.explainers.interactions import strongest_pairs
from ipdp.explainers.state.curve_memory import CurveMemory
from ipdp.explainers.state.following import following
from ipdp.explainers.state.targets import as_features
from ipdp.explainers.turns import in_turn


class AskedPairs(Explainer):
    """Friedman's H, the search for the strongest pairs, and their promotion."""

    @abstractmethod
    def _number_of(self, feature: Feature | list[FeatureName]) -> int:
        """The number of a feature among those that are followed, or an error."""

    @abstractmethod
    def _must_have_past(self, what: str) -> None:
        """Raise if no past observations are kept."""

    @in_turn
    def h_statistic(self, pair: tuple[FeatureName, FeatureName]) -> FloatArray:
        """Friedman's H² of a pair that is followed, of the model as it is now, for each output.

        The share of the variance of what the two features do that is not in the sum of their own
        curves: 0 if their effects add up, 1 if neither has one of its own.

        Parameters
        ----------
        pair
            Two names that the explainer follows as a pair, and each alone.

        Notes
        -----
        The model is asked some 100,000 times, at the values that the pair really had.
        `Curve.h_squared`, which costs none, is that of the surface as it is drawn, by lines between
        its points; for a model with steps, as of trees, it is smaller.

        Examples
        --------
        >>> import random, ipdp
        >>> model = lambda x: x["a"] * x["b"] + x["a"] + x["b"]
        >>> pdp = ipdp.IncrementalPDP(model, ["a", "b", ("a", "b")], alpha=None)
        >>> draws = random.Random(1)
        >>> for _ in range(500):
        ...     pdp.explain_one({"a": draws.uniform(-1, 1), "b": draws.uniform(-1, 1)})
        >>> pdp.h_statistic(("a", "b")).round(1)
        array([0.1])
        """
        number = self._number_of(pair)
        if not self._memory.targets[number].is_pair:
            raise ValueError(f"H is about two features, got {shown(pair)}")
        self._must_have_past("Friedman's H")
        return asked_h(self._memory, self.engine, number)

    @in_turn
    def interactions(
        self, n: int = 10, *, output: Label | None = None, budget: int | None = None
    ) -> Interactions:
        """The strongest interactions between any two features of the observations, followed or not.

        The model as it is now is asked about some past observations with values of each other;
        nothing of the explainer changes.

        Parameters
        ----------
        n
            How many pairs to give, at most.
        output
            The output of the model that is meant; by default the second of two classes, or else the
            one that varies most.
        budget
            How many predictions it may take; by default as many as the curves of the single
            features take for the past observations that are kept (`n_past`).

        Examples
        --------
        >>> import random, ipdp
        >>> pdp = ipdp.IncrementalPDP(lambda x: x["a"] * x["b"] + 3 * x["c"], seed=1)
        >>> draws = random.Random(1)
        >>> for _ in range(300):
        ...     pdp.explain_one({name: draws.gauss(0, 1) for name in "abc"})
        >>> pdp.interactions().pairs
        [('a', 'b')]
        """
        self._must_have_past("a search for interactions")
        if self._memory is None:
            raise NotEnoughSamples("no observation yet: call explain_one first")
        return strongest_pairs(
            self._memory,
            self.engine,
            n=whole_number("n", n),
            output=output,
            budget=None if budget is None else whole_number("budget", budget),
        )

    @in_turn
    def follow(self, pair: tuple[FeatureName, FeatureName]) -> None:
        """Follow a pair of features from now on, such as one that `interactions` has found.

        It has a surface of its own from the next observation on, with its own count of them; all
        else goes on as it was. States, merged explainers and runs have it as if it had been given
        at the start. A pair that is followed already stays as it is.

        Parameters
        ----------
        pair
            Two of the features that the explainer follows.

        Examples
        --------
        >>> import random, ipdp
        >>> pdp = ipdp.IncrementalPDP(lambda x: x["a"] * x["b"] + x["c"], seed=1)
        >>> draws = random.Random(1)
        >>> for t in range(600):
        ...     if t == 300:
        ...         pdp.follow(pdp.interactions()[0].pair)
        ...     pdp.explain_one({name: draws.gauss(0, 1) for name in "abc"})
        >>> pdp.curve(("a", "b")).n_samples
        300
        """
        memory = self._memory
        if memory is None:
            raise NotEnoughSamples("no observation yet: give the pair among the features")
        if type(memory) is not CurveMemory:
            raise ValueError(
                "a pair can be promoted without groups and regions only: give it among the features"
            )
        [wanted] = as_features([pair])
        if not isinstance(wanted, tuple):
            raise ValueError(f"a pair is two features, got {shown(pair)}")
        for name in wanted:
            if name not in memory.grids:
                raise ValueError(unknown("feature", name, list(memory.grids)))
        if wanted not in [target.feature for target in memory.targets]:
            self._memory = following(memory, (wanted[0], wanted[1]))
