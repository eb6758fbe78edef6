"""Writing checkpoints, and going on from them: exactly, or with one sentence why not."""

from __future__ import annotations

import errno
import os
import pickle
import shutil
from itertools import islice
from pathlib import Path

import pytest
from river import compose, drift, forest, linear_model, metrics, preprocessing, tree, utils

import ipdp
from ipdp.log import LogError, LogReader
from ipdp.models.per_row import RowEngine
from ipdp.runs import Checkpointed, Ended, Replayed, Run, Snapshotted, Started
from ipdp.runs.checkpoint import CheckpointError, read, write
from ipdp.sources import open_source

from .conftest import rows
from .endings import assert_same, assert_same_end


def stopped(run: Run, n: int) -> Run:
    """Go through a run until so many observations."""
    for _ in run:
        if run.n >= n:
            run.stop()
    return run


def finished(run: Run) -> Run:
    for _ in run:
        pass
    return run


MODELS = {
    "tree": lambda: tree.HoeffdingTreeClassifier(grace_period=20),
    "adaptive tree": lambda: tree.HoeffdingAdaptiveTreeClassifier(grace_period=20, seed=1),
    "forest": lambda: forest.ARFClassifier(n_models=3, seed=1),
    "pipeline": lambda: compose.Pipeline(
        preprocessing.StandardScaler(), linear_model.LogisticRegression()
    ),
}


@pytest.mark.parametrize("allow_pickle", [True, False])
@pytest.mark.parametrize("name", MODELS)
def test_it_ends_as_if_there_had_been_no_stop(tmp_path, name, allow_pickle):
    def make(n=160, **options):
        model = MODELS[name]()
        grid = {"a": ipdp.grid.MinMax(4), "b": ipdp.grid.Quantiles(3)}
        pdp = ipdp.IncrementalPDP(model, ["a", ("a", "b")], grid=grid, alpha=0.05, seed=1)
        pfi = ipdp.IncrementalPFI(model, loss=metrics.Accuracy(), seed=1)
        return Run(
            islice(rows(160), n),
            model,
            [pdp, pfi],
            metric=[metrics.Accuracy(), metrics.LogLoss()],
            monitor=ipdp.Monitor(pdp, warm_up=50, cool_down=50, clock=8),
            allow_pickle=allow_pickle,
            **options,
        )

    for n in (15, 90):
        finished(make(n, checkpoint=tmp_path, resume=n > 15))
    assert_same_end(finished(make(checkpoint=tmp_path, resume=True)), finished(make()))


class OwnEngine(RowEngine):
    """An engine that a user wrote."""

    def __init__(self, model):
        super().__init__(model.predict_proba_one, model=model, description="of my own")


ENGINES = {
    "labels": lambda model: ipdp.models.engine(model, response="predict"),
    "own": OwnEngine,
}


@pytest.mark.parametrize("name", ENGINES)
def test_a_pickled_model_is_asked_as_it_was_before(tmp_path, name):
    def make(n=160, **options):
        model = MODELS["tree"]()
        pdp = ipdp.IncrementalPDP(ENGINES[name](model), ["a"], alpha=0.05, seed=1)
        return Run(islice(rows(160), n), model, pdp, allow_pickle=True, **options)

    finished(make(90, checkpoint=tmp_path))
    one = finished(make(checkpoint=tmp_path, resume=True))
    assert_same_end(one, finished(make()))
    assert one.explainers["pdp"].engine.model is one.model
    things = pickle.loads(read(tmp_path / "checkpoint.ipdp")["pickle"])
    assert list(things["engines"]) == (["pdp"] if name == "own" else [])


def test_a_pickled_model_of_another_kind_does_not_fit(make, tmp_path):
    stopped(make(checkpoint=tmp_path, allow_pickle=True), 100)
    options = {"checkpoint": tmp_path, "allow_pickle": True, "resume": True}
    with pytest.raises(CheckpointError, match="is not one like the pdp's model"):
        list(make(model=MODELS["pipeline"](), **options))


def test_detectors_of_river_by_pickle(tmp_path):
    def make(**options):
        model = tree.HoeffdingTreeClassifier(grace_period=20)
        pdp = ipdp.IncrementalPDP(model, ["a"], alpha=0.05, seed=1)
        monitor = ipdp.Monitor(pdp, detector=drift.ADWIN(), warm_up=50, cool_down=50)
        return Run(
            rows(300),
            model,
            pdp,
            monitor=monitor,
            allow_pickle=True,
            snapshot_every=1,
            **options,
        )

    stopped(make(checkpoint=tmp_path), 140)
    assert_same_end(finished(make(checkpoint=tmp_path, resume=True)), finished(make()))


def test_a_metric_that_only_pickle_keeps(make, tmp_path):
    for allow_pickle, how in ((True, "pickle"), (False, "replay")):
        place = tmp_path / how

        def run(place=place, allow_pickle=allow_pickle, **options):
            return make(
                model=MODELS["tree"](),
                learn=False,
                metric=metrics.RollingROCAUC(window_size=30),
                checkpoint=place,
                allow_pickle=allow_pickle,
                snapshot_every=1,
                **options,
            )

        place.mkdir()
        stopped(run(), 100)
        assert read(place / "checkpoint.ipdp")["run"]["model"] == how
        one = finished(run(resume=True))
        other = finished(
            make(model=MODELS["tree"](), learn=False, metric=metrics.RollingROCAUC(30))
        )
        assert one.scores == other.scores


def test_delayed_labels_wait_in_the_checkpoint(make, tmp_path):
    options = {"delay": 30, "allow_pickle": True, "snapshot_every": 1}
    stopped(make(checkpoint=tmp_path, **options), 100)
    one = finished(make(checkpoint=tmp_path, resume=True, **options))
    assert_same_end(one, finished(make(**options)))


def test_a_budget_goes_on_at_its_pace(make, tmp_path):
    options = {"model": lambda x: x["a"], "learn": False, "metric": None, "budget": 0.01}
    run = stopped(make(checkpoint=tmp_path, snapshot_every=1, **options), 300)
    assert run.every > 1
    again = make(checkpoint=tmp_path, resume=True, **options)
    assert next(iter(again)) == Started(300, None)
    assert again.every == run.every


def test_a_rolling_metric_needs_no_pickle(make, tmp_path):
    def run(**options):
        metric = utils.Rolling(metrics.Accuracy, window_size=40)
        return make(model=MODELS["tree"](), learn=False, metric=metric, **options)

    stopped(run(checkpoint=tmp_path), 100)
    assert read(tmp_path / "checkpoint.ipdp")["run"]["model"] == "given"
    one = finished(run(checkpoint=tmp_path, resume=True))
    assert one.scores == finished(run()).scores
    assert list(one.scores) == ["Accuracy_40"]


def test_a_metric_that_is_changed_by_being_read(tmp_path):
    """A confusion matrix gets new cells when it is read, in an order that depends on when."""

    def run(n=120, **options):
        model = MODELS["tree"]()
        pdp = ipdp.IncrementalPDP(model, ["a"], alpha=0.05, seed=1)
        stream = ((x, int(3 * x["a"] + x["b"]) % 4) for x, _ in rows(n))
        return Run(stream, model, pdp, metric=metrics.MacroF1(), snapshot_every=7, **options)

    finished(run(80, checkpoint=tmp_path, checkpoint_every=10))
    assert read(tmp_path / "checkpoint.ipdp")["run"]["model"] == "replay"
    assert_same_end(finished(run(checkpoint=tmp_path, resume=True)), finished(run()))


def test_labels_belong_to_what_is_learnt_again(tmp_path):
    def run(label, **options):
        model = MODELS["tree"]()
        pdp = ipdp.IncrementalPDP(model, ["a"], alpha=0.05, seed=1)
        stream = [(x, y if k else label) for k, (x, y) in enumerate(rows(30))]
        return Run(stream, model, pdp, checkpoint=tmp_path, **options)

    finished(run(True))
    with pytest.raises(CheckpointError, match="did not predict what it did before"):
        list(run(False, resume=True))


def test_a_source_is_asked_for_its_place(tmp_path):
    file = tmp_path / "rows.csv"
    lines = [f"{x['a']},{x['b']},{y}" for x, y in rows(200)]
    lines[50] = "not,enough"
    file.write_text("\n".join(["a,b,y", *lines, ""]))

    def run(place=None, until=10**9, **options):
        pdp = ipdp.IncrementalPDP(lambda x: x["a"] * x["b"], ["a"], seed=1)
        options = {"learn": False, "checkpoint": place, "snapshot_every": 1, **options}
        with open_source(str(file), target="y", on_error="skip") as source:
            return stopped(Run(source, pdp.model, pdp, **options), until)

    run(tmp_path / "run", until=90)
    one = run(tmp_path / "run", resume=True)
    assert_same_end(one, run())
    assert (one.n, one.n_skipped) == (199, 1)


def test_the_model_learns_again_without_pickle_and_says_so(make, tmp_path, monkeypatch):
    monkeypatch.setattr("ipdp.runs.checkpointing._REPORT", 0.0)
    stopped(make(checkpoint=tmp_path, snapshot_every=1), 200)
    events = list(make(checkpoint=tmp_path, resume=True))
    told = [event for event in events if isinstance(event, Replayed)]
    assert told[0] == Replayed(1, 200)
    assert told[-1] == Replayed(200, 200)
    assert events[len(told)] == Started(200, None)


def test_a_signal_while_it_learns_again_is_no_end_of_the_stream(tmp_path, monkeypatch):
    monkeypatch.setattr("ipdp.runs.checkpointing._REPORT", 0.0)
    file = tmp_path / "rows.csv"
    file.write_text("a,y\n" + "".join(f"{x['a']},{y}\n" for x, y in rows(100)))

    def last_event(interrupted, **options):
        model = MODELS["tree"]()
        pdp = ipdp.IncrementalPDP(model, ["a"], seed=1)
        with open_source(str(file), target="y") as source:
            run = Run(source, model, pdp, checkpoint=tmp_path, **options)
            for event in run:
                if interrupted and isinstance(event, Replayed):
                    run.interrupt()
        return event

    last_event(interrupted=False)
    assert last_event(interrupted=True, resume=True) == Ended(100, "stopped")


def test_a_stop_while_it_learns_again_leaves_the_checkpoint(make, tmp_path, monkeypatch):
    monkeypatch.setattr("ipdp.runs.checkpointing._REPORT", 0.0)
    stopped(make(checkpoint=tmp_path, log=tmp_path, snapshot_every=1), 200)
    before = (tmp_path / "checkpoint.ipdp").read_bytes()
    run = make(checkpoint=tmp_path, log=tmp_path, resume=True)
    run.stop()
    assert list(run)[-1] == Ended(200, "stopped")
    assert (tmp_path / "checkpoint.ipdp").read_bytes() == before
    with LogReader(tmp_path) as log:
        assert (log.status.state, log.status.n) == ("stopped", 200)


def test_a_run_that_ended_goes_on_when_the_stream_is_longer(make, tmp_path):
    options = {"log": tmp_path, "checkpoint": tmp_path, "allow_pickle": True}
    data = list(rows(300))
    finished(make(data[:220], **options))
    one = finished(make(data, resume=True, **options))
    assert_same_end(one, finished(make(data)))
    with LogReader(tmp_path) as log:
        assert [s.n for s in log.snapshots()] == [50, 100, 150, 200, 250, 300]


class Hostile:
    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self):
        return Path.touch, (self.trace,)


def test_a_hostile_pickle_is_not_loaded_unless_pickles_are_allowed(make, tmp_path):
    file, trace = tmp_path / "checkpoint.ipdp", tmp_path / "executed"
    stopped(make(checkpoint=tmp_path, allow_pickle=True), 100)
    write(file, {**read(file), "pickle": pickle.dumps(Hostile(trace))})
    with pytest.raises(CheckpointError, match="holds a pickle, which was not loaded: a pickle can"):
        list(make(checkpoint=tmp_path, resume=True))
    # Nor one that is smuggled into a checkpoint that needs none.
    parts = read(file)
    parts["run"]["model"] = "given"
    write(file, parts)
    list(make(checkpoint=tmp_path, resume=True))
    assert not trace.exists()


def damaged(parts: dict, name: str) -> dict:
    run = parts["run"]
    match name:
        case "no run":
            del parts["run"]
        case "no pdp":
            del parts["explainers"]["pdp"]
        case "run is a list":
            parts["run"] = []
        case "newer":
            run["version"] = 3
        case "feed":
            run["feed"] = {}
        case "n":
            run["feed"]["n"] = "many"
        case "pdp":
            parts["explainers"]["pdp"]["fold"]["smoothing"] = None
        case "metrics":
            run["metrics"]["Accuracy"] = {"attributes": {"cm": {"value": 3}}}
        case "deep":
            parts["explainers"]["pdp"]["fold"] = {"seen": []}
    return parts


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("no run", "damaged: 'run' is missing"),
        ("no pdp", "damaged: 'pdp' is missing"),
        ("run is a list", "does not fit this run"),
        ("newer", "of version 3, this ipdp goes on from versions up to 2"),
        ("feed", "damaged: 'n' is missing"),
        ("n", "does not fit this run"),
        ("pdp", "does not fit this run"),
        ("metrics", "did not predict|does not fit this run"),
        ("deep", "does not fit this run|damaged"),
    ],
)
def test_a_checkpoint_that_makes_no_sense(make, tmp_path, name, sentence):
    file = tmp_path / "checkpoint.ipdp"
    options = {"model": MODELS["tree"](), "learn": False, "log": tmp_path, "checkpoint": tmp_path}
    stopped(make(**options), 100)
    write(file, damaged(read(file), name))
    before = file.read_bytes()
    with pytest.raises(CheckpointError, match=sentence) as caught:
        list(make(resume=True, **options))
    assert "\n" not in str(caught.value)
    assert file.read_bytes() == before
    with LogReader(tmp_path) as log:  # as it was
        assert (log.status.state, log.status.n) == ("stopped", 100)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"learn": False}, "learn was True, and is False now"),
        ({"metric": metrics.F1()}, r"metrics was \['Accuracy'\], and is \['F1'\] now"),
        ({"monitor": True}, "a monitor was False, and is True now"),
        ({"delay": 3}, "a delay was False, and is True now"),
    ],
)
def test_another_run_does_not_fit(make, tmp_path, options, sentence):
    stopped(make(checkpoint=tmp_path), 100)
    with pytest.raises(CheckpointError, match=sentence):
        list(make(checkpoint=tmp_path, resume=True, **options))


def test_other_settings_of_the_explainer_do_not_fit(make, tmp_path):
    stopped(make(checkpoint=tmp_path), 100)
    model = MODELS["tree"]()
    pdp = ipdp.IncrementalPDP(model, ["a", "b"], alpha=0.01, seed=1)
    with pytest.raises(CheckpointError, match=r"the state was made with alpha = 0.05"):
        list(make(model=model, pdp=pdp, checkpoint=tmp_path, resume=True))


def test_another_stream_is_noticed(make, tmp_path):
    stopped(make(checkpoint=tmp_path, snapshot_every=1), 200)
    with pytest.raises(CheckpointError, match=r"only 120 observations, .* after 200"):
        list(make(rows(120), checkpoint=tmp_path, resume=True))
    with pytest.raises(CheckpointError, match="observation 200 of the stream is not the one"):
        list(make(rows(seed=2), checkpoint=tmp_path, resume=True))


def test_another_model_is_noticed(make, tmp_path):
    stopped(make(checkpoint=tmp_path, snapshot_every=1), 200)
    learnt = MODELS["tree"]()
    for x, y in rows(50, seed=3):
        learnt.learn_one(x, y)
    with pytest.raises(CheckpointError, match="did not predict what it did before"):
        list(make(model=learnt, checkpoint=tmp_path, resume=True))


def test_a_log_without_its_checkpoint_is_not_lost(make, tmp_path):
    stopped(make(log=tmp_path, checkpoint=tmp_path), 100)
    with pytest.raises(CheckpointError, match="there is no checkpoint to go on from"):
        list(make(log=tmp_path, checkpoint=tmp_path / "other", resume=True))
    with LogReader(tmp_path) as log:
        assert (log.status.state, log.status.n) == ("stopped", 100)


def killed(make, directory: Path, n: int) -> Path:
    """What a run that is killed after so many observations leaves behind."""
    with ipdp.Log(directory / "run") as log:
        run = make(log=log, checkpoint=directory / "run")
        for _ in run:
            if run.n >= n and not run._is_stopping:
                log.commit()
                shutil.copytree(directory / "run", directory / "left")
                run.stop()
    return directory / "left"


def test_a_killed_run_whose_checkpoint_is_lost_keeps_its_log(make, tmp_path):
    left = killed(make, tmp_path, 150)
    (left / "checkpoint.ipdp").unlink()
    with LogReader(left) as log:
        assert log.status.state == "died"
        before = len(log.snapshots())
    with pytest.raises(
        CheckpointError, match=r"holds a run of 150 observations and .* begin anew in another"
    ):
        list(make(log=left, checkpoint=left, resume=True))
    with LogReader(left) as log:
        assert len(log.snapshots()) == before == 3
        assert log.status.n == 150
    assert not (left / "checkpoint.ipdp").exists()


def test_a_checkpoint_of_version_1_goes_on(tmp_path, caplog):
    def make(**options):
        model = tree.HoeffdingTreeClassifier(grace_period=20)
        grid = ipdp.grid.MinMax(3)
        settings = {"grid": grid, "estimator": "pointwise", "alpha": 0.05, "seed": 1}
        # That version kept no past observations.
        pdp = ipdp.IncrementalPDP(model, ["a"], n_past=0, **settings)
        pfi = ipdp.IncrementalPFI(model, loss=metrics.Accuracy(), storage_size=10, seed=1)
        monitor = ipdp.Monitor(pdp, warm_up=50, cool_down=50, clock=8)
        return Run(
            rows(160), model, [pdp, pfi], metric=metrics.Accuracy(), monitor=monitor, **options
        )

    shutil.copy(Path(__file__).parent / "data" / "version_1.ipdp", tmp_path / "checkpoint.ipdp")
    resumed, straight = finished(make(checkpoint=tmp_path, resume=True)), finished(make())
    # The blocks of time that a band rests on were not in that version, nor was the spread.
    of_band = {"std_error", "inflation", "degrees", "path_length", "provisional"} | {
        "centred_std_error",
        "centred_path_length",
        "n_effective",
        "ice_spread",
        "explained",
        "density",
        "prediction",
        "prediction_std",
    }
    for name, results in straight.results.items():
        for feature, result in results.items():
            again = resumed.results[name][feature].to_dict()
            for item, value in result.to_dict().items():
                if item not in of_band:
                    assert_same(again[item], value)
    # The monitor of that time looked at other things: its changes stay, and it starts anew.
    assert "the monitor starts anew" in caplog.text
    assert resumed.scores == straight.scores
    assert read(tmp_path / "checkpoint.ipdp")["run"]["version"] == 2


def test_the_log_of_another_run_is_not_lost(make, tmp_path):
    stopped(make(log=tmp_path / "a", checkpoint=tmp_path / "a"), 200)
    stopped(make(log=tmp_path / "b", checkpoint=tmp_path / "b"), 100)
    with pytest.raises(CheckpointError, match=r"it ends after 100 .* made after 200"):
        list(make(log=tmp_path / "b", checkpoint=tmp_path / "a", resume=True))
    with LogReader(tmp_path / "b") as log:
        assert (log.status.state, log.status.n) == ("stopped", 100)


def test_a_new_log_for_an_old_checkpoint(make, tmp_path):
    stopped(make(checkpoint=tmp_path), 200)
    list(make(log=tmp_path / "new", checkpoint=tmp_path, resume=True))
    with LogReader(tmp_path / "new") as log:
        assert [s.n for s in log.snapshots()] == [250, 300, 350, 400]


# Disks.


def test_a_full_disk_under_the_log(make, small_disk):
    """A real one: the log cannot grow, the run says so, the checkpoint from before stays."""
    options = {"log": small_disk, "checkpoint": small_disk, "allow_pickle": True}
    run = make(checkpoint_every=50, snapshot_every=2, **options)
    with pytest.raises((LogError, CheckpointError), match=r"full|No space left"):
        list(run)
    assert read(small_disk / "checkpoint.ipdp")["run"]["feed"]["n"] >= 50


def test_model_of_a_local_class_cannot_be_pickled(make, tmp_path):
    class Local(tree.HoeffdingTreeClassifier):
        pass

    with pytest.raises(CheckpointError, match="the model cannot be pickled"):
        list(make(model=Local(), checkpoint=tmp_path, allow_pickle=True))


def test_snapshots_come_at_the_same_places_after_a_resume(make, tmp_path):
    stopped(make(checkpoint=tmp_path, snapshot_every=7), 28)
    events = list(make(checkpoint=tmp_path, resume=True))
    assert next(e.n for e in events if isinstance(e, Snapshotted)) == 50


# When, where, and by whom one is written.


def test_to_resume_what_never_had_a_checkpoint_is_to_start(make, tmp_path):
    run = make(log=tmp_path, checkpoint=tmp_path, resume=True)
    assert next(event for event in run if isinstance(event, Started)).n == 0


def test_checkpoints_by_number_and_by_time(make, tmp_path, monkeypatch):
    events = list(make(checkpoint=tmp_path / "a", checkpoint_every=150))
    assert [e.n for e in events if isinstance(e, Checkpointed)] == [150, 300, 400]
    events = list(make(checkpoint=tmp_path / "b.ipdp"))
    assert [e.n for e in events if isinstance(e, Checkpointed)] == [400]
    assert (tmp_path / "b.ipdp").is_file()
    monkeypatch.setattr("ipdp.runs.checkpointing._SECONDS", 0.0)
    monkeypatch.setattr("ipdp.runs.checkpointing._TIMES", 1.0)
    monkeypatch.setattr("ipdp.runs.loop._BEAT", 0.0)
    events = list(make(checkpoint=tmp_path / "c"))
    assert len([e for e in events if isinstance(e, Checkpointed)]) > 3


# What cannot be gone on from.


def test_a_checkpoint_is_not_overwritten_by_accident(make, tmp_path):
    stopped(make(checkpoint=tmp_path), 100)
    before = (tmp_path / "checkpoint.ipdp").read_bytes()
    with pytest.raises(FileExistsError, match="resume it, or choose another place"):
        list(make(checkpoint=tmp_path))
    assert (tmp_path / "checkpoint.ipdp").read_bytes() == before


def test_a_run_that_is_killed_early_has_a_checkpoint(make, tmp_path):
    options = {"log": tmp_path, "checkpoint": tmp_path}
    run = make(**options, snapshot_every=20)
    events = run.events()
    next(events)
    copied = (tmp_path / "checkpoint.ipdp").read_bytes()  # as it is until the next one
    list(events)
    (tmp_path / "checkpoint.ipdp").write_bytes(copied)
    again = finished(make(**options, snapshot_every=20, resume=True))
    assert_same_end(again, finished(make(snapshot_every=20)))
    with LogReader(tmp_path) as log:
        assert [s.n for s in log.snapshots()][-1] == 400
        assert log.verify() == []


def test_a_run_that_fails_at_once_leaves_no_checkpoint(make, tmp_path):
    with pytest.raises(TypeError, match="observation 2 of the stream is a str"):
        list(make([next(rows()), "no observation"], checkpoint=tmp_path))
    assert not (tmp_path / "checkpoint.ipdp").exists()


def test_two_runs_do_not_share_a_checkpoint(make, tmp_path):
    first = make(checkpoint=tmp_path)
    events = first.events()
    next(events)
    for resume in (True, False):
        with pytest.raises(CheckpointError, match="is being written by another run: wait until"):
            list(make(checkpoint=tmp_path, resume=resume))
    list(events)
    assert first.state == "ended"
    assert finished(make(checkpoint=tmp_path, resume=True)).n == 400


def test_what_a_kill_left_half_written_is_cleared_away(make, tmp_path):
    left = tmp_path / ".checkpoint.123.part.ipdp"
    left.write_bytes(b"half")
    finished(make(checkpoint=tmp_path))
    assert not left.exists()


def test_a_full_disk_ends_the_run_and_loses_nothing(make, tmp_path, monkeypatch):
    options = {"log": tmp_path, "checkpoint": tmp_path, "allow_pickle": True}
    run = make(checkpoint_every=100, **options)
    events = run.events()
    for event in events:
        if isinstance(event, Checkpointed) and event.n == 200:
            break

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", full)
        with pytest.raises(CheckpointError, match="No space left on device; the one before it is"):
            list(events)
    with LogReader(tmp_path) as log:
        assert log.status.state == "failed"
        assert "No space left" in log.status.message
    one = finished(make(resume=True, **options))
    assert_same_end(one, finished(make()))
    with LogReader(tmp_path) as log:
        assert log.status.state == "ended"
        assert [s.n for s in log.snapshots()] == list(range(50, 401, 50))


def test_a_read_only_directory(make, read_only):
    with pytest.raises(CheckpointError, match=r"cannot write the checkpoint: .* read-only"):
        list(make(checkpoint=read_only))
