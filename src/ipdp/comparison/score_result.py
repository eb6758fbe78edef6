"""Why the mean prediction moved, as a result."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ipdp.core.curve import feature_text
from ipdp.core.jsonable import readable
from ipdp.core.typing import Feature, Label, State
from ipdp.core.words import few_digits, harmless, signed

# A part below this share of the largest is not listed.
_SMALL = 0.05
# What is left of differences that are 0, as a share of the numbers.
_ROUNDING = 1e-9
# What the rest is called.
_TOGETHER = "features together"
# Of the spread of the predictions: a move below this is none to speak of.
_NOTHING = 1e-9


@dataclass(frozen=True)
class ScorePart:
    """What one feature did to the mean prediction.

    Attributes
    ----------
    feature
        Its name.
    data
        By what the mean prediction moved because the values of the feature moved.
    model
        By what it moved because the model makes something else of the feature.

    Examples
    --------
    >>> from ipdp.comparison import ScorePart
    >>> ScorePart("age", data=0.25, model=-0.1).total
    0.15
    """

    feature: Feature
    data: float
    model: float

    @property
    def total(self) -> float:
        """Both together."""
        return self.data + self.model

    @property
    def size(self) -> float:
        """How large both are, whatever their signs."""
        return abs(self.data) + abs(self.model)


@dataclass(frozen=True)
class ScoreMove:
    """Why the mean prediction moved from a to b: parts that add up to the move.

    Attributes
    ----------
    names
        What a and b are called.
    output, output_text
        Which output, and what its numbers are.
    before, after
        The mean prediction of a and of b, each with the weights of its curves.
    std
        Standard deviation of the predictions, the larger one of both.
    parts
        A `ScorePart` for each feature, the largest first.
    level
        What the model says otherwise of all observations alike.
    rest
        What features did together, and no curve of one of them tells.
    same_model
        Whether it was known that the model is the same; then all is the data's.
    follows_all
        Whether every feature has a curve; else what those without did is in level and rest.

    Examples
    --------
    >>> import numpy as np, ipdp
    >>> X = np.random.default_rng(1).uniform(size=(1_000, 2))
    >>> models = lambda x: x["u"] + x["v"], lambda x: x["u"] + 3 * x["v"]
    >>> one, other = (ipdp.partial_dependence(m, X, names=["u", "v"]) for m in models)
    >>> found = ipdp.score_move(one, other, names=("old", "new"))
    >>> found
    The mean prediction moved from 1 in old to 2.01 in new, by +1.01 (1.09 standard deviations).
        v  +0.991 (model +0.991)
        (the other 3 parts: +0.0187 together)
    >>> round(found.severity, 2)
    1.09
    """

    names: tuple[str, str]
    output: Label
    output_text: str
    before: float
    after: float
    std: float
    parts: list[ScorePart]
    level: float
    rest: float
    same_model: bool = False
    follows_all: bool = True

    @property
    def move(self) -> float:
        """By what the mean prediction moved."""
        return self.after - self.before

    @property
    def severity(self) -> float:
        """The size of the move in standard deviations of the predictions; NaN if these are 0."""
        return abs(self.move) / self.std if self.std > 0 else float("nan")

    def __getitem__(self, feature: Feature) -> ScorePart:
        """The part of one feature."""
        for part in self.parts:
            if part.feature == feature:
                return part
        raise KeyError(feature)

    @property
    def rest_text(self) -> str:
        """What the rest is called."""
        return _TOGETHER if self.follows_all else f"{_TOGETHER}, or without a curve"

    def rows(self) -> list[tuple[str, float, float, float]]:
        """A name, a data part, a model part and both for each bar of the waterfall."""
        found = [(feature_text(p.feature), p.data, p.model, p.total) for p in self.parts]
        if not self.same_model:
            found.append(("level", 0.0, self.level, self.level))
        return [*found, (self.rest_text, self.rest, 0.0, self.rest)]

    def summary(self) -> str:
        """Why the score moved: a sentence, and a line for each part that is not small."""
        return "\n".join([self._sentence(), *self._lines()])

    def _sentence(self) -> str:
        a, b = self.names
        on = self.output_text
        if abs(self.move) <= _NOTHING * max(self.std, abs(self.before)):
            return f"The mean {on} is {few_digits(self.after)} in {b}, as in {a}."
        deviations = f" ({few_digits(self.severity)} standard deviations)" if self.std > 0 else ""
        return (
            f"The mean {on} moved from {few_digits(self.before)} in {a} to "
            f"{few_digits(self.after)} in {b}, by {signed(self.move)}{deviations}."
        )

    def _lines(self) -> list[str]:
        rows = self.rows()
        least = _SMALL * max(abs(self.move), *(abs(row[3]) for row in rows))
        shown = [row for row in rows if max(map(abs, row[1:])) > least]
        wide = max((len(row[0]) for row in shown), default=0)
        lines = [f"    {name:{wide}}  {_what(name, *rest)}" for name, *rest in shown]
        n = len(rows) - len(shown)
        left = sum(row[3] for row in rows if row not in shown)
        if n and abs(left) > least / 10:
            lines.append(f"    (the other {n} parts: {signed(left)} together)")
        return lines

    def plot(self, ax: Any = None, *, backend: str = "matplotlib") -> Any:
        """Draw the move as a waterfall; see `ipdp.plot.ScoreMoveDisplay`.

        Returns
        -------
        An `ipdp.plot.ScoreMoveDisplay`; with `backend="plotly"` a `plotly.graph_objects.Figure`.
        """
        from ipdp.plot import ScoreMoveDisplay

        return ScoreMoveDisplay(self).plot(ax, backend=backend)

    def to_frame(self, backend: Any = "pandas") -> Any:
        """A row for each feature, and for level and rest.

        Parameters
        ----------
        backend
            Library of the frame, as narwhals names it: "pandas", "polars" or "pyarrow".
        """
        import narwhals as nw

        columns = list(zip(*self.rows(), strict=True))
        named = dict(zip(("part", "data", "model", "total"), map(list, columns), strict=True))
        return nw.from_dict(named, backend=backend).to_native()

    def to_dict(self) -> State:
        """A JSON-safe dict."""
        plain = {
            **asdict(self),
            "parts": [
                {**asdict(part), "feature": feature_text(part.feature), "total": part.total}
                for part in self.parts
            ],
            "output": self.output,
            "move": self.move,
            "severity": self.severity,
            "summary": self.summary(),
        }
        return {"version": 1, **readable(plain)}

    def __repr__(self) -> str:
        return harmless(self.summary())


def _what(name: str, data: float, model: float, total: float) -> str:
    if name == "level":
        return f"{signed(total)} (the model, for all observations alike)"
    if name.startswith(_TOGETHER):
        return f"{signed(total)} (what no curve of one feature tells)"
    least = _ROUNDING * max(abs(data), abs(model))
    if abs(model) <= least:
        return f"{signed(total)} (data)" if total else "0"
    parts = f"data {signed(data)}, " if abs(data) > least else ""
    parts += f"model {signed(model)}"
    return f"{signed(total)} ({parts})"
