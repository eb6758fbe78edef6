"""How far an observation travels: few files, and few hops between them."""

import os
import random
import subprocess
import sys

import pytest

import ipdp

FOLLOW = """
import os, random, sys
import ipdp

root = os.path.dirname(ipdp.__file__)
pdp = ipdp.IncrementalPDP(lambda x: x["a"] * x["b"], ["a", "b"], grid={grid}, seed=1)
rng = random.Random(1)
rows = [{{"a": rng.gauss(0, 1), "b": rng.gauss(0, 1)}} for _ in range(2_100)]
found = []
for k, x in enumerate(rows):
    files = []

    def follow(frame, event, _):
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(root):
            files.append(name)

    sys.setprofile(follow if k >= 2_000 else None)
    pdp.explain_one(x)
    sys.setprofile(None)
    hops = sum(one != other for one, other in zip(files, files[1:]))
    if files:
        found.append((len(set(files)), hops))
# Some take more: those with which some are folded in together, those that are kept to be asked
# about again, and those when grid points come and go.
print(ipdp.models.build(), *(sorted(numbers)[50] for numbers in zip(*found)))
"""


@pytest.mark.parametrize("grid", ["None", "ipdp.grid.MinMax()", "ipdp.grid.QuantileRange()"])
@pytest.mark.parametrize("pure", ["", "1"])
def test_one_observation_goes_through_few_files(grid, pure):
    answer = subprocess.run(
        [sys.executable, "-c", FOLLOW.format(grid=grid)],
        env={**os.environ, **({"IPDP_PURE": pure} if pure else {})},
        capture_output=True,
        text=True,
        check=True,
    )
    build, n_files, n_hops = answer.stdout.split()
    assert build == ("pure" if pure else ipdp.models.build())  # a wheel may be pure without asking
    # What is compiled is not seen: three files of the kernels, which the pure build goes through.
    # One more of all is who may explain just now (`explainers/turns.py`).
    assert int(n_files) <= (11 if build == "pure" else 8)
    assert int(n_hops) <= (20 if build == "pure" else 14)


def test_curves_of_many_features_take_time_in_proportion(monkeypatch):
    """The layout is looked through once, not once for each feature."""
    names = [f"x{k}" for k in range(400)]
    pdp = ipdp.IncrementalPDP(
        ipdp.models.engine(lambda X: X[:, 0], takes="array"),
        names,
        grid=ipdp.grid.Fixed([0.0, 1.0]),
        n_ice=2,
    )
    rng = random.Random(0)
    pdp.explain_one({name: rng.random() for name in names})
    looks = []
    kind = type(pdp.memory.means.layout)
    slots = kind.slots.fget
    monkeypatch.setattr(kind, "slots", property(lambda self: looks.append(1) or slots(self)))
    assert len(pdp.curves) == 400
    assert len(looks) <= 1
