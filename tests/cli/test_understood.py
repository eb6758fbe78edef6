"""`ipdp run` on files with text columns and string labels: what it says, and that it works."""

from __future__ import annotations

import json
import random

import numpy as np
import pandas as pd
import pytest

from ipdp.log import LogReader

pytestmark = pytest.mark.filterwarnings("default:features that are None")

LOGISTIC = "river.preprocessing.StandardScaler() | river.linear_model.LogisticRegression()"


@pytest.fixture
def bank(tmp_path):
    """A file as people have them: an id, a date, text, missing values, string labels."""
    rng = random.Random(3)
    lines = ["row,date,age,job,balance,y"]
    for k in range(300):
        job = rng.choice(["admin.", "services", "technician"])
        label = "ok" if rng.random() < 0.1 + 0.8 * (job == "admin.") else "bad"
        age = rng.randint(18, 90) if k % 11 else ""
        lines.append(f"{k},2024-05-{1 + k // 20:02},{age},{job},{rng.gauss(0, 900):.2f},{label}")
    path = tmp_path / "bank.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_dry_run_says_what_is_understood_and_writes_nothing(bank, tmp_path, ipdp):
    out = tmp_path / "run"
    used = ["run", "--data", bank, "--target", "y", "--model", LOGISTIC, "--out", out, "--dry-run"]
    answer = ipdp(*used)
    assert answer.code == 0, answer.err
    first, *rest = answer.out.splitlines()
    assert first == (
        "Understood from the first 100 rows: 3 numbers, 2 texts (date and job), target y with 2 "
        "classes (bad and ok); 1 column looks like a clock (date), 1 like an id (row)."
    )
    assert any("job one-hot (OneHotEncoder)" in text for text in rest)
    [warning] = [text for text in rest if "looks like an id" in text]
    assert warning.startswith("Look: the model gets row, which looks like an id: it is of no use")
    assert warning.endswith("(--drop row leaves it out).")
    assert not out.exists()
    assert json.loads(ipdp(*used, "--json").out)["understood"][0] == first


def test_text_and_string_labels_in_one_command(bank, tmp_path, ipdp):
    out = tmp_path / "run"
    used = ["--data", bank, "--target", "y", "--model", LOGISTIC, "--drop", "row,date"]
    answer = ipdp("run", *used, "--out", out)
    assert answer.code == 0, answer.err
    assert answer.err.count("Understood from the first 100 rows: 2 numbers, 1 text (job)") == 1
    assert answer.err.count("Encoded in front of the model: job one-hot") == 1
    with LogReader(out) as reader:
        curve = reader.at(300)["job"]
        assert reader.settings["fitting"]["texts"] == ["job"]
    assert curve.grid_values[0].tolist() == ["admin.", "services", "technician"]
    assert curve.outputs == ("bad", "ok")
    low, *high = curve.select("bad").average[0].tolist()
    assert low < min(high) - 0.3


@pytest.mark.filterwarnings("default:'id' looks like an id")
def test_what_has_no_curve_is_said_in_the_words_of_the_command(tmp_path, ipdp):
    rows = [f"{k},C{k:03},{k % 7},{k % 2}" for k in range(120)]
    path = tmp_path / "data.csv"
    path.write_text("\n".join(["row,id,a,y", *rows]))
    used = ["run", "--data", path, "--target", "y", "--out", tmp_path / "run"]
    answer = ipdp(*used, "--model", "river.tree.HoeffdingTreeClassifier()")
    [said] = [text for text in answer.err.splitlines() if text.startswith("ipdp: ")]
    assert said == (
        "ipdp: 'row' looks like a clock or a counter (it only grows): left out as long as that is "
        "so; --features asks for it all the same"
    )


@pytest.mark.filterwarnings("default:'id' looks like an id")
def test_an_id_is_kept_from_the_model_unless_it_is_asked_for(tmp_path, ipdp):
    rng = random.Random(4)
    rows = [f"C{k:03},{rng.random()},{rng.choice('no')}" for k in range(120)]
    path = tmp_path / "data.csv"
    path.write_text("\n".join(["id,a,y", *rows]))
    model = "river.tree.HoeffdingTreeClassifier()"
    used = ["run", "--data", path, "--target", "y", "--model", model]
    answer = ipdp(*used, "--dry-run")
    assert "Left out of the model: id, text that is another one in each row" in answer.out
    assert "the model gets id" not in answer.out
    for asked in (["--columns", "id,a"], ["--features", "id,a"], ["--encode", "none"]):
        assert "the model gets id, which looks like an id" in ipdp(*used, *asked, "--dry-run").out
    run = ipdp(*used, "--out", tmp_path / "run")
    assert run.code == 0
    assert run.err.count("like an id") == 1  # and then what became of it
    with LogReader(tmp_path / "run") as reader:
        assert reader.settings["fitting"]["without"] == ["id"]
        assert list(reader.at(100)) == ["a"]


@pytest.mark.parametrize(
    ("used", "said"),
    [
        ([], "Look: the model gets day, which looks like a clock (--time day puts it on the axes"),
        (["--time", "moment"], "the model gets day, which looks like a clock (--drop day leaves"),
        ([], "Look: born holds dates, which the model gets as text"),
    ],
)
def test_columns_of_dates(tmp_path, ipdp, used, said):
    rng = random.Random(4)
    rows = [
        f"2024-06-{1 + k // 10:02},2024-06-{1 + k // 10:02}T{k % 10:02}:00,"
        f"{1980 + rng.randrange(9)}-01-01,{rng.random()},{rng.choice('no')}"
        for k in range(120)
    ]
    path = tmp_path / "data.csv"
    path.write_text("\n".join(["day,moment,born,a,y", *rows]))
    model = "river.tree.HoeffdingTreeClassifier()"
    asked = ["run", "--data", path, "--target", "y", "--model", model, "--dry-run"]
    assert said in ipdp(*asked, *used).out


def test_the_choice_is_the_same_after_a_resume(bank, tmp_path, ipdp):
    used = ["--data", bank, "--target", "y", "--model", LOGISTIC, "--drop", "row,date"]
    assert ipdp("run", *used, "--out", tmp_path / "whole", "-q").code == 0
    part = tmp_path / "part"
    assert ipdp("run", *used, "--out", part, "--limit", "150", "-q").code == 0
    answer = ipdp("run", *used, "--out", part, "--resume", "-q")
    assert answer.code == 0, answer.err
    with LogReader(tmp_path / "whole") as whole, LogReader(part) as resumed:
        assert resumed.settings["fitting"] == whole.settings["fitting"]
        np.testing.assert_array_equal(resumed.at(300)["job"].average, whole.at(300)["job"].average)


def test_without_encoding_the_error_names_the_column(bank, tmp_path, ipdp):
    used = ["--data", bank, "--target", "y", "--model", LOGISTIC, "--drop", "row,date"]
    answer = ipdp("run", *used, "--encode", "none", "--out", tmp_path / "run")
    assert answer.code == 2
    assert "job holds text (job is " in answer.err
    assert "--encode onehot" in answer.err


def test_a_pipe_is_understood_too(bank, tmp_path, start):
    used = ["--data", "-", "--target", "y", "--model", LOGISTIC, "--drop", "row,date"]
    with bank.open() as file:
        process = start("run", *used, "--out", tmp_path / "run", stdin=file)
        _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert err.count("Understood from the first 100 rows: 2 numbers, 1 text (job)") == 1


SMELLS = {
    "decimal commas": (
        "a,y\n" + '"1,5",0\n"2,5",1\n' * 60,
        "--decimal ,",
        "LogisticRegression",
    ),
    "index": ("__index_level_0__,a,y\n" + "5,1.5,0\n3,2,1\n" * 60, "--drop __index_level_0__", ""),
    "classifier": (
        "a,y\n" + "".join(f"{k % 7},{k / 7}\n" for k in range(120)),
        "the model is a classifier and y is a number",
        "LogisticRegression",
    ),
    "regressor": (
        "a,y\n" + "1,ok\n2,bad\n" * 60,
        "the model is a regressor and y is text ('ok'): take a classifier",
        "LinearRegression",
    ),
    "constant": ("a,y\n" + "1,no\n2,no\n" * 60, "y is 'no' in all of the first 100 rows", ""),
}


@pytest.mark.parametrize("name", SMELLS)
def test_what_smells(name, tmp_path, ipdp):
    content, said, model = SMELLS[name]
    path = tmp_path / "data.csv"
    path.write_text(content)
    model = f"river.linear_model.{model or 'LogisticRegression'}()"
    answer = ipdp("run", "--data", path, "--target", "y", "--model", model, "--dry-run")
    assert answer.code == 0, answer.err
    assert said in answer.out


def test_the_index_of_a_frame_in_a_parquet_file(tmp_path, ipdp):
    frame = pd.DataFrame({"a": [1.5, 2.5] * 60, "y": [0, 1] * 60}, index=[7, 3] * 60)
    frame.to_parquet(tmp_path / "rows.parquet")
    used = ["--data", tmp_path / "rows.parquet", "--target", "y", "--model", LOGISTIC]
    said = "__index_level_0__ is the index of a pandas frame (--drop __index_level_0__)"
    assert said in ipdp("run", *used, "--dry-run").out
    dropped = ipdp("run", *used, "--drop", "__index_level_0__", "--dry-run")
    assert "index" not in dropped.out
    assert "Understood from the first 100 rows: 1 number, target y" in dropped.out


def test_decimal_commas(tmp_path, ipdp):
    path = tmp_path / "data.csv"
    path.write_bytes("\ufeffa;b;y\r\n".encode() + b"1,5;1.000,25;0\r\n-2,5;7;1\r\n" * 60)
    used = ["--data", path, "--target", "y", "--model", "river.tree.HoeffdingTreeClassifier()"]
    answer = ipdp("run", *used, "--out", tmp_path / "run")
    assert answer.code == 0, answer.err
    assert "2 numbers, target y with 2 classes (0 and 1)" in answer.err
    asked = ipdp("run", *used, "--decimal", ".", "--dry-run").out
    assert "2 texts (a and b)" in asked
    with LogReader(tmp_path / "run") as reader:
        assert set(reader.at(120)["b"].rug[0].tolist()) == {7, 1000.25}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("rows.csv", "0.3,7,a\n0.2,8,b\n", "if the first line is data, give --no-header"),
        ("names.csv", "a,b,y\n", "There is no row yet, so nothing is known of the data."),
        ("", "", "is a directory: give one of its files"),
    ],
)
def test_files_that_are_not_what_they_seem(name, text, said, tmp_path, ipdp):
    """A first line of data with a name in it, names alone, a directory."""
    path = tmp_path / name
    if name:
        path.write_text(text)
    used = ["--data", path, "--target", "y", "--model", LOGISTIC, "--dry-run"]
    answer = ipdp("run", *used)
    assert said in answer.out + answer.err
