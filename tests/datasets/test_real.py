from __future__ import annotations

import gzip
import shutil
import tarfile
import tracemalloc
import zipfile
from collections import deque
from urllib.error import URLError

import pytest
from river.datasets import base
from tests.datasets.made_up import CALIFORNIA, ELEC2, electricity, housing, write_csv

from ipdp.datasets import california, elec2


@pytest.fixture
def electricity_csv(tmp_path):
    return write_csv(tmp_path / "electricity.csv", (*ELEC2, "class"), electricity(200, 100))


@pytest.fixture
def housing_csv(tmp_path):
    return write_csv(tmp_path / "california_housing.csv", CALIFORNIA, housing(200))


@pytest.fixture
def offline(tmp_path, monkeypatch):
    """No data anywhere, and no network."""

    def unreachable(*_args, **_kwargs):
        raise URLError("no network")

    monkeypatch.delenv("IPDP_DATA", raising=False)
    monkeypatch.setenv("RIVER_DATA", str(tmp_path / "river"))
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "sklearn"))
    monkeypatch.setattr("river.datasets.base.request.urlopen", unreachable)
    monkeypatch.setattr("sklearn.datasets._california_housing._fetch_remote", unreachable)


def test_elec2_has_the_types_of_rivers(electricity_csv):
    stream = elec2(electricity_csv)
    x, y = next(iter(stream))
    assert isinstance(stream, base.Dataset)
    assert list(x) == list(ELEC2)
    assert [type(value) for value in x.values()] == [float, int, *[float] * 6]
    assert isinstance(y, bool)
    assert {y for _, y in stream} == {True, False}


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".zip"])
def test_packed_files_read_the_same(electricity_csv, tmp_path, suffix):
    path = tmp_path / f"packed{suffix}"
    if suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.write(electricity_csv, "electricity.csv")
    elif suffix == ".csv.gz":
        path.write_bytes(gzip.compress(electricity_csv.read_bytes()))
    else:
        shutil.copy(electricity_csv, path)
    assert list(elec2(path)) == list(elec2(electricity_csv))


def test_the_directory_of_the_environment_comes_first(electricity_csv, monkeypatch):
    monkeypatch.setenv("IPDP_DATA", str(electricity_csv.parent))
    stream = elec2()
    assert len(list(stream)) == 200
    assert str(electricity_csv) in repr(stream)
    assert list(stream) == list(stream)


def test_california_has_scikit_learns_features(housing_csv):
    x, y = next(iter(california(housing_csv)))
    raw = dict(zip(CALIFORNIA, housing(1)[0], strict=True))
    assert x == pytest.approx(
        {
            "MedInc": raw["median_income"],
            "HouseAge": raw["housing_median_age"],
            "AveRooms": raw["total_rooms"] / raw["households"],
            "AveBedrms": raw["total_bedrooms"] / raw["households"],
            "Population": raw["population"],
            "AveOccup": raw["population"] / raw["households"],
            "Latitude": raw["latitude"],
            "Longitude": raw["longitude"],
        }
    )
    assert y == pytest.approx(raw["median_house_value"] / 100_000)


def test_missing_bedrooms_are_none(housing_csv):
    absent = [k for k, (x, _) in enumerate(california(housing_csv)) if x["AveBedrms"] is None]
    assert absent == [99, 199]


def test_the_original_archive_reads_the_same(housing_csv, tmp_path):
    table = tmp_path / "cal_housing.data"
    table.write_text("\n".join(housing_csv.read_text().splitlines()[1:]) + "\n")
    archive = tmp_path / "cal_housing.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(table, "CaliforniaHousing/cal_housing.data")
    assert list(california(archive)) == list(california(housing_csv))


def test_a_seed_shuffles(housing_csv):
    in_order, shuffled = list(california(housing_csv)), list(california(housing_csv, seed=1))
    assert shuffled != in_order
    assert sorted(y for _, y in shuffled) == sorted(y for _, y in in_order)
    assert shuffled == list(california(housing_csv, seed=1))


@pytest.mark.parametrize("load", [elec2, california])
def test_without_data_one_sentence_says_how_to_get_it(offline, load):
    with pytest.raises(
        FileNotFoundError, match=r"put https://.* let .* IPDP_DATA name it"
    ) as caught:
        load()
    assert "\n" not in str(caught.value)
    assert "no network" in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="no file"):
        elec2(tmp_path / "absent.csv")
    with pytest.raises(FileNotFoundError, match=r"none of electricity\.zip"):
        elec2(tmp_path)
    monkeypatch.setenv("IPDP_DATA", str(tmp_path / "absent"))
    with pytest.raises(FileNotFoundError, match="IPDP_DATA is no directory"):
        elec2()


def test_another_file_is_refused(housing_csv):
    with pytest.raises(ValueError, match="no column date"):
        next(iter(elec2(housing_csv)))


def test_a_bad_line_is_numbered(electricity_csv):
    electricity_csv.write_text(electricity_csv.read_text().replace("0.42,", "?,", 3))
    with pytest.raises(ValueError, match=r"line \d+ of .*electricity.csv"):
        list(elec2(electricity_csv))


@pytest.mark.parametrize("name", ["broken.zip", "broken.tgz", "broken.csv.gz"])
def test_a_damaged_file_is_refused(tmp_path, name):
    (tmp_path / name).write_bytes(b"this is no archive")
    with pytest.raises(ValueError, match="damaged"):
        list(elec2(tmp_path / name))


def test_an_archive_without_a_table_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "empty.zip", "w") as archive:
        archive.writestr("readme.txt", "nothing")
    with pytest.raises(ValueError, match="no csv file"):
        list(elec2(tmp_path / "empty.zip"))


def zipped(path, content, **settings):
    """An archive with a table, whose head says something else at some places."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("electricity.csv", content)
    data = bytearray(path.read_bytes())
    directory = data.index(b"PK\x01\x02")
    for at, value in settings.get("bytes", {}).items():
        data[at] = data[directory + at + 2] = value
    path.write_bytes(data)
    return path


HEAD = b",".join(name.encode() for name in (*ELEC2, "class")) + b"\n"


@pytest.mark.parametrize(
    ("content", "settings", "message"),
    [
        (HEAD + b"0" * 20_000_000, {}, "a line that is far too long"),
        (HEAD + b"," * 20_000_000, {}, "a line that is far too long"),
        (HEAD + b'"' + b"0\n" * 1_000_000, {}, "cannot be read, it may be damaged"),
        (HEAD + b"0,2,0,.1,.1,.1,.1,.1,UP\n" * 500_001, {}, "far more rows than it should"),
        (HEAD, {"bytes": {6: 1}}, "cannot be read, it may be damaged"),  # a password
        (HEAD, {"bytes": {8: 99}}, "cannot be read, it may be damaged"),  # another compression
    ],
)
def test_an_archive_that_is_none_of_these_tables_is_refused(tmp_path, content, settings, message):
    path = zipped(tmp_path / "electricity.zip", content, **settings)
    tracemalloc.start()
    with pytest.raises(ValueError, match=message):
        deque(elec2(path), maxlen=0)
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()


@pytest.mark.parametrize("target", ["b.csv", "a.csv", "/etc/passwd"])
def test_links_in_an_archive_that_lead_nowhere_are_refused(tmp_path, target):
    path = tmp_path / "cal_housing.tgz"
    with tarfile.open(path, "w:gz") as archive:
        for name, where in (("a.csv", target), ("b.csv", "a.csv")):
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, where
            archive.addfile(link)
    with pytest.raises(ValueError, match="cannot be read, it may be damaged"):
        list(california(path))
