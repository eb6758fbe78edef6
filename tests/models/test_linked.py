"""A model on the scale of a link obeys the laws of engines."""

import numpy as np
import pytest
from river import linear_model
from sklearn.linear_model import LogisticRegression

from ipdp.checks import check_engine
from ipdp.models import RowEngine, engine
from ipdp.models.linked import Linked, on_link
from ipdp.models.without import Without
from ipdp.runs.models import alike

ROWS = [{"a": float(a), "b": float(b)} for a, b in np.random.default_rng(1).normal(size=(8, 2))]


@pytest.mark.parametrize("link", ["logit", "log"])
def test_the_laws(link):
    X = np.array([list(row.values()) for row in ROWS])
    fitted = LogisticRegression().fit(X, X[:, 0] > 0)
    for model in (fitted, linear_model.LogisticRegression()):
        check_engine(Linked(engine(model), link), ROWS)


class Sloped(RowEngine):
    """A probability whose log-odds have the slopes 2 and -1."""

    def gradients(self, observations, names):
        outputs = self.predict(observations)
        return outputs, (outputs.values * (1 - outputs.values)) * np.array([2.0, -1.0])


def test_gradients_are_those_on_the_scale():
    inner = Sloped(lambda x: 1 / (1 + np.exp(x["b"] - 2 * x["a"])), description="sloped")
    outputs, slopes = Linked(inner, "logit").gradients(ROWS, ["a", "b"])
    np.testing.assert_allclose(slopes, np.tile([[[2.0, -1.0]]], (len(ROWS), 1, 1)))
    np.testing.assert_array_equal(outputs.values, Linked(inner, "logit").predict(ROWS).values)


def test_it_is_made_again_around_another_model():
    known = Without(Linked(engine(linear_model.LogisticRegression()), "logit"), "c", ("a", "c"))
    other = linear_model.LogisticRegression()
    again = alike(known, other)
    assert type(again) is Without
    assert (again.model, again.link, again.column) == (other, "logit", "c")
    assert alike(known, object()) is None
    assert on_link(again, "logit") is again
