"""The curves of training data in a small file."""

from __future__ import annotations

import numpy as np
import pytest

import ipdp
from ipdp.comparison import Against, Baseline
from ipdp.core import packing

from .making import explained, logged, make_curve, rows


def model(x):
    return x["a"] + x["b"] * x["c"]


def test_bytes_give_the_same_curves_back():
    pdp = explained(model, rows(500, 1))
    data = pdp.baseline().to_bytes()
    again = Baseline.from_bytes(data)
    for feature, curve in pdp.results().items():
        np.testing.assert_array_equal(again.curves[feature].average, curve.average)
        np.testing.assert_array_equal(again.curves[feature].rug[0], curve.rug[0])
    assert again.to_bytes() == data


def test_names_keep_their_types_and_categories_too():
    data = [{1: "x" if k % 3 else "y", 2: k % 7} for k in range(300)]
    pdp = explained(lambda x: {True: x[2] / 7, False: 1 - x[2] / 7}, data)
    again = Baseline.from_bytes(pdp.baseline().to_bytes())
    assert list(again.curves) == [1, 2]
    assert again.curves[1].grid_values[0].tolist() == pdp.curve(1).grid_values[0].tolist()
    assert again.curves[2].outputs == pdp.curve(2).outputs


def test_fifty_features_of_five_classes_are_less_than_a_megabyte():
    rng = np.random.default_rng(1)
    columns = [str(k) for k in range(50)]
    weights = rng.normal(size=(50, 5))

    def classes(X):
        p = np.exp(X @ weights / 7)
        return p / p.sum(axis=1, keepdims=True)

    engine = ipdp.models.engine(classes, takes="array")
    pdp = ipdp.IncrementalPDP(engine, n_ice=0)
    pdp.explain_many(rng.normal(size=(300, 50)), names=columns)
    assert len(pdp.baseline().to_bytes()) < 1_000_000


def test_production_against_training():
    base = Baseline.of(explained(model, rows(1_500, 1), alpha=None))
    assert ipdp.compare(base, explained(model, rows(1_500, 2))).verdict != "different"
    other = explained(lambda x: 2 * x["a"] + x["b"] * x["c"], rows(1_500, 3))
    assert [each.feature for each in ipdp.compare(base, other).different] == ["a"]


def test_a_log_against_training(tmp_path):
    base = Baseline.of(explained(model, rows(1_500, 1)))
    assert ipdp.compare(base, logged(tmp_path, rows(800, 2))).verdict != "different"


@pytest.mark.parametrize(
    ("curves", "message"),
    [
        ([make_curve([0, 1])], "lacks size$"),
        ([make_curve([0, 1], feature=f) for f in ("age", "size", "more")], "has more more$"),
        (
            [make_curve([0, 1], feature=f, outputs=("p",)) for f in ("age", "size")],
            "of other outputs: prediction, not p$",
        ),
    ],
)
def test_another_model_is_refused_in_a_sentence(curves, message):
    base = Baseline.of({f: make_curve([0, 1], feature=f) for f in ("age", "size")})
    with pytest.raises(ValueError, match=message):
        ipdp.compare(base, curves)
    with pytest.raises(ValueError, match=message):
        ipdp.compare(curves, base)


def test_nothing_seen_yet():
    with pytest.raises(ValueError, match="needs observations"):
        ipdp.IncrementalPDP(model).baseline()


def changed(**more):
    state = packing.unpack(Baseline.of({"age": make_curve([0, 1])}).to_bytes())
    return packing.pack({**state, **more})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not a state of ipdp"),
        (b"cos\nsystem\n(S'touch /tmp/x'\ntR.", "not a state of ipdp"),
        (changed()[:-3], "cut off or damaged"),
        (packing.pack({"a": 1}), "no baseline of ipdp"),
        (packing.pack([1.0]), "no baseline of ipdp"),
        (changed(version=9), "of version 9"),
        (changed(curves=[]), "is damaged"),
        (changed(curves=[{"version": 1}]), "is damaged"),
        (changed(curves=3), "is damaged"),
    ],
)
def test_what_is_no_baseline_is_refused(tmp_path, data, message):
    path = tmp_path / "base.ipdp"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=message):
        Baseline.load(path)


def test_a_run_against_training_says_what_its_log_says(tmp_path):
    rng = np.random.default_rng(1)
    rows = [{"a": a} for a in np.exp(rng.normal(size=800) * 0.7).tolist()]
    base = explained(lambda x: x["a"], rows[:400], alpha=None).baseline()
    against = Against(base)
    pdp = ipdp.IncrementalPDP(lambda x: x["a"] + max(x["a"] - 2, 0) / 9, alpha=0.005)
    options = {"learn": False, "log": tmp_path, "listeners": [against]}
    ipdp.run(rows[400:], pdp.model, pdp, **options)
    of_log = ipdp.compare(base, tmp_path)["a"]
    np.testing.assert_array_equal(against.comparison["a"].shape, of_log.shape)


def test_few_observations_are_said_to_be_few():
    rows = [{"a": k % 9} for k in range(400)]
    base = explained(lambda x: x["a"], rows, alpha=None).baseline()
    said = []
    pdp = ipdp.IncrementalPDP(lambda x: -x["a"])
    listeners = [Against(base, said.append)]
    ipdp.run(rows[:150], pdp.model, pdp, learn=False, listeners=listeners)
    assert said[0].endswith(" (few observations yet)")


def test_a_run_says_once_that_it_differs():
    base = Baseline.of(explained(lambda x: -x["a"], rows(600, 1), alpha=None))
    said = []
    pdp = ipdp.IncrementalPDP(lambda x: x["a"], n_ice=0)
    against = Against(base, said.append)
    ipdp.run(rows(400, 2), pdp.model, pdp, learn=False, listeners=[against])
    assert len([text for text in said if ": a: different" in text]) == 1
    assert said[0].startswith("at 100, against the baseline: a: different")
    assert against.comparison.verdict == "different"


def test_another_level_is_one_sentence_however_many_features():
    base = Baseline.of(explained(lambda x: x["a"] + x["b"], rows(600, 1), alpha=None))
    said = []
    pdp = ipdp.IncrementalPDP(lambda x: x["a"] + x["b"] + 5.0, n_ice=0)
    against = Against(base, said.append)
    ipdp.run(rows(600, 2), pdp.model, pdp, learn=False, listeners=[against])
    (sentence,) = said
    assert sentence.startswith("at 100, against the baseline: level of prediction: ")
    assert "higher in the run at 100, seen in 3 of 3 curves" in sentence
    assert against.comparison.heading.endswith("none of 3 features different, but the level is")


def test_a_run_with_groups_is_compared_as_a_whole():
    data = [{"a": k % 7, "g": "xy"[k % 2]} for k in range(150)]
    base = explained(lambda x: float(x["a"]), data, features=["a"], alpha=None).baseline()
    pdp = ipdp.IncrementalPDP(lambda x: float(x["a"]), ["a"], by="g", n_ice=0)
    against = Against(base)
    ipdp.run(data, pdp.model, pdp, learn=False, listeners=[against])
    assert against.comparison.features == ["a"]


def test_the_scale_of_a_link_is_kept_and_another_one_refused(tmp_path):
    def model(x):
        return 1 / (1 + np.exp(-x["a"]))

    data = np.random.default_rng(1).normal(size=(200, 1))
    plain, with_link = (ipdp.IncrementalPDP(model, ["a"], link=link) for link in (None, "logit"))
    for pdp in (plain, with_link):
        pdp.explain_many(data, names=["a"])
    base = Baseline.load(with_link.baseline().save(tmp_path / "base.ipdp"))
    assert base.curves["a"].link == "logit"
    assert ipdp.compare(base, with_link).verdict == "alike"
    with pytest.raises(ValueError, match="one scale: the baseline has link=logit, b has no link"):
        ipdp.compare(base, plain)
    with pytest.raises(ValueError, match="both sides must have one scale"):
        ipdp.score_move(plain, with_link)
