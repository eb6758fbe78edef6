"""Names come with the data: what shows itself holds nothing that a terminal would obey."""

import random

import pytest

import ipdp

NAME = "red\x1b]0;owned\x07\x1b[31m\r\x9b"


def slope(x):
    return x[NAME] * x["b"] + 2 * x[NAME]


def explained(model, kind=ipdp.IncrementalPDP):
    draws, explainer = random.Random(1), kind(model, [NAME, "b"])
    for _ in range(120):
        explainer.explain_one({NAME: draws.gauss(0, 1), "b": draws.gauss(0, 1)})
    return explainer


def change(curve):
    return ipdp.Change(NAME, NAME, t=900, began=800, where=None, before=curve, after=curve)


@pytest.fixture(scope="module")
def shown():
    pdp, other = explained(slope), explained(lambda x: {NAME: -5 * slope(x), "other": 0.0})
    same = explained(lambda x: -5 * slope(x))
    comparison = ipdp.compare(pdp, same)
    return [
        pdp,
        other,
        pdp.curve(NAME),
        other.curve(NAME),
        comparison,
        comparison[NAME],
        ipdp.score_move(pdp, same),
        pdp.interactions(),
        other.interactions(output=NAME),
        change(pdp.curve(NAME)),
        pdp.baseline(),
        explained(slope, ipdp.IncrementalALE),
    ]


def test_what_shows_itself_is_printable(shown):
    for each in shown:
        for text in (repr(each), str(each)):
            assert text.replace("\n", "").isprintable(), type(each)
