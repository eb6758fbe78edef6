"""What came of a comparison."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ipdp.comparison.difference import Difference, Verdict, number
from ipdp.core.curve import feature_text
from ipdp.core.jsonable import readable
from ipdp.core.typing import Feature, State
from ipdp.core.words import harmless


@dataclass(frozen=True, eq=False)
class Comparison:
    """Whether two sides, a and b, say the same of each feature.

    Attributes
    ----------
    names
        What a and b are called.
    differences
        For each feature and output how they differ, a `Difference` each, in the order of a.
    level
        Probability with which none of the bands is left by chance.
    moved
        Features whose recent values are others in b than in a, and how.
    only
        Features that only a has, and only b.
    notes
        What is assumed, and what is not to be trusted yet, a sentence each.

    Examples
    --------
    >>> import numpy as np, ipdp
    >>> X = np.random.default_rng(1).normal(size=(1_000, 2))
    >>> models = lambda x: x["u"] + x["v"], lambda x: x["u"] + 2 * x["v"]
    >>> one, other = (ipdp.partial_dependence(m, X, names=["u", "v"]) for m in models)
    >>> found = ipdp.compare(one, other, names=("old", "new"))
    >>> found
    Comparison of new with old, at 95%: 1 of 2 features different
        v  different: its effect on the prediction by up to 2.41, over 100 standard errors
        (the model)
        u  alike: the effect differs by at most 0 (margin 0.189)
        (the observations of both are taken for independent)
    >>> found["u"].verdict
    'alike'
    """

    names: tuple[str, str]
    differences: list[Difference]
    level: float
    moved: dict[Feature, str] = field(default_factory=dict)
    only: tuple[list[Feature], list[Feature]] = ([], [])
    notes: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> Verdict:
        """Whether anything is different, or everything alike; else one cannot say."""
        if self.different:
            return "different"
        both = [v for each in self.differences for v in (each.verdict, each.level_verdict)]
        return "alike" if all(v == "alike" for v in both) else "cannot say"

    @property
    def different(self) -> list[Difference]:
        """The differences in shape or level that are some, those in shape first, the largest first.

        Large is what is large beside its margin.
        """
        found = [each for each in self.differences if each.is_different]
        return sorted(found, key=lambda each: (each.verdict != "different", -_size(each)))

    def __getitem__(self, feature: Feature) -> Difference:
        """The difference of a feature; of several outputs the one that differs most clearly."""
        found = [each for each in self.differences if each.feature == feature]
        if not found:
            raise KeyError(feature)
        return min(found, key=rank)

    @property
    def features(self) -> list[Feature]:
        """The features that were compared."""
        return list(dict.fromkeys(each.feature for each in self.differences))

    @property
    def ranked(self) -> list[Difference]:
        """The difference of each feature, as `self[feature]`: those that differ come first."""
        return sorted((self[feature] for feature in self.features), key=rank)

    def summary(self) -> str:
        """What came of it, a line for each feature."""
        return "\n".join(self._lines())

    @property
    def heading(self) -> str:
        """What was compared, and how many effects differ: the first line of the summary."""
        best = self.ranked
        changed = sum(each.verdict == "different" for each in best)
        said = f"{changed or 'none'} of {len(best)} features different"
        if self.level_verdict == "different":
            said += ", and so is the level" if changed else ", but the level is"
        return f"Comparison of {self.names[1]} with {self.names[0]}, at {self.level:.0%}: {said}"

    def _lines(self) -> list[str]:
        best, lines = self.ranked, [self.heading]
        wide = max(len(feature_text(each.feature)) for each in best)
        for each in best:
            lines.append(f"    {feature_text(each.feature):{wide}}  {_line(each)}")
        return lines + [f"    {remark}" for remark in self.remarks]

    @property
    def remarks(self) -> list[str]:
        """What is to be said of no single feature, a line each: level, data, what is assumed."""
        found = [self.level_text] if self.level_text else []
        found += [f"values of {feature_text(f)} moved: {how}" for f, how in self.moved.items()]
        for side, names in zip(self.names, self.only, strict=True):
            if names:
                found.append(f"only in {side}: {', '.join(map(feature_text, names))}")
        return found + [f"({note})" for note in self.notes]

    @property
    def level_verdict(self) -> Verdict:
        """Of the level: "different" if it is for any feature, "alike" if it is for all."""
        said = {each.level_verdict for each in self.differences}
        if "different" in said:
            return "different"
        return "alike" if said == {"alike"} else "cannot say"

    @property
    def level_text(self) -> str:
        """How the level differs: the largest, as it is much the same for all features."""
        found = [each for each in self.differences if each.level_verdict == "different"]
        if not found:
            return ""
        most = max(found, key=lambda each: abs(each.level))
        way = "higher" if most.level > 0 else "lower"
        by = {"model": " (the model)", "data": " (the data)", "both": " (model and data)"}
        return (
            f"level of {most.output_text}: {number(abs(most.level))} {way} in {self.names[1]}, "
            f"seen in {len(found)} of {len(self.differences)} curves"
            f"{by.get(most.level_kind or '', '')}"
        )

    def plot(self, ax: Any = None, *, backend: str = "matplotlib") -> Any:
        """Draw both curves of each feature, and their difference with its band.

        Returns
        -------
        An `ipdp.plot.ComparisonDisplay`; with `backend="plotly"` a `plotly.graph_objects.Figure`.
        """
        from ipdp.plot import ComparisonDisplay

        return ComparisonDisplay(self).plot(ax, backend=backend)

    def to_frame(self, backend: Any = "pandas") -> Any:
        """A row for each feature and output.

        Parameters
        ----------
        backend
            Library of the frame, as narwhals names it: "pandas", "polars" or "pyarrow".
        """
        import narwhals as nw

        rows = [_row(each) for each in self.differences]
        return nw.from_dict(
            {name: [row[name] for row in rows] for name in rows[0]}, backend=backend
        ).to_native()

    def to_dict(self) -> State:
        """A JSON-safe dict."""
        return {
            "version": 1,
            "names": list(self.names),
            "level": self.level,
            "verdict": self.verdict,
            "differences": [each.to_dict() for each in self.differences],
            "moved": {feature_text(name): how for name, how in self.moved.items()},
            "only": readable([[feature_text(f) for f in names] for names in self.only]),
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        return harmless(self.summary())


_VERDICTS = ("different", "cannot say", "alike")


def _size(each: Difference) -> float:
    largest = max(each.size, abs(each.level)) if each.shape.size else 0.0
    return largest / each.margin if each.margin > 0 else largest


def rank(each: Difference) -> tuple[int, float]:
    """By what differences are sorted: what is different first, then the largest first."""
    return _VERDICTS.index(each.verdict), -_size(each)


def _line(each: Difference) -> str:
    return each.summary().removeprefix(f"{feature_text(each.feature)}: ")


def _row(each: Difference) -> dict[str, Any]:
    low, high = (each.where or (None, None))[:2] if not each.categorical[0] else (None, None)
    return {
        "feature": feature_text(each.feature),
        "output": str(each.output),
        "verdict": each.verdict,
        "kind": each.kind,
        "size": each.size,
        "size_in_errors": each.size_in_errors,
        "at_most": each.most,
        "where": each.where_text(),
        "from": low,
        "to": high,
        "level": each.level,
        "level_verdict": each.level_verdict,
        "level_kind": each.level_kind,
        "margin": each.margin,
    }
