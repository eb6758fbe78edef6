"""Pipelines that nobody has thought of say what plain calls of them say."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from river import compose, ensemble, feature_selection, linear_model, preprocessing
from tests.models.river.models import LR, NB, SS, bagging
from tests.models.trees import streams
from tests.models.trees.asking import Asker, plain_engine, worst_difference
from tests.models.trees.models import ht

from ipdp.models import engine
from ipdp.models.river.compose import ComposedEngine
from ipdp.models.trees import Checker

EXAMPLES = list(streams.loans(80))

NUMERIC = st.sampled_from(
    [
        SS,
        preprocessing.MinMaxScaler,
        preprocessing.MaxAbsScaler,
        feature_selection.VarianceThreshold,
        lambda: compose.Discard("age"),
        lambda: compose.Prefixer("the "),
        lambda: preprocessing.Binarizer(threshold=0.3),
    ]
)
OF_TEXT = st.sampled_from(
    [
        preprocessing.OneHotEncoder,
        preprocessing.OrdinalEncoder,
        lambda: preprocessing.OneHotEncoder(drop_zeros=True),
        lambda: compose.Suffixer("?") | preprocessing.OneHotEncoder(drop_first=True),
    ]
)
MODELS = st.sampled_from(
    [
        LR,
        NB,
        ht,
        linear_model.PAClassifier,
        lambda: bagging(LR()),
        lambda: bagging(SS() | NB()),
        lambda: ensemble.AdaBoostClassifier(SS() | LR(), n_models=2, seed=1),
        lambda: ensemble.StackingClassifier([LR(), NB(), ht()], LR()),
    ]
)


class OfType(compose.SelectType):
    """Can be shown, unlike river's with several types."""

    def __repr__(self):
        return "OfType"


@st.composite
def pipelines(draw):
    """Numbers one way, text another way, one or the other or both; then more steps, and a model."""
    numbers, text = OfType(int, float), OfType(str)
    for make in draw(st.lists(NUMERIC, max_size=2)):
        numbers |= make()
    text |= draw(OF_TEXT)()
    model = draw(st.sampled_from([numbers, text, numbers + text, text + numbers]))
    if draw(st.booleans()):
        model |= SS()
    return model | draw(MODELS)()


@settings(deadline=None, max_examples=25)
@given(model=pipelines(), missing=st.booleans())
def test_any_composition(model, missing):
    asker = Asker(size=4)
    for x, y in EXAMPLES[:-2]:
        asker.learn_one(x)
        model.learn_one(x, y)
    ours, plain = engine(model), plain_engine(model)
    assert isinstance(ours, ComposedEngine)
    ours.checker = Checker(first=0, every=10**9)
    for x, _ in EXAMPLES[-2:]:
        assert worst_difference(ours, plain, x, *asker.question(missing=missing))[0] < 1e-11
    assert ours.fault is None
