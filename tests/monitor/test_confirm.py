"""How often models are compared, and what is reported again."""

import json

from ipdp.monitor.confirm import Throttle


def waits(throttle, row):
    """The number of checks until models may be compared for a feature."""
    n = 0
    while not throttle.may_compare(row):
        throttle.tick()
        n += 1
    return n


def test_a_feature_whose_candidates_are_rejected_waits_twice_as_long_each_time():
    throttle, found = Throttle(2), []
    for _ in range(8):
        throttle.rejected(1)
        assert throttle.may_compare(0)
        found.append(waits(throttle, 1))
    assert found == [1, 2, 4, 8, 16, 32, 32, 32]
    throttle.reported(1, until=0, real=1.0, virtual=0.0)
    throttle.rejected(1)
    assert waits(throttle, 1) == 1


def test_unused_comparisons_are_saved_and_used_up():
    throttle = Throttle(1)
    for _ in range(8):
        assert throttle.may_compare(0)
        throttle.compared()
    assert waits(throttle, 0) == 8


def test_during_the_cool_down_only_larger_changes_are_reported():
    throttle = Throttle(1)
    throttle.reported(0, until=500, real=1.0, virtual=0.2)
    assert throttle.suppresses(0, 499, real=1.0)
    assert throttle.suppresses(0, 499, virtual=0.2)
    assert not throttle.suppresses(0, 499, real=1.1)
    assert not throttle.suppresses(0, 499, virtual=0.3)
    assert not throttle.suppresses(0, 500, real=0.1)


def test_state_through_json():
    throttle, other = Throttle(2), Throttle(2)
    throttle.rejected(0)
    throttle.compared()
    throttle.reported(1, until=500, real=1.0, virtual=0.2)
    other.state = json.loads(json.dumps(throttle.state))
    assert other.state == throttle.state
    assert not other.may_compare(0)
    assert other.suppresses(1, 9, real=0.5)
