"""Electricity prices in New South Wales: whether they go up, for 45,312 half hours."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from river import datasets
from river.datasets import base

from ipdp.datasets.files import VARIABLE, Example, Rows, find, read_csv

FEATURES = ("date", "day", "period", "nswprice", "nswdemand", "vicprice", "vicdemand", "transfer")
N_SAMPLES = 45_312

_URL = "https://maxhalford.github.io/files/datasets/electricity.zip"


def elec2(path: str | Path | None = None) -> base.Dataset:
    """The elec2 stream, a binary classification with True for "up".

    `vicprice`, `vicdemand` and `transfer` are constant until row 17,424, where the market was
    extended: the stream's well-known drift.

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
    if found is None:
        return _rivers()
    return Rows(
        partial(read_csv, found, (*FEATURES, "class"), _example),
        name="elec2",
        source=str(found),
        task=base.BINARY_CLF,
        n_features=len(FEATURES),
        n_samples=N_SAMPLES,
        n_classes=2,
    )


def _example(row: dict[str, str]) -> Example:
    x: dict[str, Any] = {name: float(row[name]) for name in FEATURES}
    x["day"] = int(row["day"])
    return x, row["class"] == "UP"


def _rivers() -> base.Dataset:
    dataset = datasets.Elec2()  # type: ignore[no-untyped-call] # river is not typed there
    try:
        dataset.download(verbose=False)  # type: ignore[no-untyped-call]
    except OSError as error:
        raise FileNotFoundError(
            f"The data of elec2 are not here and could not be downloaded ({error}): put {_URL} "
            f"into a directory and let the environment variable {VARIABLE} name it"
        ) from error
    return dataset
