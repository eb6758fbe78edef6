"""The laws of an engine."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from ipdp.core.curve import feature_text
from ipdp.core.typing import Array, FeatureName, FloatArray, Observation
from ipdp.grid.base import is_missing
from ipdp.models import Engine, Outputs, Probe
from ipdp.models import engine as engine_of

_N_POINTS = 4


def check_engine(
    engine: Any, observations: Sequence[Observation], *, tolerance: float = 1e-9
) -> None:
    """Check that an engine obeys the laws of engines.

    `ice` gives what `predict` gives for the changed observations: for numbers, whole numbers,
    categories, missing values and pairs, for one observation and for many. Answers repeat, inputs
    stay as they are, the order of the features does not matter unless the engine is `ordered`, the
    description is a text, and the engine can be copied and pickled if its model can.

    Parameters
    ----------
    engine
        The engine, or a model that `ipdp.models.engine` takes; it must have learned.
    observations
        Some observations that the model can predict, about five of them: `predict` is called for
        each point. The values to ask about are taken from them.
    tolerance
        How far two answers may be apart, as a share of the largest of the same output.

    Raises
    ------
    AssertionError
        If a law is broken; the text says which.

    Examples
    --------
    >>> from ipdp.checks import check_engine
    >>> rows = [{"a": 1.5, "b": 2, "c": "red"}, {"a": 0.5, "b": 4, "c": "blue"}]
    >>> check_engine(lambda x: x["a"] * x["b"] if x["c"] == "red" else 0.0, rows)
    >>> calls = iter(range(1000))
    >>> check_engine(lambda x: next(calls), rows)
    Traceback (most recent call last):
    ...
    AssertionError: asked twice, predict() gives 0.0 and 2.0 (output 'prediction')
    """
    engine = engine_of(engine)
    if not observations:
        raise ValueError("an engine is checked with some observations, and there are none")
    is_text = isinstance(engine.description, str) and engine.description.strip()
    assert is_text, f"the description must be a text, got {engine.description!r}"
    predicted = _predict(engine, observations)
    if not predicted.values.shape[1]:
        raise ValueError("the model has no output yet: it must have learned to be checked")
    again = _predict(engine, observations)
    _agree(predicted, again, tolerance, "asked twice, predict() gives")
    question = _question(observations)
    answer = _ice(engine, question)
    _check_points(engine, question, answer, tolerance)
    _agree(answer, _ice(engine, question), tolerance, "asked twice, ice() gives")
    _check_one_by_one(engine, question, answer, tolerance)
    _check_missing(engine, observations, tolerance)
    if not engine.ordered:
        turned = [dict(reversed(list(x.items()))) for x in observations]
        other = _ice(engine, question._replace(observations=turned))
        _agree(answer, other, tolerance, "for two orders of the features ice() gives")
    _check_copies(engine, question, answer, tolerance)


class _Question(NamedTuple):
    """What `ice` is asked."""

    observations: Sequence[Observation]
    probes: tuple[Probe, ...]
    positions: FloatArray


# What is asked.


class _Axis(NamedTuple):
    """The values that one feature is replaced by: positions of shape (n_observations, n)."""

    whole: bool
    categories: Array | None
    positions: FloatArray


def _axis(name: FeatureName, observations: Sequence[Observation], *, missing: bool) -> _Axis:
    values = [value for x in observations if not is_missing(value := x.get(name))]
    if all(isinstance(value, Real) and not isinstance(value, bool) for value in values):
        whole = all(isinstance(value, int) for value in values)
        # As a range that grows with the stream: every observation has points of its own.
        numbers = np.array(values or [0.0], dtype=float)
        n_seen = [min(k, len(numbers)) for k in range(1, len(observations) + 1)]
        low, high = (np.array([end(numbers[:n]) for n in n_seen]) for end in (np.min, np.max))
        positions: FloatArray = np.linspace(low, high, _N_POINTS + missing, axis=1)
        return _Axis(whole, None, positions.round() if whole else positions)
    known = [*dict.fromkeys(values), *[None] * missing]
    categories = np.empty(len(known), dtype=object)
    categories[:] = known
    return _Axis(False, categories, np.zeros((len(observations), len(known))))


def _question(observations: Sequence[Observation]) -> _Question:
    """A probe of each feature, and of the first one with each of the next two."""
    first, *others = observations[0]
    features: list[tuple[FeatureName, ...]] = [(name,) for name in observations[0]]
    features += [(first, name) for name in (*others[:1], *others[-1:])]
    probes, parts, start = [], [], 0
    for names in dict.fromkeys(features):
        axes = [_axis(name, observations, missing=False) for name in names]
        # All combinations of the values, one column each.
        at = np.indices([axis.positions.shape[1] for axis in axes]).reshape(len(axes), -1)
        categories = tuple(
            None if axis.categories is None else axis.categories[own]
            for axis, own in zip(axes, at, strict=True)
        )
        stop = start + at.shape[1]
        probes.append(Probe(names, start, stop, tuple(axis.whole for axis in axes), categories))
        part = np.zeros((len(observations), 2, stop - start))
        for k, (axis, own) in enumerate(zip(axes, at, strict=True)):
            part[:, k] = axis.positions[:, own]
        parts.append(part)
        start = stop
    return _Question(observations, tuple(probes), np.concatenate(parts, axis=2))


def _points(question: _Question, row: int) -> list[dict[FeatureName, Any]]:
    """What each column replaces in one of the observations."""
    return [
        dict(zip(probe.names, values, strict=True))
        for probe in question.probes
        for values in zip(
            *[probe.values(question.positions[row], axis) for axis in range(len(probe.names))],
            strict=True,
        )
    ]


# Asking, and comparing.


def _ice(engine: Engine, question: _Question) -> Outputs:
    observations, _, positions = question
    before = positions.copy()
    answer = _answer("ice()", observations, positions.shape[2], lambda: engine.ice(*question))
    assert np.array_equal(positions, before), "ice() changes the positions that it is given"
    return answer


def _predict(engine: Engine, observations: Sequence[Observation]) -> Outputs:
    return _answer("predict()", observations, 1, lambda: engine.predict(observations))


def _answer(
    method: str, observations: Sequence[Observation], n_points: int, ask: Callable[[], Outputs]
) -> Outputs:
    """The answer of a method, which is well formed and leaves the observations as they were."""
    before = [list(x.items()) for x in observations]
    answer = ask()
    same = [list(x.items()) for x in observations] == before
    assert same, f"{method} changes the observations that it is given"
    labels, shape = answer.labels, np.shape(answer.values)
    fits = len(shape) == 3 and shape[::2] == (len(observations), n_points)
    assert fits, (
        f"{method} gives values of shape {shape} for {len(observations)} observations and "
        f"{n_points} points; it must be (n_observations, n_outputs, n_points)"
    )
    if labels is not None:
        n_labels = len(labels)
        assert n_labels == shape[1], f"{method} names {n_labels} outputs and gives {shape[1]}"
        distinct = len(set(labels)) == n_labels
        assert distinct, f"{method} gives two outputs the same name: {list(labels)}"
    return answer


def _by_name(answer: Outputs) -> Mapping[Any, FloatArray]:
    """The values of each output, of shape (n_observations, n_points)."""
    labels = range(answer.values.shape[1]) if answer.labels is None else answer.labels
    return dict(zip(labels, answer.values.swapaxes(0, 1), strict=True))


def _agree(one: Outputs, other: Outputs, tolerance: float, words: str, scale: float = 0.0) -> None:
    difference = _difference(one, other, tolerance, scale)
    assert not difference, f"{words} {difference}"


def _difference(one: Outputs, other: Outputs, tolerance: float, scale: float = 0.0) -> str:
    """How two answers differ, by the names of their outputs; one that is not named is 0."""
    if (one.labels is None) is not (other.labels is None):
        return "outputs that are named only once of two times"
    first, second = _by_name(one), _by_name(other)
    for label in dict.fromkeys((*first, *second)):
        a, b = np.broadcast_arrays(first.get(label, 0.0), second.get(label, 0.0))
        size = max([scale, *np.abs(b[np.isfinite(b)])])
        with np.errstate(invalid="ignore"):
            same = (np.abs(a - b) <= tolerance * size) | (a == b) | (np.isnan(a) & np.isnan(b))
        for row, column in np.argwhere(~same):
            return f"{a[row, column]} and {b[row, column]} (output {label!r})"
    return ""


# The laws.


def _check_points(engine: Engine, question: _Question, answer: Outputs, tolerance: float) -> None:
    """Every column of `ice` is what `predict` gives for the changed observation."""
    finite = np.abs(answer.values[np.isfinite(answer.values)])
    scale = float(finite.max(initial=0.0))
    for row, x in enumerate(question.observations):
        for column, replaced in enumerate(_points(question, row)):
            at = answer.values[row : row + 1, :, column : column + 1]
            words = f"at {_text(replaced)} of observation {row} ice() and predict() give"
            expected = _predict(engine, [{**x, **replaced}])
            labels = answer.labels
            assert labels is None or set(expected.labels or ()) <= set(labels), (
                f"predict() names outputs that ice() does not: {expected.labels} and {labels}"
            )
            _agree(Outputs(answer.labels, at), expected, tolerance, words, scale)


def _text(replaced: Mapping[FeatureName, Any]) -> str:
    names, values = tuple(replaced), ", ".join(map(repr, replaced.values()))
    return f"{feature_text(names if len(names) > 1 else names[0])} = {values}"


def _check_one_by_one(
    engine: Engine, question: _Question, answer: Outputs, tolerance: float
) -> None:
    for row, x in enumerate(question.observations):
        alone = _ice(engine, _Question([x], question.probes, question.positions[row : row + 1]))
        part = Outputs(answer.labels, answer.values[row : row + 1])
        words = f"for observation {row} among others and alone ice() gives"
        _agree(part, alone, tolerance, words)


def _check_missing(engine: Engine, observations: Sequence[Observation], tolerance: float) -> None:
    """A missing value is NaN or None, or the feature is left out; a model may refuse all of it."""
    x = observations[0]
    for name in x:
        axis = _axis(name, observations, missing=True)
        n_points = axis.positions.shape[1]
        probe = Probe((name,), 0, n_points, (axis.whole,), (axis.categories,), missing=True)
        expected = _without(engine, x, name, math.nan if axis.categories is None else None)
        try:
            answer = _ice(engine, _Question([x], (probe,), axis.positions[:1, None]))
        except AssertionError:
            raise
        except Exception as error:
            if len(expected) == 2:
                raise AssertionError(
                    f"predict() takes a missing {name!r} and ice() does not: {error}"
                ) from error
            continue
        last = Outputs(answer.labels, answer.values[:, :, -1:])
        differences = [_difference(last, other, tolerance) for other in expected]
        assert "" in differences or not differences, (
            f"where {name!r} is missing ice() and predict() give {differences[0]}"
        )


def _without(engine: Engine, x: Observation, name: FeatureName, absent: Any) -> list[Outputs]:
    """What `predict` gives for the ways to leave out a value, as far as the model takes them."""
    answers = []
    for changed in ({**x, name: absent}, {k: value for k, value in x.items() if k != name}):
        with suppress(Exception):  # whatever the model has against missing values
            answers.append(_predict(engine, [changed]))
    return answers


def _check_copies(engine: Engine, question: _Question, answer: Outputs, tolerance: float) -> None:
    ways: dict[str, Callable[[Any], Any]] = {"copied": copy.deepcopy, "pickled": _pickled}
    for word, copied in ways.items():
        try:
            copied(engine.model)
        except Exception:  # then the engine need not, either
            continue
        try:
            # Together: what an engine keeps of a question must not mislead its copy.
            twin, asked = copied((engine, question))
        except Exception as error:
            why = f"the model can be {word} and the engine cannot: {error}"
            raise AssertionError(why) from error
        _agree(answer, _ice(twin, asked), tolerance, f"the engine and a {word} one give")


def _pickled(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))
