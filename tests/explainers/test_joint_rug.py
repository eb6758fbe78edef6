"""What a pair remembers of its data: values of two features that came together."""

import json

import numpy as np

import ipdp
from ipdp.grid import MinMax


def explainer():
    return ipdp.IncrementalPDP(
        lambda x: x["a"], ["a", ("b", "a"), ("a", "word")], alpha=0.1, grid={"a": MinMax(3)}
    )


def stream(n, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        a = rng.normal()
        yield {"a": a, "b": 2 * a + 1, "word": "up" if a > 0 else "down"}


def test_the_rug_of_a_pair_keeps_together_what_came_together():
    pdp = explainer()
    for x in stream(400):
        pdp.explain_one(x)
    b, a = pdp.curve(("b", "a")).rug
    assert len(a) == 256
    np.testing.assert_allclose(b, 2 * a + 1)
    newest = [x["a"] for x in stream(400)][-256:]
    assert a.tolist() == newest
    a, word = pdp.curve(("a", "word")).rug
    assert word.tolist() == ["up" if value > 0 else "down" for value in a]


def test_an_observation_with_a_hole_is_left_out():
    pdp = explainer()
    for k, x in enumerate(stream(60)):
        pdp.explain_one({**x, "b": None} if k % 2 else x)
    b, a = pdp.curve(("b", "a")).rug
    assert len(b) == len(a) == 30
    assert len(pdp.curve(("a", "word")).rug[0]) == 60


def test_it_survives_state_copies_tables_and_merges():
    rows = list(stream(100))
    whole, parts, many = explainer(), explainer(), explainer()
    for x in rows:
        whole.explain_one(x)
    for x in rows[:60]:
        parts.explain_one(x)
    later = parts.successor()
    for x in rows[60:]:
        later.explain_one(x)
    many.explain_many(rows)
    restored = explainer()
    restored.state = json.loads(json.dumps(whole.state))
    expected = [rug.tolist() for rug in whole.curve(("a", "word")).rug]
    for other in (many, parts.merge(later), restored):
        assert [rug.tolist() for rug in other.curve(("a", "word")).rug] == expected
    strangers = explainer()
    strangers.explain_many(rows[60:])
    joined = parts.merge(strangers).curve(("a", "word")).rug
    assert [rug.tolist() for rug in joined] == expected


def test_the_surface_shows_the_density_of_recent_observations():
    from matplotlib.figure import Figure

    from ipdp.plot import PDPDisplay

    pdp = explainer()
    for x in stream(300):
        pdp.explain_one(x)
    shown = PDPDisplay(pdp.curve(("b", "a"))).plot(ax=Figure().subplots())
    assert shown.density_ is not None
    bare = PDPDisplay(pdp.curve(("b", "a"))).plot(ax=Figure().subplots(), rug=False)
    assert bare.density_ is None
    figure = pdp.curve(("a", "word")).plot(backend="plotly")
    dots = next(trace for trace in figure.data if trace.type == "scatter")
    assert sum(np.asarray(dots.marker.size) > 0) >= 2
