"""How much of a model its curves tell, in numbers and in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ipdp.core.curve import Curve, feature_text
from ipdp.core.parts import without_parts
from ipdp.core.typing import Feature, FloatArray, Label

LITTLE = 0.5
"""Below this share it is said what the curves do not tell."""


@dataclass(frozen=True, eq=False)
class Explained:
    """The share of the variance of a model's predictions that the sum of its curves accounts for.

    Of the curves of one feature, each centred; pairs do not count. 1 for a model without
    interactions whose features are all followed, 0 for one that the mean describes as well; it is
    negative where correlated features are counted twice.

    Attributes
    ----------
    outputs
        Names of the outputs.
    shares
        For each output its share, of shape (n_outputs,); NaN where that is not known.
    output
        The output that is meant where there is room for one, as in `Curve.main_output`; None
        without outputs.
    strongest
        The feature whose effect differs most between observations, in that output: all its
        interactions together are the strongest. None if that is not known.
    is_complete
        Whether all features of the observations are followed: then what is left are interactions.

    Examples
    --------
    >>> import random, ipdp
    >>> pdp = ipdp.IncrementalPDP(lambda x: x["a"] * x["b"] + x["c"] / 3, alpha=0.01, seed=1)
    >>> draws = random.Random(1)
    >>> for _ in range(1_000):
    ...     pdp.explain_one({name: draws.gauss(0, 1) for name in "abc"})
    >>> 0 < pdp.explained.value < 0.3
    True
    >>> pdp.explained.strongest in ("a", "b")
    True
    """

    outputs: tuple[Label, ...]
    shares: FloatArray
    output: Label | None
    strongest: Feature | None
    is_complete: bool

    @classmethod
    def of(cls, curves: Iterable[Curve]) -> Explained | None:
        """What some curves of one time say of it; None where they say nothing."""
        single = [c for c in curves if len(c.grid_values) == 1 and c.explained is not None]
        single = without_parts(single)
        if not single:
            return None
        first = single[0]
        assert first.explained is not None
        if first.of_classes and len(first.outputs) == 2:
            output = first.outputs[1]
        else:  # the one that some feature matters most to
            best = max(single, key=lambda curve: curve.overall_importance)
            output = best.main_output
        k = 0 if output is None else first.outputs.index(output)
        sizes = [c.interaction[k] if len(c.outputs) > k else np.nan for c in single]
        known = [(size, c.feature) for size, c in zip(sizes, single, strict=True) if size > 0]
        strongest = max(known, key=lambda pair: pair[0])[1] if known else None
        return cls(first.outputs, first.explained, output, strongest, first.follows_all)

    @property
    def value(self) -> float:
        """The share of the main output; NaN where that is not known."""
        return float("nan") if self.output is None else self[self.output]

    def __getitem__(self, output: Label) -> float:
        """The share of one output."""
        return float(self.shares[self.outputs.index(output)])

    @property
    def sentence(self) -> str:
        """The same in words; empty where it is not known."""
        share = self.value
        if np.isnan(share):
            return ""
        text = f"These curves tell {max(round(100 * share), 0)} % of what the model does"
        if share >= LITTLE:
            return f"{text}."
        rest = "interactions" if self.is_complete else "interactions, or features not shown here"
        most = ""
        if self.strongest is not None:
            most = f", most of all those of {feature_text(self.strongest)}"
        return f"{text}; the rest is {rest}{most}."
