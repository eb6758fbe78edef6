"""The rules behind the demo's loan decisions, two of the Agrawal generator's."""

from __future__ import annotations

from typing import Any

Person = dict[Any, Any]


def by_education(x: Person) -> int:
    """The first rule: age and education decide (river's classification function 2)."""
    if x["age"] < 40:
        return int(x["elevel"] in (0, 1))
    return int(x["elevel"] in ((1, 2, 3) if x["age"] < 60 else (2, 3, 4)))


def by_salary(x: Person) -> int:
    """The second rule: age and salary decide (river's classification function 1)."""
    low = 50_000 if x["age"] < 40 else 75_000 if x["age"] < 60 else 25_000
    return int(low <= x["salary"] <= low + 50_000)
