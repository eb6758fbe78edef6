"""Damage is found: a flipped byte, a missing row, a truncated file."""

import random
import sqlite3
from contextlib import closing

import pytest
from tests.log.making import make_change, make_curve
from tests.log.test_writer import content

from ipdp.log import Log, LogError, LogReader


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """The bytes of a log that is sound."""
    path = tmp_path_factory.mktemp("sound") / "log.db"
    with Log(path) as log:
        log.begin({"alpha": 0.01}, ["a", "b"])
        for n in range(10, 301, 10):
            curves = {name: make_curve(name, n_samples=n) for name in "ab"}
            log.snapshot(curves, n)
            log.metric({"MAE": n / 7}, n)
            log.change(make_change(t=n), n)
        log.end(300)
    return path.read_bytes()


@pytest.fixture
def path(sound, tmp_path):
    (tmp_path / "log.db").write_bytes(sound)
    return tmp_path / "log.db"


def problems(path):
    with LogReader(path) as reader:
        return reader.verify()


def test_a_sound_log_has_no_problems(path):
    assert problems(path) == []


def test_a_flipped_bit_is_found_or_harmless(path, sound):
    """Whatever bit it is: it is reported, or all that is read is what was written."""
    expected, rng, found = content(path), random.Random(0), 0
    for _ in range(150):
        damaged = bytearray(sound)
        damaged[rng.randrange(len(sound))] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        try:
            if problems(path):
                found += 1
            else:
                assert content(path) == expected
        except LogError:
            found += 1
    assert found > 80  # much of a small file is empty


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE curves SET curve = zeroblob(9) WHERE n = 50 AND feature = 1",
         "the curve of 'b' at n = 50 is not what was written"),
        ("UPDATE curves SET importance = 1 WHERE n = 50 AND feature = 0",
         "the curve of 'a' at n = 50 is not what was written"),
        ("UPDATE snapshots SET reasons = 4 WHERE n = 60",
         "what snapshots say of n = 60 is not what was written"),
        ('UPDATE metrics SET "values" = \'{"MAE": 0}\' WHERE n = 60',
         "what metrics say of n = 60 is not what was written"),
        ("UPDATE changes SET after = before WHERE id = 3",
         "change 3 is not what was written"),
        ("UPDATE features SET name = '\"c\"' WHERE number = 0",
         "the name '\"c\"' of a feature is not what was written"),
        ("UPDATE run SET state = 'running'", "what is said of the run is not what was written"),
        ("DELETE FROM curves WHERE n = 60 AND feature = 0",
         "the snapshot at n = 60 should have 2 curves, but 1 are there"),
        ("DELETE FROM snapshots WHERE n = 60", "there should be 30 snapshots, but 29 are there"),
        ("DELETE FROM changes WHERE id = 30", "there should be 30 changes, but 29 are there"),
        ("DELETE FROM metrics WHERE n = 10", "there should be 30 metrics, but 29 are there"),
    ],
)  # fmt: skip
def test_what_was_changed_by_hand_is_said(path, statement, said):
    with closing(sqlite3.connect(path)) as other, other:
        other.execute(statement)
    other.close()
    assert said in problems(path)


def test_curves_without_their_snapshot_are_found(path):
    with closing(sqlite3.connect(path)) as other, other:  # foreign keys are off by default
        other.execute("DELETE FROM snapshots WHERE n = 60")
    other.close()
    assert "a row of curves has lost what it belongs to in snapshots" in problems(path)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.7, 0.99])
def test_a_truncated_file_is_found(path, sound, share):
    path.write_bytes(sound[: int(len(sound) * share)])
    try:
        found = problems(path)
    except LogError as error:
        found = [str(error)]
    assert found
    assert all("\n" not in problem for problem in found)


def test_a_damaged_log_is_a_sentence_for_every_question(path, sound):
    damaged = bytearray(sound)
    for page in range(4096, len(sound), 4096):
        damaged[page : page + 64] = b"\xff" * 64
    path.write_bytes(damaged)
    with LogReader(path) as reader:
        for ask in (reader.snapshots, reader.changes, reader.metrics, lambda: reader.at(100)):
            with pytest.raises(LogError, match="is damaged"):
                ask()
        assert reader.verify()


def test_a_page_whose_rows_go_round_in_circles_is_left(path, sound):
    """A flipped bit in the number of a page's cells makes SQLite give rows that are none."""
    leaves = [page for page in range(4096, len(sound), 4096) if sound[page] == 13]
    for page in leaves:
        damaged = bytearray(sound)
        damaged[page + 3] ^= 2  # 512 cells more
        path.write_bytes(damaged)
        with LogReader(path) as reader:
            found = reader.verify()
        assert any("is damaged" in problem for problem in found)
        assert max(map(len, found)) < 300


def test_verify_while_the_run_writes(tmp_path):
    with Log(tmp_path) as log, LogReader(tmp_path) as reader:
        for n in range(1, 40):
            log.snapshot({"a": make_curve(n_samples=n)}, n)
            if n % 7 == 0:
                log.commit()
                assert reader.verify() == []
