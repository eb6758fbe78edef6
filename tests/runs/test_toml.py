"""Settings from a TOML file, with the line that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ipdp.runs import ConfigError, RunConfig
from ipdp.runs.config import GROUPS
from ipdp.runs.toml import line_of, read

GOOD = """\
# What to read
data = "loans.csv"
target = "granted"
model = "models:make"

features = ["age", "salary", ["age", "salary"]]
alpha = 0.01
drop = ["id"]
budget = 0.2
learn = true
out = "runs/loans"

[grid]
salary = "MinMax(20)"

[types]
zip = "text"
"""


@pytest.fixture
def file(tmp_path):
    def written(text):
        path = tmp_path / "run.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return written


def test_everything(file):
    found = RunConfig.from_toml(file(GOOD))
    assert found.features == ["age", "salary", ("age", "salary")]
    assert found.grid == {"salary": "MinMax(20)"}
    assert found.types == {"zip": "text"}
    assert found.out == Path("runs/loans")
    assert found.learn is True
    assert found.every == RunConfig.model_fields["every"].default


def test_options_win(file):
    found = RunConfig.from_toml(file(GOOD), alpha="0.5", features="a,b*c")
    assert found.alpha == 0.5
    assert found.features == ["a", ("b", "c")]


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            "alpha = 0.01",
            "alfa = 0.01",
            "line 7: there is no setting 'alfa'; did you mean 'alpha'?",
        ),
        ("alpha = 0.01", "alpha = []", "line 7: alpha: input should be a valid number, got []"),
        ("budget = 0.2", 'budget = "a"', "line 9: budget: input should be a valid number"),
        ('zip = "text"', 'zip = "int"', "line 17: types.zip: input should be 'number', 'bool' or"),
        ('"MinMax(20)"', "3", "line 14: grid"),
        ('out = "runs/loans"', "out = 3", "line 11: out: input is not a valid path"),
        ('["age", "salary"]]', '["age", "salary", "x"]]', "line 6: features"),
        ("learn = true", "learn = maybe", "is not TOML: Invalid value (at line 10, column 9)"),
        ("# What to read", "[colours]", "line 1: there is no setting 'colours'"),
        (
            "alpha = 0.01",
            "alpha = 1\nalpha = 2",
            "is not TOML: Cannot overwrite a value (at line 8",
        ),
    ],
)
def test_the_line_that_is_wrong(file, old, new, sentence):
    assert old in GOOD
    with pytest.raises(ConfigError) as error:
        RunConfig.from_toml(file(GOOD.replace(old, new)))
    assert str(error.value).startswith(str(file(GOOD)))
    assert sentence in str(error.value)


def test_a_wrong_option_is_named_and_not_a_line(file):
    with pytest.raises(ConfigError, match=r"^--alpha: alpha: input should be a valid number"):
        RunConfig.from_toml(file(GOOD), alpha="x")


def test_files_that_are_no_text(file):
    with pytest.raises(ConfigError, match="is not UTF-8"):
        RunConfig.from_toml(file(b"data = \xff"))
    assert RunConfig.from_toml(file(b"\xef\xbb\xbf" + GOOD.encode())).target == "granted"


def test_files_that_are_too_much(tmp_path):
    file = tmp_path / "run.toml"
    file.write_text("model = " + "[" * 100_000)
    with pytest.raises(ConfigError, match="far deeper than any setting"):
        RunConfig.from_toml(file)
    file.write_text("# " + "x" * 2_000_000)
    with pytest.raises(ConfigError, match="is too long"):
        RunConfig.from_toml(file)


LONG = {
    "text": '"' + "y" * 5_000 + '"',
    "list": "[" + '"yyyyyyyy", ' * 900 + "]",
    "table": "{" + ", ".join(f"k{k} = 1" for k in range(900)) + "}",
    "number": "9" * 4_000,
    "number that Python does not read": "9" * 5_000,
    "levels": '{x.y = "' + "z" * 5_000 + '"}',
}
NAMES = [*RunConfig.model_fields, "y" * 5_000, "y." * 900 + "y"]


@pytest.mark.parametrize("kind", LONG)
def test_what_is_quoted_is_cut_off(file, kind):
    for name in NAMES:
        needed = [f"{k} = 'x'\n" for k in ("model", "data") if k != name]
        told = ""
        try:
            RunConfig.from_toml(file("".join(needed) + f"{name} = {LONG[kind]}"))
        except ConfigError as error:
            told = str(error).removeprefix(str(file("")))
        assert len(told) < 500


def test_options_that_are_quoted_are_cut_off():
    for name in NAMES:
        for value in ("y" * 5_000, ["yyyyyyyy"] * 900, 10**4_000, 10**5_000):
            told = ""
            try:
                read(RunConfig, {"model": "x", "data": "x", name: value}, None)
            except ConfigError as error:
                told = str(error)
            assert len(told) < 500


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_settings_or_one_sentence(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_bytes(text.encode(errors="surrogatepass"))
    with pytest.raises(ConfigError, match=r"\A[^\n]+\Z"):  # model and data are never in it
        RunConfig.from_toml(path)


@pytest.mark.parametrize(
    ("text", "place", "line"),
    [
        ('"alpha" = 1', ["alpha"], 1),
        ("a = 1\ntypes.zip = 3", ["types", "zip"], 2),
        ("types = { zip = 3 }", ["types", "zip"], 1),
        ("[types]\n\n'zip' = 3", ["types", "zip"], 3),
        ("x = 1", ["absent"], 1),
    ],
)
def test_lines(text, place, line):
    assert line_of(text, place) == line


def test_a_line_of_spaces_behind_a_bracket_is_read_once():
    # By the third power of their number it took two seconds for 1,500, and hours for these.
    assert line_of(f'text = """\n[{" " * 50_000}\n"""\nn = 1', ["n"]) == 4


def test_every_setting_is_described():
    for name, field in RunConfig.model_fields.items():
        assert field.description, name
        assert field.json_schema_extra["group"] in GROUPS
        assert not field.description.endswith("."), name


@pytest.mark.parametrize("given", ['["https://h/hunter2"]', '{ url = "https://h/hunter2" }'])
def test_a_webhook_that_is_no_text_is_not_quoted(file, given):
    with pytest.raises(ConfigError, match=r"webhook: .*got 'redacted-") as error:
        RunConfig.from_toml(file(f'data = "a.csv"\nmodel = "m"\nwebhook = {given}\n'))
    assert "hunter2" not in str(error.value)
