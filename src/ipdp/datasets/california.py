"""House values in California: 20,640 blocks of the census of 1990."""

from __future__ import annotations

import random
import warnings
from functools import partial
from pathlib import Path
from typing import Any

from river.datasets import base

from ipdp.datasets.files import VARIABLE, Example, Rows, find, read_csv

FEATURES = (
    "MedInc",
    "HouseAge",
    "AveRooms",
    "AveBedrms",
    "Population",
    "AveOccup",
    "Latitude",
    "Longitude",
)
N_SAMPLES = 20_640

_URL = "https://www.dcc.fc.up.pt/~ltorgo/Regression/cal_housing.tgz"

# Columns of the original, in its order: totals instead of means by household.
_COLUMNS = (
    "longitude",
    "latitude",
    "housing_median_age",
    "total_rooms",
    "total_bedrooms",
    "population",
    "households",
    "median_income",
    "median_house_value",
)


def california(path: str | Path | None = None, *, seed: int | None = None) -> base.Dataset:
    """The california housing data, a regression of the median house value in 100,000 dollars.

    Features are those of scikit-learn's `fetch_california_housing`.

    Parameters
    ----------
    path
        The original `cal_housing.tgz`, or the `california_housing.csv` that goes round, also as
        `.csv.gz` (in it 207 blocks have no number of bedrooms: their `AveBedrms` is None), or a
        directory with one of them. None looks in the directory that the environment variable
        IPDP_DATA names, then takes scikit-learn's loader, which downloads the data once.
    seed
        A number shuffles the rows. None keeps their order, which goes from place to place: as a
        stream it drifts all the time.

    Returns
    -------
    A data set with river's interface.
    """
    found = find(path, ("cal_housing.tgz", "california_housing.csv", "california_housing.csv.gz"))
    read = _from_sklearn() if found is None else partial(read_csv, found, _COLUMNS, _example)

    def rows() -> list[Example]:
        examples = list(read())
        if seed is not None:
            random.Random(seed).shuffle(examples)
        return examples

    return Rows(
        rows,
        name="california",
        source="scikit-learn" if found is None else str(found),
        task=base.REG,
        n_features=len(FEATURES),
        n_samples=N_SAMPLES,
    )


def _example(row: dict[str, str]) -> Example:
    value = {name: float(row[name]) for name in _COLUMNS if row[name] != ""}
    households = value["households"]
    bedrooms = value.get("total_bedrooms")
    x = (
        value["median_income"],
        value["housing_median_age"],
        value["total_rooms"] / households,
        None if bedrooms is None else bedrooms / households,
        value["population"],
        value["population"] / households,
        value["latitude"],
        value["longitude"],
    )
    return dict(zip(FEATURES, x, strict=True)), value["median_house_value"] / 100_000


def _from_sklearn() -> Any:
    try:
        from sklearn.datasets import fetch_california_housing
    except ImportError:
        raise ImportError(
            "The california data are loaded by scikit-learn: pip install 'ipdp[sklearn]', or put "
            f"{_URL} into a directory and let the environment variable {VARIABLE} name it"
        ) from None
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Retry downloading")
            data = fetch_california_housing(n_retries=1)
    except OSError as error:
        raise FileNotFoundError(
            f"The data of california are not here and could not be downloaded ({error}): put "
            f"{_URL} into a directory and let the environment variable {VARIABLE} name it"
        ) from error
    return lambda: [
        (dict(zip(FEATURES, x, strict=True)), y)
        for x, y in zip(data.data.tolist(), data.target.tolist(), strict=True)
    ]
