"""A part of `make chaos`: 10,000 damaged states of every kind, in both builds."""

import functools
import math
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from ipdp.core.jsonable import pack_floats, unpack_floats

from .__main__ import child
from .states import CASES
from .subjects import SUBJECTS, Refused

made = functools.cache(lambda name: SUBJECTS[name]())

FOUND: list[tuple[str, tuple[Any, ...], Any]] = [
    ("ale", ("fold", "orders", 0, 1), 7),
    ("ale", ("fold", "orders", 0, 1), None),
    ("pointwise", ("fold", "recent", 2, "positions", 0, 6), math.nan),
    ("pointwise", ("fold", "grids", 0, "storage", "by_age"), []),
    ("ranges", ("fold", "grids", 0, "knots"), []),
    ("segments", ("fold", "groups", "recent", 1, 24, 0), math.nan),
    ("monitor", ("detector",), {"words": ["long"] * 500}),
    ("monitor", ("watch", "data", "scales", "age", 0), math.nan),
    ("monitor", ("watch", "data", "scales", "age", 9), -math.inf),
    ("regions", ("fold", "regions", "own", "columns", 5), [1, ["x"]]),
    ("regions", ("fold", "regions", "own", "anchors"), [0] * 10),
    ("run", ("run", "explainers", 0), "pdp" * 500),
    ("run", ("run", "version"), {"Accuracy": ["long"] * 500}),
    ("run", ("run", "waiting", "questions", 5, "tuple", 3, "dict", 1, 1), "0.2"),
    ("run", ("run", "waiting", "questions", 5, "tuple", 3, "dict", 0, 1), [0.2]),
    ("run", ("run", "waiting", "questions", 9, "tuple", 3), ["yes", 0.2]),
    ("pfi", ("fold", "t"), 329274025131735433555899716704736054093),
    ("pfi", ("fold", "blocks", "until"), math.inf),
    ("pointwise", ("fold", "grids", 1, "storage", "smallest", 0), [0, 90]),
    ("monitor", ("watch", "model", "labels", 0), -math.inf),
    ("pdp", ("fold", "joint_values", "columns", 0, "shape"), [90, 1]),
    ("segments", ("fold", "groups", "recent"), {"": [2]}),
    ("regions", ("fold", "regions", "own", "waiting", 3, 3), 1e308),
    ("segments", ("fold", "groups", "ends", "ends", 0, "t", 1), 2**63),
    ("segments", ("fold", "groups", "ends", "ends", 1, "t", 1), 1_000_000),
    ("segments", ("fold", "groups", "scale", 0), 0),
    ("segments", ("fold", "groups", "scale", 0), 5e-324),
    ("segments", ("fold", "spread", "own", "frame", 0, 0), 9e153),
    ("pointwise", ("fold", "grids", 2, "counts", "recent"), []),
    ("ale", ("fold", "orders", 0, 1), ["v", "w", "u", "u"]),
    ("pointwise", ("fold", "grids", 1, "storage", "smallest", 0, 1), 2**53),
    ("pointwise", ("fold", "pool", "weights", 1, 7), -1e149),
]
"""Damage that was once accepted and failed later, or was refused in more than a sentence."""


@pytest.mark.parametrize(("name", "path", "value"), FOUND)
def test_damage_that_was_found_is_refused_or_works(name, path, value):
    subject = made(name)
    *above, last = path
    part = functools.reduce(lambda tree, key: tree[key], above, subject.state)
    was, part[last] = part[last], value
    with suppress(Refused):
        subject.use(subject.state)
    part[last] = was


AGAINST_THE_CLOCK: list[tuple[str, tuple[Any, ...], Any]] = [
    ("regions", ("fold", "regions", "own", "waiting", 3, 3), 1e308),
    ("regions", ("fold", "regions", "own", "waiting", 3, 3), -5),
    ("regions", ("fold", "regions", "own", "as_of"), 90),
    ("regions", ("fold", "regions", "own", "centred", "t"), 1_000_000),
    ("regions", ("fold", "regions", "own", "blocks", "t"), 90),
    ("regions", ("fold", "regions", "own", "t"), 1_000_000),
    ("regions", ("fold", "told", "own", "t"), 1_000_000),
    ("segments", ("fold", "groups", "t", 0), 1_000_000),
    ("segments", ("fold", "groups", "ends", "ends", 0, "t", 1), 2**63),
    ("segments", ("fold", "groups", "ends", "ends", 1, "t", 1), 1_000_000),
    ("segments", ("fold", "groups", "ends", "ends", 1, "t", 1), 1),
    ("segments", ("fold", "groups", "ends", "ends", 1, "number"), 0),
    ("pointwise", ("fold", "pool", "records", "records", 0, 1), 1_000_000),
    ("pointwise", ("fold", "spread", "own", "t"), 1_000_000),
    ("pdp", ("fold", "smoothing", "t"), 1_000_000),
    ("ale", ("fold", "blocks", "t"), 1_000_000),
    ("ale", ("fold", "smoothing", "t"), 70),
    ("ale", ("fold", "blocks", "numbers", -1), 50),
    ("pdp", ("fold", "smoothing", "t"), 70),
    ("pdp", ("fold", "blocks", "numbers", -1), 50),
    ("pfi", ("fold", "smoothing", "t"), 70),
    ("pfi", ("fold", "smoothing", "t"), 1_000_000),
]


@pytest.mark.parametrize(("name", "path", "value"), AGAINST_THE_CLOCK)
def test_times_that_go_back_are_refused(name, path, value):
    subject = made(name)
    *above, last = path
    part = functools.reduce(lambda tree, key: tree[key], above, subject.state)
    was, part[last] = part[last], value
    with pytest.raises(Refused, match=r"go back|later than its last time|do not ascend"):
        subject.use(subject.state)
    part[last] = was


@pytest.mark.parametrize("name", ["pdp", "regions", "segments", "ale", "pfi"])
@pytest.mark.parametrize("size", [1e149, 9e149, 1e300])
def test_means_beyond_all_answers_are_refused(name, size):
    subject = made(name)
    for part, rows in [("smoothing", "mean"), ("blocks", "mean"), ("blocks", "start_mean")]:
        means = subject.state["fold"][part][rows]
        was = means[:]
        means[:] = (np.zeros(np.shape(means)) + size).tolist()
        with pytest.raises(Refused, match="mean"):
            subject.use(subject.state)
        means[:] = was


def test_bins_that_are_too_many_or_there_twice_are_refused():
    subject = made("ale")
    bins = subject.state["fold"]["bins"]
    was = bins[1]
    for keys in ([[f"{k}"] for k in range(3_000)], [*was, was[-1]]):
        bins[1] = keys
        with pytest.raises(Refused, match="are no bins"):
            subject.use(subject.state)
    bins[1] = was


def test_bins_of_another_feature_are_refused_or_read():
    subject = made("ale")
    bins = subject.state["fold"]["bins"]
    bins[:2] = bins[1::-1]
    with suppress(Refused):
        subject.use(subject.state)
    bins[:2] = bins[1::-1]


def test_positions_that_are_none_are_refused():
    subject = made("pointwise")
    positions = subject.state["fold"]["pool"]["records"]["positions"]
    was = positions["all"]
    values = unpack_floats(was)
    values[7] = math.nan
    positions["all"] = pack_floats(values)
    with pytest.raises(Refused, match="positions"):
        subject.use(subject.state)
    positions["all"] = was


def test_more_observations_than_were_stored_are_refused():
    subject = made("pointwise")
    pool = subject.state["fold"]["pool"]
    was, pool["n"] = pool["n"], 0
    with pytest.raises(Refused, match="more observations than were stored"):
        subject.use(subject.state)
    pool["n"] = was


@pytest.mark.parametrize("env", [{}, {"IPDP_PURE": "1"}], ids=["compiled", "pure"])
def test_damaged_states_are_refused_or_work(env):
    assert CASES.keys() == SUBJECTS.keys()
    words = (f"{name}={n}" for name, n in CASES.items())
    found = child("tests.chaos.states", 0, *words, seconds=900, **env)
    assert [each for each in found if each["failures"]] == []
    assert {each["name"]: each["refused"] + each["works"] for each in found} == CASES
    # Damage is noticed, as a rule, and not all of it matters.
    assert all(each["refused"] > CASES[each["name"]] // 3 for each in found)
    assert all(each["works"] > CASES[each["name"]] // 20 for each in found)
