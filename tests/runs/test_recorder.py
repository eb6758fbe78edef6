"""When a run takes snapshots."""

from __future__ import annotations

import ipdp
from ipdp.runs.recorder import SnapshotSchedule


def snapshots_of(n, *, start=0, every=None, **options):
    """After how many of n observations a run has snapshots of an explainer with these options."""
    pdp = ipdp.IncrementalPDP(lambda x: x["a"], **options)
    schedule = SnapshotSchedule(every, [pdp], None)
    found = [schedule.after(start)]
    while found[-1] < n:
        found.append(schedule.after(found[-1]))
    return found


def test_snapshots_are_as_frequent_as_curves_can_change():
    usual = snapshots_of(6_000)
    assert usual[:50] == list(range(100, 5_001, 100))
    assert usual[50:] == [5_250, 5_500, 5_750, 6_000]
    # The same after a resume, wherever that was.
    assert snapshots_of(6_000, start=5_260) == [5_500, 5_750, 6_000]
    assert snapshots_of(5_200, start=4_950) == [5_000, 5_250]
    # A quarter of the memory, in round numbers, from 100 to 1,000.
    for options, wanted in (
        ({"alpha": 0.0005}, 500),
        ({"alpha": 0.01}, 100),
        ({"alpha": 1e-5}, 1_000),
        ({"alpha": None}, 1_000),
    ):
        first, second = snapshots_of(20_000, start=13_000, **options)[-2:]
        assert second - first == wanted, options
    # Whatever is asked for stays what it is.
    assert snapshots_of(21, every=7) == [7, 14, 21]
    assert snapshots_of(12_000, start=11_800, every=100) == [11_900, 12_000]


def test_a_search_for_pairs_has_its_own_snapshots():
    schedule = SnapshotSchedule(None, [ipdp.IncrementalPDP(lambda x: x["a"])], 150)
    assert [schedule.after(n) for n in (0, 100, 150, 5_000, 5_100, 5_400)] == [
        *(100, 150, 200),
        *(5_100, 5_250, 5_500),
    ]


def test_a_run_takes_the_snapshots_of_its_schedule_and_those_of_a_resume(tmp_path):
    def run(n, **options):
        model = ipdp.models.engine(lambda x: x["a"])
        pdp = ipdp.IncrementalPDP(model, ["a"], grid=ipdp.grid.Fixed([0, 1]), n_past=0)
        rows = ({"a": k % 7} for k in range(n))
        place = {"checkpoint": tmp_path, "log": tmp_path}
        ipdp.run(rows, model, pdp, learn=False, **place, **options)

    run(5_300)
    run(5_800, resume=True)
    with ipdp.LogReader(tmp_path) as reader:
        taken = [each.n for each in reader.snapshots()]
    assert taken == [*range(100, 5_001, 100), 5_250, 5_500, 5_750, 5_800]
