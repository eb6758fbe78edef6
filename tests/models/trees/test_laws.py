"""Every walk obeys the laws of engines, in both builds."""

from __future__ import annotations

import pytest
from tests.models.trees import models, streams
from tests.models.trees.asking import unchecked

from ipdp.checks import check_engine

CASES = [
    *((name, streams.loans) for name in models.MIXED),
    *((name, streams.prices) for name in ("AMF", "AMF leaves", *models.PIPELINES)),
    *((name, streams.distances) for name in models.REGRESSORS),
]
MAKERS = {**models.CLASSIFIERS, **models.MIXED, **models.PIPELINES, **models.REGRESSORS}


@pytest.mark.parametrize(("name", "stream"), CASES, ids=[name for name, _ in CASES])
def test_the_walk_obeys(name, stream):
    model = MAKERS[name]()
    examples = list(stream(250))
    for x, y in examples:
        model.learn_one(x, y)
    ours = unchecked(model)
    check_engine(ours, [x for x, _ in examples[:3]])
    assert ours.fault is None
