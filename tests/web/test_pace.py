"""Pages are asked for patience where there are many of them."""

from __future__ import annotations

import pytest

from ipdp.web.pace import Pace


@pytest.mark.parametrize(
    ("pages", "pause"), [(1, 1.0), (20, 1.0), (50, 2.5), (150, 7.5), (900, 10.0)]
)
def test_pages_that_listen_ask_as_often_as_they_may(pages, pause):
    now = [0.0]
    pace = Pace(most=20, window=2, clock=lambda: now[0])
    due = [k / pages for k in range(pages)]
    told = []
    while now[0] < 60:
        k = min(range(pages), key=due.__getitem__)
        now[0] = due[k]
        told.append(pace.ask())
        due[k] = now[0] + told[-1]
    # Counted over a window that is no multiple of the pause, so not to the last digit.
    assert sum(told[len(told) // 2 :]) / len(told[len(told) // 2 :]) == pytest.approx(
        pause, rel=0.15
    )


def test_when_they_leave_the_others_are_served_faster():
    now = [0.0]
    pace = Pace(most=20, window=2, clock=lambda: now[0])
    for now[0] in (0.5, 1.0, 1.5, 2.0):
        for _ in range(50):
            pace.ask()
    assert pace.ask() > 1
    for now[0] in (10.0, 12.0, 20.0):
        last = pace.ask()
    assert last == 1.0
