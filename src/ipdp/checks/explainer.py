"""The laws of an explainer."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ipdp.core import kernels
from ipdp.core.curve import Curve
from ipdp.core.importance import Result
from ipdp.core.typing import FloatArray
from ipdp.explainers import Explainer
from ipdp.models import Engine, Outputs

# After so many observations, and as many again, an explainer must not have become larger.
_ENOUGH = 3000

Stream = Sequence[Any]
"""Observations x, or pairs of an observation and its label (x, y)."""


def check_explainer(
    make: Callable[[], Explainer], stream: Stream, *, tolerance: float = 1e-9
) -> None:
    """Check that an explainer obeys the laws of explainers.

    The same seed gives the same results, in both builds; observations are not changed; many at
    once are the same as one by one; a segment that is explained by a `successor` and merged is the
    same as one run, in whatever order they are merged; an explainer restored from its state,
    through JSON, continues bit for bit; an error of the model changes nothing; with a weight of 0
    the model is not called; the order of the features does not matter; memory is bounded.

    Parameters
    ----------
    make
        Makes the explainer: always with the same settings, the same seed and a model that does not
        change.
    stream
        Observations x, or (x, y) for explainers that need labels; sixty or so.
    tolerance
        How far two results may be apart, as a share of the largest, where they are not to be the
        same to the last bit.

    Raises
    ------
    AssertionError
        If a law is broken; the text says which.

    Examples
    --------
    >>> import ipdp
    >>> from ipdp.checks import check_explainer
    >>> stream = [{"a": k % 7 / 2, "b": k % 3} for k in range(60)]
    >>> check_explainer(lambda: ipdp.IncrementalPDP(lambda x: x["a"] * x["b"], seed=1), stream)
    """
    if len(stream) < 6:
        raise ValueError(f"an explainer is checked with some observations, got {len(stream)}")
    _check_inputs(make(), copy.deepcopy(stream))
    whole = _explained(make(), stream)
    _agree(whole, _explained(make(), stream), 0.0, "made and run twice, it")
    _check_builds(make, stream, tolerance)
    _check_many(make, stream, tolerance)
    _check_segments(make, stream, tolerance)
    _check_state(make, stream)
    _check_errors(make(), stream)
    if not whole.engine.ordered:
        turned = [(dict(reversed(x.items())), *y) for x, *y in map(_parts, stream)]
        _agree(whole, _explained(make(), turned), tolerance, "for another order of the features it")
    _check_memory(make(), stream)


# What is compared.


def _parts(item: Any) -> tuple[Any, ...]:
    return item if isinstance(item, tuple) else (item,)


def _explained(explainer: Explainer, stream: Stream) -> Explainer:
    for item in stream:
        explainer.explain_one(*_parts(item))
    return explainer


def _numbers(result: Result) -> list[FloatArray]:
    if isinstance(result, Curve):
        axes = [axis.astype(float) for axis in result.grid_values if axis.dtype != object]
        spread = np.empty(0) if result.ice_spread is None else result.ice_spread
        share = np.empty(0) if result.explained is None else result.explained
        h_squared = np.empty(0) if result.h_squared is None else result.h_squared
        return [result.average, result.std_error, *axes, spread, share, h_squared]
    return [np.array([result.value, result.std_error])]


def _agree(one: Explainer, other: Explainer, tolerance: float, what: str) -> None:
    first, second = one.results(), other.results()
    same = set(first) == set(second)
    assert same, f"{what} gives results for {list(first)} and for {list(second)}"
    for feature, result in first.items():
        numbers = _numbers(result)
        # An error that is nothing but the rounding of the values is theirs to compare with.
        size = _largest(numbers[0])
        for mine, theirs in zip(numbers, _numbers(second[feature]), strict=True):
            same = mine.shape == theirs.shape
            if same:
                atol = tolerance * max(_largest(mine), size)
                same = np.allclose(mine, theirs, rtol=0, atol=atol, equal_nan=True)
            assert same, f"{what} gives for {feature!r} {mine} and {theirs}"


def _largest(values: FloatArray) -> float:
    return float(np.max(np.abs(values[np.isfinite(values)]), initial=0.0))


def _text(explainer: Explainer) -> str:
    return json.dumps(explainer.state)


# The laws.


def _check_builds(make: Callable[[], Explainer], stream: Stream, tolerance: float) -> None:
    """Both builds give the same answer to rounding, or the same error."""
    ends = []
    for build in (kernels.installed(), kernels.array):
        before, kernels.current = kernels.current, build
        try:
            explainer = make()
            ends.append((_explained(explainer, stream), ""))
        except Exception as error:  # whatever it is, the other build must have it too
            ends.append((explainer, f"{type(error).__name__}: {error}"))
        finally:
            kernels.current = before
    (compiled, said), (pure, other) = ends
    assert said == other, f"one build says {said!r}, the other {other!r}"
    _agree(compiled, pure, tolerance, "in two builds it")


def _check_inputs(explainer: Explainer, stream: Stream) -> None:
    for item in stream:
        before = copy.deepcopy(item)
        explainer.explain_one(*_parts(item))
        same = repr(item) == repr(before)
        assert same, f"the observation {before!r} was changed to {item!r}"


def _check_many(make: Callable[[], Explainer], stream: Stream, tolerance: float) -> None:
    whole, many = _explained(make(), stream), make()
    third = len(stream) // 3
    for part in (stream[:third], stream[third:]):
        many.explain_many(*map(list, zip(*map(_parts, part), strict=True)))
    _agree(whole, many, tolerance, "one by one and many at once it")


def _check_segments(make: Callable[[], Explainer], stream: Stream, tolerance: float) -> None:
    third = len(stream) // 3
    whole = _explained(make(), stream)
    first = _explained(make(), stream[:third])
    second = _explained(first.successor(), stream[third : 2 * third])
    # The successor of both has the storages that the second one ends with.
    third_part = _explained(first.merge(second).successor(), stream[2 * third :])
    before = _text(first), _text(second)
    left = first.merge(second).merge(third_part)
    assert (_text(first), _text(second)) == before, "merge() must leave both parts as they are"
    _agree(whole, left, tolerance, "in one run and merged from segments it")
    same = (left.n_seen, left.t) == (whole.n_seen, whole.t)
    assert same, f"merged segments have seen {left.n_seen} of {whole.n_seen}"
    follower = _explained(second.successor(), stream[2 * third :])
    right = first.merge(second.merge(follower))
    _agree(left, right, tolerance, "with segments merged in another order it")


def _check_state(make: Callable[[], Explainer], stream: Stream) -> None:
    half = len(stream) // 2
    own = _explained(make(), stream[:half])
    twin = make()
    twin.state = json.loads(_text(own))
    assert _text(twin) == _text(own), "the state is another one after it was taken from JSON"
    for explainer in (own, twin):
        _explained(explainer, stream[half:])
    _agree(own, twin, 0.0, "after a restart it")
    assert _text(twin) == _text(own), "after a restart the state continues differently"


class _Failing(Engine):
    """An engine that raises."""

    description = "an engine that raises"

    def __init__(self, engine: Engine) -> None:
        self.model, self.ordered = engine.model, engine.ordered

    def ice(self, *_: Any) -> Outputs:
        raise ArithmeticError("this was to be expected")

    def predict(self, *_: Any) -> Outputs:
        return self.ice()

    def gradients(self, *_: Any) -> Any:
        return self.ice()


def _check_errors(explainer: Explainer, stream: Stream) -> None:
    """A model that raises changes nothing, and is not asked at a weight of 0."""
    *most, last = stream
    _explained(explainer, most)
    before, sound = _text(explainer), explainer.engine
    explainer.engine = _Failing(sound)
    with suppress(ArithmeticError):  # it may ask every k-th time, and not now
        explainer.explain_one(*_parts(last))
        before = _text(explainer)
    assert _text(explainer) == before, "an error of the model must leave everything as it was"
    try:
        explainer.explain_one(*_parts(last), w=0.0)
    except ArithmeticError:
        raise AssertionError("with a weight of 0 the model must not be asked") from None
    finally:
        explainer.engine = sound


def _check_memory(explainer: Explainer, stream: Stream) -> None:
    sizes = []
    for _ in range(2):
        for k in range(_ENOUGH):
            # Most are stored and not asked about, which is quick.
            explainer.explain_one(*_parts(stream[k % len(stream)]), w=float(k % 8 == 0))
        sizes.append(len(_text(explainer)))
    assert sizes[1] <= 1.5 * sizes[0] + 1000, (
        f"the state grows with the stream: {sizes[0]} characters after {_ENOUGH} observations, "
        f"{sizes[1]} after {2 * _ENOUGH}"
    )
