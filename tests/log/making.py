"""Curves and changes to log, and what makes two of them the same."""

import dataclasses

import numpy as np
from hypothesis import strategies as st

from ipdp import Change, Curve, Importance

FEATURES = [
    "a",
    "",
    "<img src=x onerror=alert(1)>",
    "x" * 200,
    "Цена на жильё",
    7,
    ("a", "b"),
    ("a", 7),
    "\ud800 half a character",
    'quoted "name"\n\x00',
]

names = st.one_of(st.text(max_size=8), st.integers(), st.booleans(), st.floats(allow_nan=False))
categories = st.one_of(names, st.none(), st.tuples(st.text(max_size=3), st.integers()))
numbers = st.floats(allow_subnormal=True)  # also NaN, infinities and minus zero


def make_curve(feature="a", n_samples=100, size=20, n_outputs=1, seed=0, **settings):
    """A curve of random values."""
    rng = np.random.default_rng([seed, n_samples])
    values = {
        "feature": feature,
        "outputs": tuple(f"out{k}" for k in range(n_outputs)),
        "grid_values": [np.sort(rng.normal(size=size))],
        "average": rng.normal(size=(n_outputs, size)),
        "std_error": rng.uniform(size=(n_outputs, size)),
        "n_samples": n_samples,
        "n_effective_points": rng.uniform(1, 100, size=size),
        "t": n_samples,
        "rug": [np.sort(rng.normal(size=30))],
    }
    return Curve(**{**values, **settings})


def make_change(feature="a", t=400, **settings):
    """A change of the feature's effect."""
    values = {
        "feature": feature,
        "output": "out0",
        "t": t,
        "began": t - 100,
        "before": make_curve(feature, seed=1),
        "after": make_curve(feature, seed=2),
        "size": 0.1 + 0.2,
        "size_in_errors": float("nan"),
        "where": (0.5, 1.5),
        "range_before": (-1.0, 2.0),
        "range_after": (-1.0, 2.5),
    }
    return Change(**{**values, **settings})


def make_importance(feature="a", n_samples=100, value=0.25, **settings):
    """A permutation importance."""
    settings = {"std_error": 0.5, "n_effective": n_samples / 3, "t": n_samples, **settings}
    return Importance(feature, value, n_samples=n_samples, **settings)


def objects(values):
    """An array of objects."""
    array = np.empty(len(values), dtype=object)
    for k, value in enumerate(values):
        array[k] = value
    return array


@st.composite
def curves(draw):
    """Any curve: of one feature or two, of numbers, integers or categories."""
    kinds = draw(st.lists(st.sampled_from(["float", "int", "category"]), min_size=1, max_size=2))
    shape = tuple(draw(st.integers(0, 4)) for _ in kinds)
    n_outputs = draw(st.integers(0, 3))

    def floats(*shape):
        size = int(np.prod(shape))
        values = draw(st.lists(numbers, min_size=size, max_size=size))
        return np.array(values, dtype=float).reshape(shape)

    def axis(kind, size):
        of = {"float": numbers, "int": st.integers(-(2**63), 2**63 - 1), "category": categories}
        values = draw(st.lists(of[kind], min_size=size, max_size=size))
        return objects(values) if kind == "category" else np.array(values, dtype=kind)

    has_missing = draw(st.booleans())
    feature = tuple(draw(names) for _ in kinds) if len(kinds) > 1 else draw(names)
    return Curve(
        feature=feature,
        outputs=tuple(draw(st.lists(names, min_size=n_outputs, max_size=n_outputs))),
        grid_values=[axis(kind, size) for kind, size in zip(kinds, shape, strict=True)],
        average=floats(n_outputs, *shape),
        std_error=floats(n_outputs, *shape),
        n_samples=draw(st.integers(0, 2**40)),
        n_effective_points=floats(*shape),
        categorical=tuple(kind == "category" for kind in kinds),
        t=draw(st.one_of(st.none(), st.integers(), numbers)),
        rug=[axis(kind, draw(st.integers(0, 5))) for kind in kinds],
        missing=floats(n_outputs) if has_missing else None,
        missing_std_error=floats(n_outputs) if has_missing else None,
        **(_errors(n_outputs, shape, floats) if draw(st.booleans()) else {}),
        provisional=draw(st.booleans()),
    )


def _errors(n_outputs, shape, floats):
    names = ("inflation", "degrees", "path_length", "centred_path_length")
    each = {name: floats(n_outputs) for name in names}
    return {**each, "centred_std_error": floats(n_outputs, *shape)}


def same(one, other):
    """Whether two curves or changes are equal bit for bit."""
    return _bits(one) == _bits(other)


def _bits(value):
    if dataclasses.is_dataclass(value):
        fields = dataclasses.fields(value)
        return {field.name: _bits(getattr(value, field.name)) for field in fields}
    if isinstance(value, np.ndarray):
        content = _bits(value.tolist()) if value.dtype == object else value.tobytes()
        return value.dtype, value.shape, content
    if isinstance(value, (list, tuple)):
        return type(value), [_bits(item) for item in value]
    if isinstance(value, dict):
        return {name: _bits(item) for name, item in value.items()}
    return type(value), repr(value)
