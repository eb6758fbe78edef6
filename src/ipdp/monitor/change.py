"""One change: what, where, when, how large and of which kind."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

import numpy as np

from ipdp.core import schema
from ipdp.core.curve import Curve, feature_text
from ipdp.core.jsonable import readable
from ipdp.core.output_names import PREDICTION, output_name
from ipdp.core.places import place_text
from ipdp.core.times import time_text
from ipdp.core.typing import Array, Feature, FeatureName, FloatArray, Label, State
from ipdp.core.words import harmless, in_points, signed
from ipdp.monitor.data.move import Move

Kind = Literal["real", "virtual", "both", "unclear"]
"""Whether the shape of the curve changed, the range of the feature moved, or both.

"unclear": an alarm for which neither could be confirmed; only statistics other than the default
raise such ones.
"""

# Where the difference is at least this share of the largest one is where the change is.
_HALF = 0.5
# Curves that correlate more strongly than this have the same shape, or the opposite one.
_ALIKE = 0.8
# One curve is flat against another if it has less than this share of its standard deviation.
_FLAT = 0.25

# A move of the mean prediction is told from so many standard deviations of the predictions on.
_SEVERE = 0.05

# Shares of what the model does are told if they moved by so much.
_NOTICED_SHARE = 0.1

_CURVES = ("before", "after")
# What older logs and states do not have.
_LATER = (
    "is_probability",
    "is_whole",
    "is_interaction",
    "n_asked",
    "ended",
    "move",
    "score",
    "severity",
    "explained",
    "differs",
    "split",
    "target",
)


@dataclass(frozen=True, eq=False)
class Change:
    """A change of a feature's effect, or of its range.

    Attributes
    ----------
    feature, output
        Whose effect on what changed; of several outputs the one that changed most clearly.
    t
        Time of the alarm.
    began
        When it began, by estimate: the cut that divides the window best.
    before, after
        Of a change of the model: the mean of what it said of stored observations from before the
        change, and of what it says of the same ones now. These are the curves that were compared.
    size
        Largest difference of the two centred curves, in units of the output.
    size_in_errors
        The same in standard errors of the difference.
    where
        For numbers the interval of the axis in which the difference is at least half as large as
        its largest one; for categories those of which this holds; None for a virtual change.
    kind
        "real", "virtual", "both", or "unclear"; see `ipdp.monitor.change.Kind`.
    shares
        How much of it is real and virtual, which add up to 1.
    range_before, range_after
        The two ends of the feature's grid, or its categories.
    level
        Change of the mean of the curve. It follows every change of any feature, and is therefore
        no alarm of its own.
    statistic
        What raised the alarm.
    n_since
        Number of explained observations since `began`; None: `t - began`.
    is_probability
        Whether `output` is the probability of a class; None: not known, as in older logs.
    is_whole
        Whether the feature's values are whole numbers.
    is_interaction
        Whether the model's answers about single observations changed, while their mean did not.
    n_asked
        About how many stored observations the model was asked again; None: it was not.
    ended
        When the model had settled again; None: it has not yet, or it is not known. Then `after`,
        `size` and `where` are what the change came to.
    move
        How the data moved, of a virtual change or both; None of older ones.
    score
        By what it moved the mean prediction, in units of the output; None where it is not known.
    severity
        The size of that in standard deviations of the predictions.
    explained
        The share of what the model does that its curves tell, before and after, by the same stored
        observations; of a virtual change by those before and since. None where it is not known.
    differs
        The share of what the feature does that differs between observations, likewise: the part
        that its curve does not show.
    split
        Of a feature with regions, by which other feature its effect differed before, and differs
        since.
    target
        What the model predicts, where that is known: the name of the column of labels.

    Examples
    --------
    >>> import numpy as np
    >>> from ipdp import Curve
    >>> def curve(values):
    ...     return Curve("salary", (True,), [np.array([20_000, 80_000, 140_000])],
    ...         np.array([values]), np.full((1, 3), 0.01), 300, np.full(3, 300.0))
    >>> change = Change("salary", True, t=10_312, began=10_000, kind="real",
    ...     before=curve([0.2, 0.5, 0.8]), after=curve([0.8, 0.5, 0.2]))
    >>> change.summary()
    'salary: model changed since 10,000: effect on the chance of True reversed'
    """

    feature: Feature
    output: Label
    t: float
    began: float
    before: Curve
    after: Curve
    size: float = math.nan
    size_in_errors: float = math.nan
    where: tuple[Any, ...] | None = None
    kind: Kind = "real"
    shares: dict[str, float] = field(default_factory=lambda: {"real": 1.0, "virtual": 0.0})
    range_before: tuple[Any, ...] = ()
    range_after: tuple[Any, ...] = ()
    level: float = 0.0
    statistic: str = "shape"
    n_since: int | None = None
    is_probability: bool | None = None
    is_whole: bool = False
    is_interaction: bool = False
    n_asked: int | None = None
    ended: float | None = None
    move: Move | None = None
    score: float | None = None
    severity: float | None = None
    explained: tuple[float, float] | None = None
    differs: tuple[float, float] | None = None
    split: tuple[FeatureName, FeatureName] | None = None
    target: str | None = None

    def __post_init__(self) -> None:
        if self.move is not None and not isinstance(self.move, Move):  # from a log or a state
            object.__setattr__(self, "move", Move.restored(self.move))

    @property
    def is_categorical(self) -> bool:
        """Whether the feature's values are categories."""
        return self.before.categorical[0]

    @property
    def output_text(self) -> str:
        """What the effect is on: "chance of True", "chance that churned is True", "prediction".

        The curves alone do not show it, as they hold one output of several.
        """
        is_chance, link = self.is_of_class, self.before.link
        return output_name(self.output, is_chance=is_chance, target=self.target, link=link)

    @property
    def is_of_class(self) -> bool:
        """Whether the output is the probability of a class, on whatever scale."""
        if self.is_probability is not None and self.before.link is None:
            return self.is_probability
        if (self.output,) == PREDICTION:
            return False
        if self.before.link is not None:
            return self.before.of_classes and self.after.of_classes
        values = np.concatenate([self.before.average.ravel(), self.after.average.ravel()])
        values = values[~np.isnan(values)]
        return bool((values >= -1e-9).all() and (values <= 1 + 1e-9).all())

    def summary(self, *, evidence: bool = True) -> str:
        """One sentence for people; without `evidence` not by how many rows it was found."""
        if self.move is not None and self.kind == "virtual":
            return f"{self.move.text()}{self._score()}"
        if self.statistic in ("explained", "regions"):
            return self._of_hidden()
        parts = []
        if self.kind != "virtual":
            parts.append(f"{self._verb()} since {time_text(self.began)}: {self._effect(evidence)}")
        if self.move is not None:
            parts.append(self.move.text())
        elif self.kind in ("virtual", "both"):
            since = "" if parts else f" since {time_text(self.began)}"
            parts.append(f"data moved{since}: range {self._range()}")
        said = f"{feature_text(self.feature)}: {'; '.join(parts)}{self._score()}"
        return "; ".join([said, *self._hidden()])

    def _of_hidden(self) -> str:
        """A change of what the curves do not show, found by itself."""
        what = "data moved" if self.kind == "virtual" else self._verb()
        said = f"{feature_text(self.feature)}: {what} since {time_text(self.began)}"
        if self.split is not None:
            before, after = map(feature_text, self.split)
            return f"{said}: its effect now differs by {after} (by {before} before)"
        return f"{said}: {'; '.join(self._hidden())}"

    def _hidden(self) -> list[str]:
        """What became of the part of the model that its curves do not show, if that is noticed."""
        said = []
        if self.explained is not None:
            before, after = self.explained
            if abs(after - before) >= _NOTICED_SHARE:
                shares = f"{_share(after)} of what the model does ({_share(before)} before)"
                # Of other data the same model tells more, or less, for more than one reason.
                how = f": features interact {'more' if after < before else 'less'}"
                said.append(f"the curves now tell {shares}{how if self.kind != 'virtual' else ''}")
        if self.differs is not None:
            before, after = self.differs
            if abs(after - before) >= _NOTICED_SHARE:
                how = "differs more" if after > before else "differs less"
                shares = f"{_share(after)} of it ({_share(before)} before)"
                said.append(f"its effect {how} between rows: {shares}")
        return said

    def _score(self) -> str:
        """What it did to the mean prediction, if that is enough to be told."""
        if self.is_interaction:  # "the same on average" is about the effect, not about the level
            return ""
        if self.score is None or self.severity is None or self.severity < _SEVERE:
            return ""
        is_chance = self.is_of_class and self.before.link is None
        by = in_points(self.score) if is_chance else signed(self.score)
        return f"; this moved the mean {self.output_text} by {by}"

    def _verb(self) -> str:
        return "model may have changed" if self.kind == "unclear" else "model changed"

    def _effect(self, evidence: bool) -> str:
        """What the effect is on, and what has become of it."""
        on = f"the {self.output_text}"
        if self.is_interaction:
            said = f"effect on {on} is another for single rows, the same on average (interaction)"
        else:
            how, where = self._how(), self._where()
            # What has become of the whole curve is not said of a part of it.
            said = f"effect on {on} {how}{', most' if where and how != 'changed' else ''} {where}"
            said = said.rstrip()
        if self.n_asked is None or not evidence:
            return said
        return f"{said}, asked again about the same {self.n_asked} rows"

    def _how(self) -> str:
        before, after = centred(self.before.average[0]), centred(self.after.average[0])
        if before.shape != after.shape or self.kind == "unclear":
            return "changed"
        std_before, std_after = float(before.std()), float(after.std())
        if std_before <= _FLAT * std_after:
            return "appeared"
        if std_after <= _FLAT * std_before:
            return "vanished"
        correlation = float((before * after).mean() / (std_before * std_after))
        if correlation <= -_ALIKE:
            return "reversed"
        if correlation >= _ALIKE:
            return "grew" if std_after > std_before else "shrank"
        return "changed"

    def _where(self) -> str:
        if not self.where:
            return ""
        if self.is_categorical:
            return "at " + ", ".join(map(str, self.where))
        low, high = self.where
        axis = self.before.grid_values[0]
        say = place_text(self.before)
        if self.is_whole and math.ceil(low) <= math.floor(high):
            low, high = math.ceil(low), math.floor(high)  # the whole numbers in between
        if low <= axis[0]:
            return "" if high >= axis[-1] else f"below {say(high)}"
        if high >= axis[-1]:
            return f"above {say(low)}"
        if low == high:  # one knot
            return f"around {say(low)}"
        return f"between {say(low)} and {say(high)}"

    def _range(self) -> str:
        if self.is_categorical:
            come = [str(c) for c in self.range_after if c not in self.range_before]
            gone = [str(c) for c in self.range_before if c not in self.range_after]
            new = f"with new {', '.join(come)}" if come else ""
            lost = f"without {', '.join(gone)}" if gone else ""
            return f"{new} {lost}".strip()
        ends = self.range_before, self.range_after
        before, after = (", ".join(map(place_text(self.before), pair)) for pair in ends)
        return f"from [{before}] to [{after}]"

    def plot(self, ax: Any = None, *, backend: str = "matplotlib") -> Any:
        """Draw the curve before and after; see `ipdp.plot.ChangeDisplay`.

        Returns
        -------
        An `ipdp.plot.ChangeDisplay`; with `backend="plotly"` a `plotly.graph_objects.Figure`.
        """
        from ipdp.plot import ChangeDisplay

        return ChangeDisplay(self).plot(ax, backend=backend)

    def to_dict(self) -> State:
        """A JSON-safe dict; `from_dict` gives the change back."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        curves = {name: values[name].to_dict() for name in _CURVES}
        return {**readable(values | curves), "summary": self.summary(), "version": 1}

    @classmethod
    def from_dict(cls, state: State) -> Change:
        """The change that gave this dict."""
        schema.check(state)
        schema.must_be_version("a change", state.get("version"), 1)
        with schema.intact("the change"):
            return cls._restored(state)

    @classmethod
    def _restored(cls, state: State) -> Change:
        missing = {item.name: item.default for item in fields(cls) if item.name in _LATER}
        values = {item.name: {**missing, **state}[item.name] for item in fields(cls)}
        for name in _CURVES:
            values[name] = Curve.from_dict(values[name])
        if values["size"] is None:
            values["size"] = math.nan
        if values["size_in_errors"] is None:  # infinity is no number in JSON either
            values["size_in_errors"] = math.nan if math.isnan(values["size"]) else math.inf
        for name in ("where", "range_before", "range_after", "explained", "differs", "split"):
            values[name] = None if values[name] is None else tuple(values[name])
        return cls(**values).checked()

    def checked(self) -> Change:
        """The same, or an error if it cannot be what was saved."""
        number, may, flag = schema.number, schema.maybe, schema.flag
        values = vars(self)
        schema.check(values, feature=schema.name, output=schema.name, statistic=schema.text)
        schema.check(values, target=may(schema.text))
        schema.check(values, t=number, began=number, ended=may(number), level=may(number))
        schema.check(values, n_since=may(number), n_asked=may(schema.count))
        schema.check(values, is_probability=may(flag), is_whole=flag, is_interaction=flag)
        schema.check(values, kind=schema.one_of(*get_args(Kind)))
        for name in ("where", "range_before", "range_after"):
            schema.check(values, **{name: may(schema.each(schema.name))})
        shares = [self.shares[name] for name in ("real", "virtual")]
        schema.check({"shares": shares}, shares=schema.each(may(number)))
        self.summary()  # what cannot be said cannot be shown
        return self

    def __repr__(self) -> str:
        return harmless(f"<Change at t = {time_text(self.t)}: {self.summary()}>")


def _share(share: float) -> str:
    """A share of the variance, which estimates may take below 0 or above 1."""
    return f"{round(100 * min(max(share, 0.0), 1.0))} %"


def centred(values: FloatArray) -> FloatArray:
    """Values minus their mean."""
    return np.asarray(values - values.mean())


def extent(places: Array, difference: FloatArray) -> tuple[Any, ...]:
    """Where a difference is at least half as large as its largest one.

    The longest stretch of that sort with the largest one in it, all of its sign. It ends where the
    line from place to place falls to the half; for categories it is all of them.
    """
    if places.dtype == object:
        large = np.abs(difference) >= _HALF * np.abs(difference).max()
        return tuple(places[large].tolist())
    largest = int(np.abs(difference).argmax())
    towards = difference * np.sign(difference[largest])
    left, right = slice(largest, None, -1), slice(largest, None)
    return _falls(places[left], towards[left]), _falls(places[right], towards[right])


def _falls(places: FloatArray, height: FloatArray) -> float:
    """Where a line that begins at its largest height first falls to half of it, or ends."""
    half = _HALF * height[0]
    below = np.flatnonzero(height < half)
    if not below.size:
        return float(places[-1])
    k = below[0]
    share = (height[k - 1] - half) / (height[k - 1] - height[k])
    return float(places[k - 1] + share * (places[k] - places[k - 1]))
