"""A small file of a model is not loaded if it would take far more memory."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pytest
import skops.io
from scipy.sparse import csr_matrix
from sklearn.linear_model import LinearRegression

from ipdp.models.load import LoadError, load_model
from ipdp.runs.checkpoint import CheckpointError
from ipdp.runs.models import load_into


def model(coefficients):
    made = LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0])
    made.coef_ = coefficients
    return made


def packed():
    return skops.io.dumps(model(np.zeros(15_000_000)), compression=zipfile.ZIP_DEFLATED)


def sparse():
    """A matrix that is an archive of its own, packed within one that is not."""
    return skops.io.dumps(model(csr_matrix(np.ones((3_000, 3_000)))))


def named_often():
    """One array, as a hundred of them."""
    data = skops.io.dumps(model([np.zeros(130_000) + k for k in range(2)]))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        schema = json.loads(archive.read("schema.json"))
        arrays = {name: archive.read(name) for name in archive.namelist() if name != "schema.json"}
    attributes = schema["content"]["content"]
    first = attributes["coef_"]["content"][0]
    attributes["coef_"]["content"] = [{**first, "__id__": k} for k in range(100)]
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("schema.json", json.dumps(schema))
        for name, content in arrays.items():
            archive.writestr(name, content)
    return made.getvalue()


@pytest.mark.parametrize("make", [packed, sparse, named_often])
def test_what_would_take_far_more_is_refused(make, tmp_path):
    data = make()
    assert len(data) < 3_000_000
    (tmp_path / "model.skops").write_bytes(data)
    with pytest.raises(LoadError, match=r"it would take \d+ MB, far more than the file has"):
        load_model(tmp_path / "model.skops")
    with pytest.raises(CheckpointError, match=r"it is compressed|it would take \d+ MB"):
        load_into(LinearRegression(), data)


def test_what_is_packed_well_and_small_is_loaded(tmp_path):
    data = skops.io.dumps(model(np.zeros(1_000_000)), compression=zipfile.ZIP_DEFLATED)
    (tmp_path / "model.skops").write_bytes(data)
    assert len(load_model(tmp_path / "model.skops").coef_) == 1_000_000
    kept = LinearRegression()
    load_into(kept, skops.io.dumps(model(np.zeros(100))))
    assert kept.coef_.shape == (100,)
