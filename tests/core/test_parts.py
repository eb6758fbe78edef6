"""Which curves are those of a part of the observations."""

import numpy as np
import pytest

from ipdp.core.curve import Curve
from ipdp.core.output_names import PREDICTION
from ipdp.core.parts import feature_where, parts_among, without_parts


def curve(feature, where=None):
    name = feature if where is None else feature_where(feature, where)
    values = np.array([[0.0, 1.0]])
    n = np.full(2, 90.0)
    return Curve(name, PREDICTION, [np.array([0.0, 1.0])], values, values, 90, n, where=where)


@pytest.mark.parametrize(
    ("features", "parts"),
    [
        (["a", "b"], set()),
        (["a", "a, where b = 1", "c, where b = 1"], {"a, where b = 1"}),
        # Values and names may hold the words themselves.
        (["a", "a, where b = x, where y"], {"a, where b = x, where y"}),
        (["a, where b", "a, where b, where c = 1"], {"a, where b, where c = 1"}),
        ([("a", "b"), ("a", "b, where c = 1")], {("a", "b, where c = 1")}),
        (["b", ("a", "b, where c = 1")], set()),
        ([0, "0, where c = 1"], {"0, where c = 1"}),
    ],
)
def test_a_part_is_one_only_beside_its_whole(features, parts):
    assert parts_among(features) == parts


def test_without_parts_keeps_features_that_have_parts_only():
    whole, part, alone = curve("a"), curve("a", "c = 1"), curve("d", "c = 1")
    called = curve("a, where nothing")  # of all observations, whatever its name
    assert without_parts([part, whole, alone, called]) == [whole, alone, called]
