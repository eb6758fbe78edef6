"""Files with the columns of the real ones and numbers of our own."""

from __future__ import annotations

import csv
import math
import random
from pathlib import Path

ELEC2 = ("date", "day", "period", "nswprice", "nswdemand", "vicprice", "vicdemand", "transfer")
CALIFORNIA = (
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


def write_csv(path: Path, columns, rows) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)
    return path


def electricity(n: int, constant_until: int) -> list[list[object]]:
    """vicprice is constant at first; later high values of it go with a rise."""
    rng = random.Random(42)
    rows: list[list[object]] = []
    for t in range(n):
        vicprice = 0.003467 if t < constant_until else rng.uniform(0.001, 0.006)
        price, demand = rng.uniform(0, 0.2), rng.random()
        chance = price * 3 + (0 if t < constant_until else 150 * (vicprice - 0.0035))
        up = rng.random() < chance
        row = [t / n, t // 48 % 7 + 1, t % 48 / 47, price, demand, vicprice, 0.42, 0.41]
        rows.append([*row, "UP" if up else "DOWN"])
    return rows


def housing(n: int) -> list[list[object]]:
    """Values fall to the east; every hundredth block has no number of bedrooms."""
    rng = random.Random(42)
    rows: list[list[object]] = []
    for k in range(n):
        longitude, income = rng.uniform(-124, -114), rng.uniform(1, 10)
        households = rng.randint(50, 500)
        value = 10 ** (5.2 - 0.05 * (longitude + 119) + 0.05 * (income - 5) + rng.gauss(0, 0.05))
        rooms = households * rng.uniform(3, 7)
        bedrooms = "" if k % 100 == 99 else math.ceil(rooms / 5)
        people = households * rng.randint(2, 4)
        place = [longitude, rng.uniform(32, 42), rng.randint(1, 52)]
        rows.append([*place, rooms, bedrooms, people, households, income, value])
    return rows
