"""The difference of two curves of one feature: how large, where, and whether it is one."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple

import numpy as np

from ipdp.comparison.common import Common, between_points, common_points
from ipdp.comparison.errors import Errors
from ipdp.core.curve import Curve, feature_text
from ipdp.core.jsonable import readable
from ipdp.core.student_t import pointwise_level, tail_quantile
from ipdp.core.typing import Array, Feature, FloatArray, Label, State
from ipdp.core.words import brief, few_digits, harmless, signed

Verdict = Literal["different", "alike", "cannot say"]
"""Larger than the margin beyond its error, smaller than it beyond its error, or neither."""

Kind = Literal["model", "data", "both"]
"""What made two curves different: the model, the data that it was asked about, or both."""


# Of the size of a curve, what may be rounding.
_ROUNDING = 1e-9


class Shares(NamedTuple):
    """What of both variances is that of the difference: 1 and 1 for independent data."""

    a: float = 1.0
    b: float = 1.0


@dataclass(frozen=True, eq=False)
class Difference:
    """How the curves of one feature differ in one output: b minus a.

    Attributes
    ----------
    feature, output
        Whose effect on what.
    output_text
        What the numbers of the output are: "chance of True" for a class.
    places
        For each feature its values at the n places that both curves reach; empty without any.
    categorical
        For each feature, whether its values are categories.
    a, b
        Both curves there.
    shape
        Their difference without its mean over the places: of what the feature does.
    std_error, half
        Of `shape`: standard error, and half the width of the band that holds all places, features
        and outputs of the comparison at once.
    level
        The mean difference over the places: of what all other features do.
    level_error, level_half
        The same of the level.
    margin
        A difference that is smaller than this counts as none.
    verdict, level_verdict
        "different", "alike" or "cannot say", of shape and level.
    kind, level_kind
        "model", "data" or "both"; None where nothing differs, or nobody can tell.
    note
        Why nothing can be said, in a few words; empty where it can.

    Examples
    --------
    >>> import ipdp
    >>> data = [{"a": k / 50} for k in range(200)]
    >>> one, other = (ipdp.partial_dependence(lambda x, s=s: s * x["a"], data) for s in (1, -1))
    >>> difference = ipdp.compare(one, other)["a"]
    >>> difference.verdict, difference.kind, round(difference.size, 1)
    ('different', 'model', 3.9)
    """

    feature: Feature
    output: Label
    output_text: str
    places: list[Array]
    categorical: tuple[bool, ...]
    a: FloatArray
    b: FloatArray
    shape: FloatArray
    std_error: FloatArray
    half: FloatArray
    level: float
    level_error: float
    level_half: float
    margin: float
    verdict: Verdict
    level_verdict: Verdict
    kind: Kind | None = None
    level_kind: Kind | None = None
    note: str = ""

    @property
    def size(self) -> float:
        """The largest difference of the shape, in units of the output; NaN without places."""
        return float(np.abs(self.shape).max()) if self.shape.size else math.nan

    @property
    def size_in_errors(self) -> float:
        """The same in standard errors; infinite without an error."""
        if not self.shape.size:
            return math.nan
        error = float(self.std_error[np.abs(self.shape).argmax()])
        if error > 0:
            return self.size / error
        return math.inf if self.size > 0 else 0.0

    @property
    def most(self) -> float:
        """No larger than this is the difference of the shape, at the level of the comparison."""
        return float((np.abs(self.shape) + self.half).max()) if self.shape.size else math.inf

    @property
    def where(self) -> tuple[Any, ...] | None:
        """Where the shape differs: the ends of an interval, or categories; of a pair the place.

        If it is different, where the difference is beyond the margin; else where it is largest.
        None without places.
        """
        if not self.shape.size:
            return None
        size = np.abs(self.shape)
        beyond = size - self.half > self.margin
        if not beyond.any():
            beyond = size == size.max()
        if len(self.places) > 1:
            k = int(np.where(beyond, size, -1.0).argmax())
            return tuple(axis[k] for axis in self.places)
        found = self.places[0][beyond]
        return tuple(found.tolist()) if self.categorical[0] else (found.min(), found.max())

    @property
    def is_different(self) -> bool:
        """Whether shape or level is different."""
        return "different" in (self.verdict, self.level_verdict)

    def where_text(self) -> str:
        """Where the shape differs, in a few words; empty if everywhere."""
        where = self.where
        if where is None:
            return ""
        if len(self.places) > 1 or self.categorical[0]:
            everywhere = len(self.places) == 1 and len(where) == len(self.shape)
            return "" if everywhere else f"at {', '.join(map(_value_text, where))}"
        low, high = where
        return _interval_text(low, high, self.places[0])

    def place_text(self) -> str:
        """For a table: where it differs, "everywhere", or why that is unknown; empty if alike."""
        if self.note or self.verdict == "alike" or self._is_rounding(self.size):
            return self.note
        return self.where_text() or "everywhere"

    def size_texts(self) -> tuple[str, str, str]:
        """For a table: the size, in standard errors, and at most; empty without places."""
        if not self.shape.size:
            return "", "", ""
        sizes = [0.0 if self._is_rounding(size) else size for size in (self.size, self.most)]
        errors = 0.0 if sizes[0] == 0.0 else self.size_in_errors
        said = brief(errors) if errors < 100 else "over 100"
        return number(sizes[0]), said, number(sizes[1])

    def level_text(self) -> str:
        """For a table: the level and half of its band; empty without places."""
        if not self.shape.size:
            return ""
        half = brief(self.level_half) if math.isfinite(self.level_half) else number(math.inf)
        return f"{signed(self.level)} ± {half}"

    def _is_rounding(self, size: float) -> bool:
        return size <= 1e-4 * self.margin

    def summary(self) -> str:
        """One sentence for people."""
        said = [part for part in (self._shape_text(), self._level_text()) if part]
        return f"{feature_text(self.feature)}: {'; '.join(said)}"

    def _shape_text(self) -> str:
        if self.note:
            return f"cannot say ({self.note})"
        size = number(0.0 if self._is_rounding(self.size) else self.size)
        margin = number(self.margin)
        if self.verdict == "alike":
            most = 0.0 if self._is_rounding(self.most) else self.most
            return f"alike: the effect differs by at most {number(most)} (margin {margin})"
        if self.verdict == "cannot say":
            return (
                f"cannot say: the effect differs by {size}, and may by {number(self.most)} "
                f"(margin {margin})"
            )
        on = f"the {self.output_text.removeprefix('effect on the ')}"
        by = f" ({_KINDS[self.kind]})" if self.kind else ""
        where = self.where_text()
        return (
            f"different: its effect on {on} by up to {size}, {_errors_text(self.size_in_errors)}"
            f"{where and f', {where}'}{by}"
        )

    def _level_text(self) -> str:
        if self.level_verdict != "different":
            return ""
        by = f" ({_KINDS[self.level_kind]})" if self.level_kind else ""
        way = "higher" if self.level > 0 else "lower"
        return f"level {number(abs(self.level))} {way}{by}"

    def to_dict(self) -> State:
        """A JSON-safe dict."""
        plain = {item.name: readable(getattr(self, item.name)) for item in fields(self)}
        more = {"size": self.size, "size_in_errors": self.size_in_errors, "where": self.where}
        return {**plain, **readable(more), "summary": self.summary()}

    def __repr__(self) -> str:
        return harmless(f"<Difference of {self.summary()}>")


_KINDS = {"model": "the model", "data": "the data", "both": "model and data"}


def difference(
    a: Curve,
    b: Curve,
    *,
    output: Label,
    margin: float,
    outside: float,
    shares: Shares = Shares(),  # noqa: B008  (a constant)
) -> Difference:
    """How one output of two curves of a feature differs.

    Parameters
    ----------
    a, b
        The curves.
    output
        One that both have.
    margin
        What counts as no difference.
    outside
        Probability that the band of this shape, or this level, is left.
    shares
        How their errors add up.
    """
    text = a.output_text(output)
    a, b = a.select(output), b.select(output)
    common = common_points(a, b) if a.kind == b.kind else None
    if common is None:
        return _nothing(a, output, text, margin, _why_nothing(a, b))
    values = [c.average[0].ravel() @ w.T for c, w in zip((a, b), common.weights, strict=True)]
    level = float((values[1] - values[0]).mean())
    shape = values[1] - values[0] - level
    error, half, level_error, level_half = _halves(a, b, common, outside, shares)
    note = _note(common, half)
    return Difference(
        feature=a.feature,
        output=output,
        output_text=text,
        places=common.places,
        categorical=a.categorical,
        a=values[0],
        b=values[1],
        shape=shape,
        std_error=error,
        half=half,
        level=level,
        level_error=level_error,
        level_half=level_half,
        margin=margin,
        verdict="cannot say" if note else verdict_of(shape, half, margin),
        level_verdict=verdict_of(np.array([level]), np.array([level_half]), margin),
        note=note,
    )


def _note(common: Common, half: FloatArray) -> str:
    """Why nothing can be said of a shape with such a band; empty if it can."""
    if not np.isfinite(half).any():
        return "too few observations for an error"
    return "one common value" if len(common) == 1 else ""


def verdict_of(values: FloatArray, half: FloatArray, margin: float) -> Verdict:
    """Whether values with bands are beyond a margin somewhere, or within it everywhere."""
    size = np.abs(values)
    if (size - half > margin).any():
        return "different"
    return "alike" if (size + half <= margin).all() else "cannot say"


def _halves(
    a: Curve, b: Curve, common: Common, outside: float, shares: Shares
) -> tuple[FloatArray, FloatArray, float, float]:
    """Standard error and half of the band, of the shape at each place and of the level."""
    if max(shares) == 0.0:  # the same data, asked of the same model
        return np.zeros(len(common)), np.zeros(len(common)), 0.0, 0.0
    errors = Errors.of(a), Errors.of(b)
    shape, level = zip(
        *(_at_places(e, w) for e, w in zip(errors, common.weights, strict=True)), strict=True
    )
    variance = shares.a * shape[0] ** 2 + shares.b * shape[1] ** 2
    of_level = shares.a * level[0] ** 2 + shares.b * level[1] ** 2
    parts = [(shares.a * level[0] ** 2, errors[0]), (shares.b * level[1] ** 2, errors[1])]
    freedom = _degrees([(v, float(e.degrees[0])) for v, e in parts])
    path = max(float(e.path[0]) for e in errors) if len(common) > 1 else 0.0
    of_point = 1 - pointwise_level(1 - outside, n=len(common), path_length=path)
    # What is rounding is no difference.
    rounding = _ROUNDING * max(float(np.abs(curve.average).max()) for curve in (a, b))
    error = np.maximum(np.sqrt(variance), rounding)
    hidden = sum(between_points(c, common)[0] for c in (a, b))
    # What is hidden moves the mean, and with it the shape at all other places.
    half = tail_quantile(of_point, freedom) * error + hidden + np.mean(hidden)
    level_error = max(math.sqrt(of_level), rounding)
    level_half = tail_quantile(outside, freedom) * level_error + float(np.mean(hidden))
    return error, half, level_error, level_half


def _at_places(errors: Errors, weights: FloatArray) -> tuple[FloatArray, float]:
    """Standard errors of shape and level at the places, where they are centred anew."""
    shape = errors.shape[0] @ weights.T  # no less than that of the mean of two points
    used = weights.any(axis=0)
    inside = float((shape**2).mean())
    recentred = 0.0
    if not used.all():
        # The mean over all points is 0: those outside say how far from it the mean of the others
        # may be; and no mean varies more than what it is of.
        share = float(used.mean())
        left_out = ((1 - share) / share) ** 2 * float((errors.shape[0][~used] ** 2).mean())
        recentred = min(inside, left_out)
    level = math.sqrt(float(errors.level[0]) ** 2 + recentred)
    return np.sqrt(shape**2 + recentred), level


def _degrees(parts: list[tuple[float, float]]) -> float:
    """Degrees of freedom of a sum of variances (Welch 1947)."""
    total = sum(variance for variance, _ in parts)
    if not total > 0:
        return 1e9
    return 1 / sum((variance / total) ** 2 / max(degrees, 1.0) for variance, degrees in parts)


def _why_nothing(a: Curve, b: Curve) -> str:
    if a.kind != b.kind:
        return f"one is a {a.kind.upper()}, the other a {b.kind.upper()}"
    if a.categorical != b.categorical:
        return "numbers on one side, categories on the other"
    return "no common categories" if a.categorical == (True,) else "no common range"


def _nothing(a: Curve, output: Label, text: str, margin: float, note: str) -> Difference:
    nothing = np.empty(0)
    return Difference(
        feature=a.feature,
        output=output,
        output_text=text,
        places=[nothing for _ in a.grid_values],
        categorical=a.categorical,
        a=nothing,
        b=nothing,
        shape=nothing,
        std_error=nothing,
        half=nothing,
        level=math.nan,
        level_error=math.nan,
        level_half=math.nan,
        margin=margin,
        verdict="cannot say",
        level_verdict="cannot say",
        note=note,
    )


def _errors_text(size: float) -> str:
    return f"{few_digits(size)} standard errors" if size < 100 else "over 100 standard errors"


def _interval_text(low: float, high: float, axis: Array) -> str:
    if low == high:
        return f"at {_value_text(low)}"
    if low == axis[0]:
        return "" if high == axis[-1] else f"below {_value_text(high)}"
    if high == axis[-1]:
        return f"above {_value_text(low)}"
    return f"between {_value_text(low)} and {_value_text(high)}"


def number(value: float) -> str:
    """A number with three digits."""
    if not math.isfinite(value):
        return "any amount"
    return few_digits(value)


def _value_text(value: Any) -> str:
    return number(float(value)) if isinstance(value, (int, float, np.number)) else str(value)
