"""Streams for the tests of the walk."""

from __future__ import annotations

import random

import numpy as np
from river.datasets import synth


def prices(n, *, missing=0.0):
    """Like elec2: eight numbers, one whole, one constant; what matters changes now and then."""
    rng = np.random.default_rng(7)
    for t in range(n):
        period = (t % 48) / 47
        demand = float(0.4 + 0.2 * np.sin(2 * np.pi * period) + 0.05 * rng.normal())
        price = float(0.06 + 0.05 * demand + 0.02 * rng.normal())
        transfer = float(0.41 + 0.1 * rng.normal())
        x = {
            "date": t / n,
            "day": t // 48 % 7 + 1,
            "period": period,
            "nswprice": price,
            "nswdemand": demand,
            "vicprice": 0.003467,
            "vicdemand": float(0.42 + 0.1 * rng.normal()),
            "transfer": transfer,
        }
        high = price > 0.08 if t // 150 % 2 == 0 else transfer > 0.41
        y = bool(high) != bool(rng.random() < 0.05)
        yield {k: v for k, v in x.items() if rng.random() >= missing}, y


def loans(n, *, missing=0.0):
    """Agrawal: numbers and strings."""
    rng = random.Random(3)
    for x, y in synth.Agrawal(classification_function=2, seed=3).take(n):
        row = {**x, "car": f"car {x['car']}", "elevel": f"level {x['elevel']}"}
        yield {k: v for k, v in row.items() if rng.random() >= missing}, y


def five(n):
    """Five classes, in boxes, with some of them taken for others."""
    rng = np.random.default_rng(9)
    for _ in range(n):
        x = {name: float(rng.normal()) for name in "abcde"}
        y = 0 if x["a"] < -0.5 else 1 if x["b"] < -0.3 else 2 if x["c"] < 0 else 3 + (x["a"] > 0.5)
        yield x, "ABCDE"[y if rng.random() > 0.1 else rng.integers(5)]


def distances(n):
    """A number to predict, which depends on other features after half of the stream."""
    rng = np.random.default_rng(5)
    for t in range(n):
        x = {name: float(rng.normal()) for name in "abcde"}
        x["k"] = int(rng.integers(0, 5))
        y = 3 * x["a"] * (x["b"] > 0) + x["k"] + 0.1 * rng.normal()
        yield x, float(y if t < n // 2 else 2 * x["c"] - x["k"])
