"""The real data of the paper: electricity prices of New South Wales, house values of California."""

from __future__ import annotations

import random
import warnings
from functools import partial
from pathlib import Path
from typing import Any

from river import datasets
from river.datasets import base

from ipdp.datasets.files import VARIABLE, Example, Rows, find, read_csv

_ELEC2 = ("date", "day", "period", "nswprice", "nswdemand", "vicprice", "vicdemand", "transfer")

# Columns of the original, in its order: totals instead of means by household.
_CALIFORNIA = (
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

_PUT = f"into a directory and let the environment variable {VARIABLE} name it"
_PUT_ELEC2 = f"put https://maxhalford.github.io/files/datasets/electricity.zip {_PUT}"
_PUT_CALIFORNIA = f"put https://www.dcc.fc.up.pt/~ltorgo/Regression/cal_housing.tgz {_PUT}"
_NOT_HERE = "The data of {} are not here and could not be downloaded ({}): {}"


def elec2(path: str | Path | None = None) -> base.Dataset:
    """The elec2 stream, a binary classification with True for "up".

    Prices of 45,312 half hours. `vicprice`, `vicdemand` and `transfer` are constant until row
    17,424, where the market was extended: the stream's well-known drift.

    Parameters
    ----------
    path
        The file `electricity.zip` or `electricity.csv`, or a directory with one of them. None looks
        in the directory that the environment variable IPDP_DATA names, then takes river's
        `Elec2`, which downloads the data once.

    Returns
    -------
    A data set with river's interface.
    """
    found = find(path, ("electricity.zip", "electricity.csv"))
    if found is not None:
        return Rows(
            partial(read_csv, found, (*_ELEC2, "class"), _half_hour),
            name="elec2",
            source=str(found),
            task=base.BINARY_CLF,
            n_features=len(_ELEC2),
            n_samples=45_312,
            n_classes=2,
        )
    dataset = datasets.Elec2()  # type: ignore[no-untyped-call] # river is not typed there
    try:
        dataset.download(verbose=False)  # type: ignore[no-untyped-call]
    except OSError as error:
        raise FileNotFoundError(_NOT_HERE.format("elec2", error, _PUT_ELEC2)) from error
    return dataset


def _half_hour(row: dict[str, str]) -> Example:
    x: dict[str, Any] = {name: float(row[name]) for name in _ELEC2}
    x["day"] = int(row["day"])
    return x, row["class"] == "UP"


def california(path: str | Path | None = None, *, seed: int | None = None) -> base.Dataset:
    """The california housing data, a regression of the median house value in 100,000 dollars.

    20,640 blocks of the census of 1990. Features are those of scikit-learn's
    `fetch_california_housing`.

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
    read = _from_sklearn() if found is None else partial(read_csv, found, _CALIFORNIA, _block)

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
        n_features=8,
        n_samples=20_640,
    )


def _block(row: dict[str, str]) -> Example:
    value = {name: float(row[name]) for name in _CALIFORNIA if row[name] != ""}
    households = value["households"]
    bedrooms = value.get("total_bedrooms")
    x = {
        "MedInc": value["median_income"],
        "HouseAge": value["housing_median_age"],
        "AveRooms": value["total_rooms"] / households,
        "AveBedrms": None if bedrooms is None else bedrooms / households,
        "Population": value["population"],
        "AveOccup": value["population"] / households,
        "Latitude": value["latitude"],
        "Longitude": value["longitude"],
    }
    return x, value["median_house_value"] / 100_000


def _from_sklearn() -> Any:
    try:
        from sklearn.datasets import fetch_california_housing
    except ImportError:
        raise ImportError(
            "The california data are loaded by scikit-learn: pip install 'ipdp[sklearn]', or "
            + _PUT_CALIFORNIA
        ) from None
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Retry downloading")
            data = fetch_california_housing(n_retries=1)
    except OSError as error:
        raise FileNotFoundError(_NOT_HERE.format("california", error, _PUT_CALIFORNIA)) from error
    return lambda: [
        (dict(zip(data.feature_names, x, strict=True)), y)
        for x, y in zip(data.data.tolist(), data.target.tolist(), strict=True)
    ]
