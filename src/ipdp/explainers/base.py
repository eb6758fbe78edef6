"""What every explainer is: settings, a model, and a memory that follows it along a stream.

All that an explainer remembers is in its memory, which can be copied, merged and saved; one
observation changes everything in it or nothing (`explainers/memory.py`).
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from ipdp.core import packing, schema
from ipdp.core.decay import Default, resolve_alpha
from ipdp.core.importance import Result
from ipdp.core.jsonable import decode_name
from ipdp.core.observations import Rows, as_observation, observations
from ipdp.core.times import moment, moment_seconds
from ipdp.core.typing import Feature, FeatureName, Observation, State
from ipdp.core.validation import listed, next_time, sample_weight, whole_number
from ipdp.core.words import shown
from ipdp.explainers.state.targets import as_features, check_columns, followed
from ipdp.explainers.turns import Turns
from ipdp.grid.auto import as_now
from ipdp.models import Engine, engine
from ipdp.models.words import words_of

# The clock is looked at once, after so many observations.
_CHECKED = 10

# Settings that are only told where they are given, as states from before they were there have none.
_OPTIONAL = ("by", "link", "dependence", "max_features")

VERSION = 1
"""Of the states that are written and read."""


class Explainer(ABC):
    """Follows a model along a stream; what log, page, metrics and checkpoints ask of it.

    To write one, subclass it and answer `_begin`, `results` and `settings`, with a `Memory` of its
    own or that of curves. `ipdp.checks.check_explainer` tests whether it obeys the laws.

    Parameters
    ----------
    model
        Anything that `ipdp.models.engine` takes.
    features
        Names of features, and pairs of names as tuples; None takes every feature of the first
        observation.
    alpha, half_life, span
        How fast the past is forgotten; give one of the three.
    every
        Explain every k-th observation only; this is k.
    seed
        Start of the random numbers.

    Attributes
    ----------
    name
        What the explainer is called in a log, on the page and in metrics.
    title
        The same for people.
    needs_label
        Whether `explain_one` takes the label of an observation as its second argument.

    Examples
    --------
    >>> import ipdp
    >>> pdp = ipdp.IncrementalPDP(lambda x: x["a"], ["a"])
    >>> isinstance(pdp, ipdp.Explainer), pdp.name, pdp.needs_label
    (True, 'pdp', False)
    """

    name: ClassVar[str]
    title: ClassVar[str]
    needs_label: ClassVar[bool] = False

    def __init__(
        self,
        model: Any,
        features: Any = None,
        *,
        alpha: float | Default | None = Default.ALPHA,
        half_life: float | None = None,
        span: float | None = None,
        every: int = 1,
        seed: int | None = None,
    ) -> None:
        self.alpha = resolve_alpha(alpha, half_life=half_life, span=span)
        self.features: list[Feature] | None = None if features is None else as_features(features)
        self.every = whole_number("every", every)
        self.seed = seed
        self.engine: Engine = engine(model)
        self._memory: Any = None
        self.turns = Turns()

    @abstractmethod
    def _begin(self, x: Observation) -> Any:
        """A memory without data for a stream that begins with this observation, or an error."""

    @abstractmethod
    def results(self) -> dict[Feature, Result]:
        """The current results by feature: curves, or importances."""

    @property
    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """The arguments on which the memory depends; explainers that are merged agree in them."""

    # What follows from it.

    def explain_one(self, x: Observation, *y: Any, w: float = 1.0, t: float | None = None) -> None:
        """Explain one observation: explain first, then learn.

        Parameters
        ----------
        x
            The observation, a dict as in river, or a Series of pandas; it is not changed.
        y
            Its label, for explainers that need it.
        w
            Sample weight, not negative. With a weight of 0 the model is not asked. It may also be
            the last argument by position.
        t
            Time of the observation on a clock of your own, which must not go back; alpha then
            refers to one unit of it, for datetimes to a second (`half_life=86_400` is a day). By
            default observations are counted.
        """
        if type(x) is not dict and not isinstance(x, Mapping):
            x = as_observation(x)
        label = None
        if y or self.needs_label:
            label, w = self._label_and_weight(y, w)
        if type(w) is not float or w != 1.0:
            w = sample_weight(w)
        turns = self.turns
        try:
            turns.explain()
            self._explain(x, label, w, t)
        finally:
            turns.give_back()

    def _explain(self, x: Observation, label: Any, w: float, t: float | None) -> None:
        memory = self._memory
        if memory is None:
            memory = self._first(x)
        last = memory.t
        t = last + 1 if t is None and last is not None else next_time(t, last)
        if memory.seen == _CHECKED and last is not None:
            self._check_clock(last, t)
        is_due = self.every == 1 or (memory.seen + 1) % self.every == 0
        asked = memory.ask(self, x, label, w if is_due else 0.0)
        # From here on nothing can go wrong, and everything changes together.
        memory.commit(asked, w, t)
        memory.seen += 1
        memory.t = t
        self._memory = memory

    def _first(self, x: Observation) -> Any:
        """A memory for a stream that begins with this observation, if its columns will do."""
        self._check_first(x)
        return self._begin(x)

    def _check_first(self, x: Observation) -> None:
        """Refuse a first observation whose columns will not do."""
        check_columns(x, self.features, self.engine)

    def _check_clock(self, last: float, t: float) -> None:
        """Warn if by the wall clock all but the newest observation is forgotten."""
        gap, alpha = t - last, self.alpha
        if alpha is not None and gap * alpha > 1 and moment(t) is not None:
            warnings.warn(
                f"with datetimes alpha refers to a second: with {alpha:g} an observation is "
                f"forgotten before the next one comes, {gap:,.0f} s later; give half_life in "
                "seconds (86_400 is a day)",
                stacklevel=4,
            )

    def _label_and_weight(self, given: Sequence[Any], w: float) -> tuple[Any, float]:
        """What came by position after the observation: a label, if one is needed, and a weight."""
        if not self.needs_label <= len(given) <= self.needs_label + 1:
            wanted = "an observation and its label" if self.needs_label else "an observation"
            raise TypeError(f"explain_one takes {wanted} and a weight, got {len(given)} more")
        label = given[0] if self.needs_label else None
        return label, given[-1] if len(given) > self.needs_label else w

    def explain_many(
        self,
        X: Any,
        *y: Any,
        w: Sequence[float] | None = None,
        t: Sequence[float] | None = None,
        names: Sequence[FeatureName] | None = None,
    ) -> None:
        """Explain many observations, with the model as it is now; the same as one by one.

        Either all rows are explained or, after an error, none.

        Parameters
        ----------
        X
            A frame (pandas, polars, ...), a 2-D array, or a list of dicts.
        y
            Their labels, for explainers that need them.
        w, t
            Weights and times of the rows, as in `explain_one`.
        names
            Names of an array's columns.
        """
        rows, labels, weights, times = self._table(X, y, w, t, names)
        with self.turns.explaining():
            before = self._memory
            self._memory = before and before.copy()
            try:
                for row, label, weight, time in zip(rows, labels, weights, times, strict=True):
                    self.explain_one(row, *label, w=weight, t=time)
            except BaseException:
                self._memory = before
                raise

    def _table(
        self, X: Any, y: Any, w: Any, t: Any, names: Sequence[FeatureName] | None
    ) -> tuple[Rows, list[tuple[Any, ...]], list[float], list[float | None]]:
        """The rows, their labels, weights and times, or an error."""
        rows = observations(X, names)
        if self._memory is None:
            self.engine.remember(X)
        labels = None
        if y or self.needs_label:
            labels, w = self._label_and_weight(y, w)
        weights = [1.0] * len(rows) if w is None else [sample_weight(v) for v in listed("w", w)]
        times: list[float | None] = [None] * len(rows)
        if t is not None:
            times = [moment_seconds(each) for each in listed("t", t)]
            if len(times) > _CHECKED:
                self._check_clock(times[_CHECKED - 1] or 0.0, times[_CHECKED] or 0.0)
        given: list[tuple[Any, ...]] = [()] * len(rows)
        if labels is not None:
            given = [(label,) for label in listed("y", labels)]
        for name, values in (("y", given), ("w", weights), ("t", times)):
            if len(values) != len(rows):
                raise ValueError(f"{name} has {len(values)} values for {len(rows)} rows")
        return rows, given, weights, times

    @property
    def model(self) -> Any:
        """The model that is explained."""
        return self.engine.model

    @property
    def memory(self) -> Any:
        """What it remembers, for parts that build on it: to be read only; None at first."""
        return self._memory

    @property
    def n_seen(self) -> int:
        """Number of observations seen, explained or not."""
        return 0 if self._memory is None else int(self._memory.seen)

    @property
    def t(self) -> float | None:
        """Time of the last observation; None before the first."""
        return None if self._memory is None else self._memory.t

    def _twin(self) -> Self:
        """An explainer with the same settings and model, that has seen nothing."""
        return type(self)(self.engine, **self.settings, **self._unsaved)

    @property
    def _unsaved(self) -> dict[str, Any]:
        """The arguments on which the memory does not depend, once it has begun."""
        return {"seed": self.seed}

    def successor(self) -> Self:
        """An explainer for the observations that follow, to be merged with this one later.

        It has the same settings, model and storages, and has explained nothing. What it explains
        is what this one would have explained next, so that `a.merge(b)` is what `a` would be had
        it seen the observations of `b` too.
        """
        later = self._twin()
        with self.turns.reading():
            later._memory = self._memory and self._memory.successor()
        return later

    def merge(self, later: Self) -> Self:
        """The explainer of this one's observations and of those of another.

        Parameters
        ----------
        later
            A `successor` of this one: then the result is, to rounding, that of one explainer that
            has seen both parts. Or any explainer with the same settings: then the means are
            joined exactly as they are, each at the time of its observations, and the storages as
            if its observations followed this one's (windows exactly, reservoirs by sampling).

        Returns
        -------
        A new explainer with the model of this one; the two are left as they are.
        """
        if type(later) is not type(self):
            raise TypeError(f"only another {type(self).__name__} can be merged, got {shown(later)}")
        mine, theirs = ({**dict.fromkeys(_OPTIONAL), **each.settings} for each in (self, later))
        for name, value in mine.items():
            if value != theirs[name]:
                raise ValueError(
                    f"explainers can be merged only if their settings agree: "
                    f"{name} is {shown(value)} and {shown(theirs[name])}"
                )
        joined = self._twin()
        # In one order, so that two threads that merge them both ways do not wait for each other.
        first, second = sorted((self, later), key=id)
        with first.turns.reading(), second.turns.reading():
            if self._memory is None or later._memory is None:
                memory = self._memory or later._memory
                joined._memory = memory and memory.copy()
            else:
                joined._memory = self._memory.merge(later._memory)
        return joined

    # State out and in.

    @property
    def state(self) -> State:
        """Everything the explainer remembers, JSON-safe; the model and the settings are not in it.

        Assign it to an explainer with the same settings to go on from there, bit for bit.

        Examples
        --------
        >>> import json, ipdp
        >>> pdp = ipdp.IncrementalPDP(lambda x: x["a"], grid=ipdp.grid.Fixed([0, 1]))
        >>> pdp.explain_one({"a": 3.0})
        >>> other = ipdp.IncrementalPDP(lambda x: x["a"], grid=ipdp.grid.Fixed([0, 1]))
        >>> other.state = json.loads(json.dumps(pdp.state))
        >>> other.curve("a").average
        array([[0., 1.]])
        """
        with self.turns.reading():
            return {
                "version": VERSION,
                "settings": {name: canonical(value) for name, value in self.settings.items()},
                "fold": None if self._memory is None else self._memory.state,
            }

    @state.setter
    def state(self, state: State) -> None:
        with schema.intact("the state"):
            memory = self._restored(state)
            if memory is not None:
                self._try(memory)
        with self.turns.reading():
            self._memory = memory

    def _restored(self, state: State) -> Any:
        """The memory of a state, or None if it has none."""
        self._must_fit(state)
        saved = self._saved_memory(state)
        if saved is None:
            return None
        schema.check(saved, columns=schema.parts)
        memory = self._begin(dict.fromkeys(decode_name(saved["columns"])))
        memory.state = saved
        return memory

    def _try(self, memory: Any) -> None:
        """Raise unless the results of a memory that was saved can be read, without the model."""
        trial = self._twin()
        trial._memory = memory.copy()
        trial._read()

    def _read(self) -> None:  # noqa: B027  # explainers of others need not
        """Read the results once, for what may be wrong with them; the model is not asked."""

    def state_bytes(self) -> bytes:
        """The `state` as bytes: a fraction of its JSON in size and time, the same bit for bit.

        Examples
        --------
        >>> import ipdp
        >>> pdp = ipdp.IncrementalPDP(lambda x: x["a"], grid=ipdp.grid.Fixed([0, 1]))
        >>> pdp.explain_one({"a": 3.0})
        >>> pdp.from_bytes(pdp.state_bytes()).curve("a").average
        array([[0., 1.]])
        """
        return packing.pack(self.state)

    def from_bytes(self, data: bytes) -> Self:
        """An explainer with this one's settings and model that goes on from a state.

        Parameters
        ----------
        data
            What `state_bytes` gave. It is checked, and nothing in it is executed; what does not
            fit the settings is refused, as by `state`.
        """
        restored = self._twin()
        restored.state = packing.unpack(data)
        return restored

    def _must_fit(self, state: State) -> None:
        version = state.get("version") if isinstance(state, Mapping) else None
        schema.must_be_version("a state", version, VERSION)
        saved, own = state["settings"], {**dict.fromkeys(_OPTIONAL), **self.settings}
        for name, value in own.items():
            made_with = as_now(saved.get(name, "None") if name in _OPTIONAL else saved[name])
            if made_with != canonical(value):
                raise ValueError(
                    f"the state was made with {name} = {made_with}, this explainer has {value!r}"
                )

    def _saved_memory(self, state: State) -> State | None:
        """What of a state is the memory's."""
        saved: State | None = state["fold"]
        return saved

    def __repr__(self) -> str:
        more = "".join(f", {name}={value!r}" for name, value in self._shown.items())
        return f"{type(self).__name__}({', '.join(self.facts)}{more})"

    @property
    def facts(self) -> list[str]:
        """What a person asks first: which model, how many features, how many observations."""
        if self.features is not None:
            n = len(self.features)
        elif self._memory is not None:
            n = len(followed(dict.fromkeys(self._memory.columns), None, self.engine))
        else:
            n = None
        features = "all features" if n is None else f"{n:,} feature{'' if n == 1 else 's'}"
        n_seen = self.n_seen
        seen = f"{n_seen:,} observation{'' if n_seen == 1 else 's'}" if n_seen else "none seen yet"
        return [words_of(self.model), features, seen]

    @property
    def _shown(self) -> dict[str, Any]:
        """The arguments that tell one explainer from another."""
        return {"alpha": self.alpha}


def canonical(setting: Any) -> str:
    """A setting as text; a dict in an order that does not depend on the user's."""
    if isinstance(setting, dict):
        setting = dict(sorted(setting.items(), key=lambda item: repr(item[0])))
    if callable(setting) and hasattr(setting, "__qualname__"):
        return f"the function {setting.__qualname__}"  # its address is another one each time
    return repr(setting)
