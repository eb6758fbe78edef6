"""Frozen workloads: the same observations in every run."""

from __future__ import annotations

import csv
import io
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

Example = tuple[dict[str, float], bool]

ELEC2_FILE = Path(os.environ.get("IPDP_DATA", "data")) / "electricity.zip"
"""The file that river's `Elec2` downloads."""

ELEC2 = ("date", "day", "period", "nswprice", "nswdemand", "vicprice", "vicdemand", "transfer")


def elec2(n: int) -> list[Example]:
    """The first n observations of elec2, or of a made-up stream of the same shape.

    `ELEC2_FILE` is looked for in the directory that IPDP_DATA names, `data` if it names none.
    """
    examples = _from_file(ELEC2_FILE) if ELEC2_FILE.exists() else _made_up()
    return [example for example, _ in zip(examples, range(n), strict=False)]


def _from_file(path: Path) -> Iterator[Example]:
    with zipfile.ZipFile(path) as archive, archive.open("electricity.csv") as file:
        for row in csv.DictReader(io.TextIOWrapper(file)):
            x: dict[str, float] = {name: float(row[name]) for name in ELEC2}
            x["day"] = int(row["day"])
            yield x, row["class"] == "UP"


def _made_up() -> Iterator[Example]:
    rng = np.random.default_rng(42)
    t = 0
    while True:
        period, day = (t % 48) / 47, t // 48 % 7 + 1
        demand = 0.4 + 0.2 * np.sin(2 * np.pi * period) + 0.05 * rng.normal()
        price = 0.06 + 0.05 * demand + 0.02 * rng.normal()
        x = {
            "date": min(t / 45_312, 1.0),
            "day": day,
            "period": period,
            "nswprice": price,
            "nswdemand": demand,
            "vicprice": 0.003467 if t < 17_424 else 0.003 + 0.01 * rng.random(),
            "vicdemand": 0.42 + 0.1 * rng.normal(),
            "transfer": 0.41 + 0.1 * rng.normal(),
        }
        t += 1
        yield x, bool(price + 0.02 * rng.normal() > 0.06 + 0.05 * 0.4)
