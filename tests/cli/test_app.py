"""The command as a whole: version, help, completion, what is missing, and the documentation."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main

import ipdp as library
from ipdp.cli import paper as paper_command
from ipdp.cli.app import app
from ipdp.runs import RunConfig

DOCS = Path(__file__).parents[2] / "docs" / "cli.md"
PROGRAM = "import sys; sys.argv[0] = 'ipdp'; from ipdp.cli import main; main()"
COMMANDS = typer.main.get_command(app).commands


def test_version(ipdp):
    answer = ipdp("--version")
    assert answer.code == 0
    assert answer.out.startswith(f"ipdp {library.__version__} ({library.models.build()}), river ")


def test_python_m_is_the_same_command():
    answer = subprocess.run(
        [sys.executable, "-m", "ipdp", "--version"], capture_output=True, text=True, check=False
    )
    assert answer.stdout.startswith(f"ipdp {library.__version__}"), answer.stderr


def test_python_m_imports_nothing_from_the_current_directory(tmp_path):
    names = ["typer", "click", "rich", "numpy", "json", "sqlite3", "river", "narwhals", "email"]
    for name in names:
        (tmp_path / f"{name}.py").write_text(f"print('{name} ran')\nraise SystemExit(9)\n")
    for options in (["--version"], ["show", "."]):
        answer = subprocess.run(
            [sys.executable, "-m", "ipdp", *options],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(Path(library.__file__).parents[1])},
        )
        assert " ran" not in answer.stdout, answer.stderr
        assert answer.returncode != 9


def test_without_a_command_it_helps(ipdp):
    answer = ipdp()
    assert "Commands" in answer.out
    assert "Exit codes" in ipdp("--help").out


@pytest.mark.parametrize("name", COMMANDS)
def test_a_flag_is_not_said_to_take_a_value(ipdp, name):
    lines = ipdp(name, "--help").out.splitlines()
    named = [line for line in lines if "<bool>" in line or "BOOLEAN" in line]
    assert [line for line in named if "--help" not in line] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example(ipdp, name):
    answer = ipdp(name, "--help")
    assert answer.code == 0
    assert "Example" in answer.out
    assert f"ipdp {name}" in answer.out.partition("Example")[2]


def test_an_unknown_option_is_refused(ipdp):
    answer = ipdp("show", "run", "--colour")
    assert answer.code == 2
    assert "--colour" in answer.err


def options_of(command):
    for parameter in command.params:
        if parameter.param_type_name == "option":
            yield from (*parameter.opts, *parameter.secondary_opts)
        else:
            yield parameter.metavar


def section(name):
    text = DOCS.read_text()
    found = re.search(rf"^## `ipdp {name}.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"docs/cli.md has no section on ipdp {name}"
    return found[0]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_documented(name):
    text = section(name)
    for option in options_of(COMMANDS[name]):
        if option not in ("--help", "-h"):
            assert re.search(rf"`[^`]*{re.escape(option)}\b", text), f"{option} of ipdp {name}"


def test_nothing_else_is_documented():
    documented = set(re.findall(r"^## `ipdp (\w+)", DOCS.read_text(), re.MULTILINE))
    assert documented == set(COMMANDS)
    for name in documented:
        known = set(options_of(COMMANDS[name]))
        rows = re.findall(r"^\| `(--[a-z-]+)", section(name), re.MULTILINE)
        assert set(rows) <= known


def row_of(name, field):
    """The row of a setting in docs/cli.md."""
    option, default = name.replace("_", "-"), field.default
    if field.annotation in (bool, bool | None):
        shown = {True: "yes", False: "no", None: ""}[default]
        words = [f"`--{option}`, `--no-{option}`", field.description, shown]
    else:
        shown = ",".join(default) if isinstance(default, list) else default
        shown = "needed" if field.is_required() else shown or ""
        words = [f"`--{option} {field.json_schema_extra['metavar']}`", field.description, shown]
    return f"| {' | '.join(str(word).replace('|', chr(92) + '|') for word in words)} |"


def test_every_setting_is_documented_as_its_help_says():
    rows = [line for line in section("run").splitlines() if line.startswith("| `--")]
    for name, field in RunConfig.model_fields.items():
        assert row_of(name, field) in rows


def test_exit_codes_are_documented():
    text = DOCS.read_text()
    for code in (0, 1, 2, 130, 143):
        assert re.search(rf"^\| {code} \|", text, re.MULTILINE)


@pytest.mark.parametrize("name", ["typer", "rich", "pydantic"])
def test_without_the_extra_it_is_one_sentence(name):
    code = f"import sys; sys.modules[{name!r}] = None\nfrom ipdp.cli import main; main()"
    answer = subprocess.run(
        [sys.executable, "-c", code, "run"], capture_output=True, text=True, check=False
    )
    assert answer.returncode == 2
    assert answer.stderr == f"ipdp: the command line needs {name}: pip install 'ipdp[cli]'\n"


HEAVY = {
    "confluent_kafka", "ipdp.datasets", "ipdp.demo", "ipdp.log", "ipdp.paper", "ipdp.plot",
    "ipdp.runs", "ipdp.sources", "ipdp.web", "matplotlib", "narwhals", "pandas",
    "plotly", "prometheus_client", "pyarrow", "pydantic", "river", "scipy", "sklearn", "sqlite3",
    "starlette", "torch", "uvicorn",
}  # fmt: skip


def test_help_imports_nothing_heavy():
    code = (
        "import sys\nfrom ipdp.cli import main\n"
        "try:\n    main()\nfinally:\n    sys.stderr.write(' '.join(sys.modules))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True
    )
    assert "Commands" in answer.stdout
    assert HEAVY & set(answer.stderr.split()) == set()


def test_completion():
    complete = {"_IPDP_COMPLETE": "complete_bash", "COMP_WORDS": "ipdp ch", "COMP_CWORD": "1"}
    answer = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; sys.argv[0] = 'ipdp'; from ipdp.cli import main; main()",
        ],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **complete},
    )
    assert answer.stdout.split() == ["changes", "check"]


def test_the_output_may_be_cut_off(finished):
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "export", str(finished), "/dev/stdout", "--format", "csv"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdout.close()
    assert "Traceback" not in process.communicate()[1]


# The experiments of the paper: the command only calls.


def test_paper(ipdp, monkeypatch, tmp_path):
    from ipdp.paper import Results, Row

    asked = []

    def run_experiment(name, seeds, *, out, progress):
        asked.append((name, seeds, out, progress is None))
        return Results(name, f"About {name}", [42], [Row("a claim", "1", "2", True)])

    monkeypatch.setattr("ipdp.paper.run_experiment", run_experiment)
    answer = ipdp("paper", "storage", "--seeds", "2", "--out", tmp_path)
    assert answer.code == 0
    assert answer.out.split() == ["About", "storage", *table_words(), "results.json"]
    assert '"agrees": true' in ipdp("paper", "storage", "--json", "--quiet").out
    assert ipdp("paper", "all", "--quiet").out == ""
    assert asked[0] == ("storage", 2, tmp_path, False)
    assert [name for name, *_ in asked[2:]] == paper_command._names()[:-1]


def table_words():
    from ipdp.paper import Row, table

    return table([Row("a claim", "1", "2", True)]).split()


def test_a_paper_of_another_name(ipdp):
    answer = ipdp("paper", "storages")
    assert answer.code == 2
    assert answer.err.startswith("ipdp: there is no experiment 'storages': it is one of ")
