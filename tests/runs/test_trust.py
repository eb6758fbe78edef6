"""What a stranger's run directory can make the one who resumes it do: nothing; and no secrets."""

from __future__ import annotations

import json
import os
import pickle
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import ipdp
from ipdp.cli.app import app
from ipdp.log import LogReader
from ipdp.models.load import files as files_of_models
from ipdp.runs import ConfigError, RunConfig
from ipdp.runs.trust import needed

SCALER = "river.preprocessing.StandardScaler()"
MODEL = "river.tree.HoeffdingTreeClassifier(grace_period=50)"
HELPER = """
import pathlib
pathlib.Path({trap!r}).touch()
from river import tree
class Model(tree.HoeffdingTreeClassifier):
    pass
def make():
    return Model()
"""
# A function of a known library, with arguments, that writes a file when the model is asked.
WRITES = (
    "sklearn.pipeline.make_pipeline(sklearn.preprocessing.FunctionTransformer("
    "sklearn.datasets.dump_svmlight_file, kw_args={'y': [0], 'f': '{trap}'}), "
    "sklearn.linear_model.SGDClassifier())"
)
# A class that writes and reads pickles, by the name of a module that happens to import its own.
CACHED = "river.evaluate.progressive_validation.stream.Cache"
CACHE = f"{CACHED}('{{trap}}')"


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def trap(tmp_path, monkeypatch):
    """The file that hostile code leaves: of a module beside the log and in the path, of pickles."""
    directory, trap = tmp_path / "run", tmp_path / "trap"
    directory.mkdir()
    (directory / "helper.py").write_text(HELPER.format(trap=str(trap)))
    for pickled in (directory / "evil.pt2", trap.with_suffix(".pkl")):
        pickled.write_bytes(pickle.dumps(Hostile(trap)))
    monkeypatch.chdir(directory)
    monkeypatch.syspath_prepend(directory)
    yield trap
    sys.modules.pop("helper", None)


class Hostile:
    """Leaves a file when its pickle is loaded."""

    def __init__(self, trap):
        self.trap = trap

    def __reduce__(self):
        return Path.touch, (self.trap,)


def test_the_pickles_of_these_tests_are_hostile(trap):
    pickle.loads((trap.parent / "run" / "evil.pt2").read_bytes())
    assert trap.exists()


def hostile(trap, settings):
    """A run's directory whose log has these settings."""
    text = json.dumps({"data": "agrawal?n_samples=50", "model": MODEL, **settings})
    with ipdp.Log(trap.parent / "run" / "log.db") as log:
        log.begin({"command": json.loads(text.replace("{trap}", str(trap)))})
    return trap.parent / "run"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"model": "helper:make"}, "would import helper and call make"),
        ({"model": " helper:make "}, "would import helper and call make"),
        ({"model": "http.server:test"}, "would import http.server and call test"),
        ({"model": "helper.Model()"}, "would import helper.Model"),
        ({"model": "helper.Model"}, "would import helper.Model"),
        ({"model": f"river.compose.Select('a') | ({MODEL} | helper.Model())"}, "import helper."),
        ({"model": "river.ensemble.BaggingClassifier(model=helper.Model())"}, "import helper."),
        ({"model": "riverside.Model()"}, "would import riverside.Model"),
        ({"model": "os.system('touch {trap}')"}, "would import os.system"),
        ({"model": "evil.pt2"}, "holds a pickle, which runs whatever code is in it"),
        ({"model": "{trap}.pkl"}, "is a pickle"),
        ({"model": "{trap}.pkl", "allow_pickle": True}, "a pickle can run any code"),
        ({"model": "{trap}.ubj"}, "would load"),
        ({"model": "{trap}.TXT"}, "a file that can be made to crash the library that reads it"),
        ({"model": " {trap}.ubj\n"}, "would load"),
        ({"model": "model.json"}, "would load model.json, a file that can be made to crash"),
        ({"challenger": "{trap}.onnx"}, "a file that can be made to crash"),
        ({"challenger": "/models/own.cbm"}, "would load /models/own.cbm, a file that can"),
        ({"model": "{trap}.skops", "trust": ["os.system"]}, "there is no file"),
        ({"grid": "os.system('touch {trap}')"}, "would import os.system"),
        ({"grid": {"age": "helper.Model()"}}, "would import helper.Model"),
        ({"metric": "os.system('touch {trap}')"}, "would import os.system"),
        ({"metric": "Accuracy() + helper.Model()"}, "would import helper.Model"),
        ({"data": "os.system('touch {trap}')"}, "would import os.system"),
        ({"data": "helper.Model()"}, "would import helper.Model"),
        ({"data": "river.stream.Cache('{trap}')"}, "would import river.stream.Cache"),
        ({"data": "kafka://h:1/t?plugin.library.paths={trap}"}, "does not keep passwords"),
        ({"data": "kafka://h:1/t?sasl.kerberos.kinit.cmd=touch {trap}"}, "does not keep passwords"),
        ({"data": " kafka://h:1/t?plugin.library.paths={trap}"}, "does not keep passwords"),
        ({"model": "sklearn.datasets.load_files"}, "use sklearn.datasets.load_files, which is no"),
        ({"model": WRITES}, "use sklearn.datasets.dump_svmlight_file, which is no part of a model"),
        ({"model": "river.stream.Cache('{trap}')"}, "use river.stream.Cache, which is no part"),
        ({"model": f"river.compose.FuncTransformer({CACHE}) | {MODEL}"}, f"use {CACHED}, which is"),
        ({"data": "river.datasets.phishing.stream.Cache('{trap}')"}, "stream.Cache, which is no"),
        ({"model": "lightgbm.Booster(params={'machines': '10.0.0.1:80'})"}, "use lightgbm.Booster"),
        ({"model": "xgboost.tracker.RabitTracker(2, '0.0.0.0')"}, "use xgboost.tracker.Rabit"),
        ({"challenger": "catboost.Pool('{trap}')"}, "use catboost.Pool, which is no part"),
        ({"challenger": WRITES}, "use sklearn.datasets.dump_svmlight_file, which is no part"),
        ({"metric": "river.utils.inspect.isclassifier"}, "use river.utils.inspect.isclassifier"),
        ({"data": "kafka://evil.example:9092/rows"}, "connect to 'kafka://evil.example:9092/rows'"),
        ({"data": "kafka://127.0.0.1:9/rows?group=yours"}, "connect to 'kafka://127.0.0.1:9/rows'"),
        ({"data": "\thelper.Model()\n"}, "would import helper.Model"),
        ({"model": f"{MODEL}.clone().helper.Model()"}, "is not an import path"),
        ({"model": f"{MODEL[:-1]}, splitter=helper.Model().x)"}, "would import helper.Model"),
        ({"loss": "helper.Model()", "explainers": ["pfi"]}, "would import helper.Model"),
        ({"webhook": "http://evil.example/"}, "changes were posted to http://evil.example/"),
        ({"prometheus": 9, "prometheus_host": "0.0.0.0"}, "metrics to other machines, at 0.0.0.0"),
        ({"challenger": "helper:make"}, "would import helper and call make"),
        ({"challenger": "evil.pt2"}, "holds a pickle, which runs whatever code is in it"),
        ({"colour": "red"}, "there is no setting 'colour'"),
        ({"model": "river.forest.ARFClassifier(n_models=100000000)"}, "with n_models=100000000, w"),
        ({"model": "river.forest.ARFClassifier(100000000)"}, "with n_models=100000000, which may"),
        ({"model": f"{SCALER} | river.forest.ARFClassifier(10**8)"}, "is not a plain value"),
        ({"model": f"river.ensemble.BaggingClassifier({MODEL}, 1e9)"}, "with n_models=1000000000."),
        ({"model": "river.anomaly.HalfSpaceTrees(5, 60)"}, "with height=60, which may"),
        ({"model": "sklearn.neural_network.MLPClassifier((9, 900000000))"}, "with hidden_layer"),
        (
            {"challenger": "river.forest.ARFClassifier(n_models=20000)"},
            "with n_models=20000, wh",
        ),
        ({"model": f"river.forest.ARFClassifier({'1+' * 2000}1)"}, "nested too deeply"),
        ({"grid": "Auto(1000000000)"}, "make Auto with size=1000000000, which may"),
        ({"grid": {"age": "ipdp.grid.MinMax(size=1000000000)"}}, "size=1000000000, which may"),
    ],
)
def test_a_hostile_run_executes_nothing(settings, sentence, trap):
    answer = call("resume", hostile(trap, settings), "--quiet")
    assert answer.exit_code == 2
    assert sentence in answer.stderr
    (line,) = answer.stderr.splitlines()
    assert line.startswith("ipdp: ")
    assert not trap.exists()
    assert "helper" not in sys.modules


@pytest.mark.parametrize(
    "options", [["--trust-run"], ["--model", "helper:make"], ["--config", "mine.toml"]]
)
def test_who_trusts_it_says_so(options, trap):
    run = hostile(trap, {"model": "helper:make"})
    (run / "mine.toml").write_text('model = "helper:make"\n')
    answer = call("resume", run, "--quiet", *options)
    assert answer.exit_code == 0, answer.stderr
    assert trap.exists()


def test_a_file_that_a_compiled_library_reads_is_named_again(tmp_path, monkeypatch):
    # Such a library may crash on a file that was made for it; here it leaves a mark.
    file, read = tmp_path / "model.ubj", []
    file.touch()

    def load(path):
        read.append(path)
        return lambda x: float(x["age"])

    monkeypatch.setitem(files_of_models._LOADERS, ".ubj", load)
    out = tmp_path / "run"
    given = ["--data", "agrawal?n_samples=50", "--model", file, "--no-learn", "--out", out]
    assert call("run", *given).exit_code == 0
    read.clear()
    answer = call("resume", out)
    assert answer.exit_code == 2
    assert f"would load {file}, a file that can be made to crash" in answer.stderr
    assert read == []
    for options in (["--model", file], ["--trust-run"]):
        assert call("resume", out, *options, "-q").exit_code == 0
        assert read.pop() == file


def test_seeds_and_small_sizes_need_no_trust(trap):
    forest = "river.forest.ARFClassifier(2, seed=4000000000, memory_estimate_period=2000000)"
    model = f"river.ensemble.VotingClassifier([{forest}, {MODEL}])"
    answer = call("resume", hostile(trap, {"model": model, "grid": "Auto(20)"}), "-q")
    assert answer.exit_code == 0, answer.stderr


def test_a_pipeline_of_known_libraries_needs_no_trust(trap):
    model = f"river.preprocessing.StandardScaler() | {MODEL}"
    answer = call("resume", hostile(trap, {"model": model, "metric": "Accuracy() + F1()"}), "-q")
    assert answer.exit_code == 0, answer.stderr


@pytest.mark.parametrize(
    "settings",
    [
        {"model": "lightgbm.LGBMClassifier(n_estimators=5)"},
        {"model": "xgboost.XGBRegressor()"},
        {"model": "catboost.CatBoost()"},
        {"model": "sklearn.pipeline.make_pipeline(sklearn.linear_model.SGDClassifier())"},
        {"data": "river.datasets.synth.SEA(seed=1)"},
        {"metric": "river.utils.Rolling(river.metrics.MAE(), 5)"},
        {"grid": "ipdp.grid.Thresholds([1.0, 2.0])"},
    ],
)
def test_estimators_and_parts_need_no_trust(settings):
    # Also where their library is not installed.
    assert needed(RunConfig.model_validate({"data": "agrawal", "model": MODEL, **settings})) == []


def test_what_is_said_at_the_end_is_what_resuming_needs(tmp_path):
    def options(**settings):
        return needed(RunConfig.model_validate({"data": "agrawal", "model": MODEL, **settings}))

    assert options() == []
    assert options(model="models:make") == ["--model models:make"]
    assert options(model="my models/m.ubj") == ["--model 'my models/m.ubj'"]
    assert options(model="m.skops") == []
    assert options(challenger="m.onnx") == ["--trust-run"]
    assert options(metric="mine.Metric()") == ["--trust-run"]
    assert options(prometheus=9, prometheus_host="0.0.0.0") == ["--trust-run"]
    assert options(data="kafka://h:1/t") == ["--trust-run"]
    assert options(trust="a.B,c.D", allow_pickle=True) == ["--trust a.B,c.D", "--allow-pickle"]
    assert options(webhook="https://h/secret", data="kafka://h/t?sasl.password=x") == [
        "--data ADDRESS",
        "--webhook URL",
    ]
    assert options(webhook="https://h/secret", page_url="https://me/page") == [
        "--webhook URL",
        "--page-url https://me/page",
    ]
    assert options(page_url="https://me/page") == []


def test_a_log_puts_no_link_into_what_is_posted(trap):
    run = hostile(trap, {"page_url": "https://evil.example/login"})
    hook = ["--webhook", "http://127.0.0.1:9/x", "--quiet"]
    answer = call("resume", run, *hook)
    assert answer.exit_code == 2
    assert "would post links to 'https://evil.example/login'" in answer.stderr
    answer = call("resume", run, *hook, "--page-url", "none")
    assert answer.exit_code == 0, answer.stderr


# Secrets.

SECRET = "hunter2-swordfish"
WEBHOOK = f"http://127.0.0.1:9/T000/{SECRET}?key={SECRET}"


def files(directory):
    return b"".join(path.read_bytes() for path in directory.rglob("*") if path.is_file())


def test_the_address_of_a_webhook_is_written_nowhere(tmp_path):
    out = tmp_path / "run"
    given = ["run", "--data", "agrawal?n_samples=600&position=300", "--model", MODEL, "--out", out]
    answer = call(*given, "--webhook", WEBHOOK, "--alpha", "0.01", "--grid", "MinMax(5)")
    assert answer.exit_code == 0, answer.stderr
    for command in ("report", "show", "changes"):
        later = call(command, out, *(["--json"] if command != "report" else []))
        assert later.exit_code == 0
        assert SECRET not in later.stdout + later.stderr
    assert SECRET not in answer.stdout + answer.stderr
    assert SECRET.encode() not in files(out)
    with LogReader(out) as reader:
        assert reader.settings["command"]["webhook"].startswith("http://127.0.0.1:9/redacted-")
    again = call("resume", out)
    assert again.exit_code == 2
    assert "the log does not keep the address, which can be a secret: give it again" in again.stderr
    assert call("resume", out, "--webhook", "none", "--quiet").exit_code == 0
    assert call("resume", out, "--webhook", WEBHOOK, "--quiet").exit_code == 0
    assert SECRET.encode() not in files(out)


@pytest.fixture
def topic():
    """A topic of 200 messages on librdkafka's mock cluster."""
    confluent_kafka = pytest.importorskip("confluent_kafka")
    producer = confluent_kafka.Producer(
        {"test.mock.num.brokers": 1, "bootstrap.servers": "mock", "log_level": 0}
    )
    [broker] = producer.list_topics(timeout=120).brokers.values()
    for k in range(200):
        producer.produce("rows", json.dumps({"a": k / 7, "y": k % 2}), partition=0)
    assert producer.flush(120) == 0
    yield f"kafka://{broker.host}:{broker.port}/rows?end=now&ssl.key.password={SECRET}"
    producer.purge()


def test_the_password_of_a_topic_is_written_nowhere(topic, tmp_path):
    out = tmp_path / "run"
    answer = call("run", "--data", topic, "--target", "y", "--model", MODEL, "--out", out)
    assert answer.exit_code == 0, answer.stderr
    assert call("report", out).exit_code == 0
    shown = call("show", out, "--json")
    assert SECRET not in answer.stdout + answer.stderr + shown.stdout
    assert SECRET.encode() not in files(out)
    again = call("resume", out)
    assert again.exit_code == 2
    assert "the log does not keep passwords" in again.stderr
    assert SECRET not in again.stderr
    assert call("resume", out, "--data", topic, "--quiet").exit_code == 0
    nothing = ["--target", "y", "--model", MODEL, "--out", tmp_path / "nothing"]
    answer = call("run", "--data", f"{topic}&start=latest", *nothing)
    assert "holds no observations" in answer.stderr
    assert SECRET not in answer.stderr


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"webhook": f"ftp://h/{SECRET}"},
            "--webhook: webhook must start with http:// or https://",
        ),
        ({"data": f"kafka://h/?sasl.password={SECRET}"}, "is not a topic"),
    ],
)
def test_errors_show_no_secrets(settings, sentence, tmp_path):
    given = {"data": "agrawal", "model": MODEL, "out": str(tmp_path / "run"), **settings}
    options = [part for name, value in given.items() for part in (f"--{name}", value)]
    answer = call("run", *options)
    assert answer.exit_code == 2
    assert sentence in answer.stderr
    assert SECRET not in answer.stderr


def test_a_setting_that_was_given_is_not_asked_of_the_log(trap):
    run = hostile(trap, {"model": "helper:make", "webhook": "http://evil.example/x"})
    config = RunConfig.from_run(run, model=MODEL, webhook=None)
    assert (config.model, config.webhook, config.out) == (MODEL, None, run)
    with pytest.raises(ConfigError, match="would import helper"):
        RunConfig.from_run(run, webhook=None)
    assert os.listdir(run) != []


@pytest.mark.parametrize(
    ("then", "now"),
    [("Auto()", "Auto(ends='extremes')"), ({"age": "MinMax(5)"}, {"age": "MinMax(5)"})],
)
def test_a_run_of_before_goes_on_with_the_defaults_of_then(then, now, trap):
    config = RunConfig.from_run(hostile(trap, {"grid": then}))
    assert (config.estimator, config.grid) == ("pointwise", now)


def test_a_run_of_now_goes_on_with_the_defaults_of_now(tmp_path):
    options = {"data": "agrawal?n_samples=50", "model": MODEL, "out": tmp_path / "run"}
    with RunConfig(**options).assemble() as run:
        list(run)
    config = RunConfig.from_run(tmp_path / "run")
    assert (config.estimator, config.grid) == ("regrid", "Auto()")


def test_a_run_that_was_killed_before_it_began_is_started_again(tmp_path):
    log = ipdp.Log(tmp_path / "run")
    log._guard.close()  # as after a kill: it has no settings yet
    log._connection.close()
    answer = call("resume", tmp_path / "run", "--quiet")
    assert answer.exit_code == 2
    assert "was stopped before its run began: start it again with `ipdp run`" in answer.stderr
    options = ("--data", "agrawal?n_samples=50", "--model", "river.naive_bayes.GaussianNB()")
    assert call("run", *options, "--out", tmp_path / "run", "--quiet").exit_code == 0
