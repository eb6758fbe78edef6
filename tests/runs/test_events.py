"""Events that had another name."""

import pytest


@pytest.mark.parametrize("old", ["Beat", "Paced"])
def test_events_that_had_another_name(old):
    import ipdp.runs

    with pytest.warns(DeprecationWarning, match=f"{old} is now"):
        assert issubclass(getattr(ipdp.runs, old), ipdp.runs.Event)
