"""Everything of ipdp that is saved, each small: how it is read, and what is done with it then."""

from __future__ import annotations

import functools
import hashlib
import json
import math
import random
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from river import metrics

import ipdp
from ipdp import grid
from ipdp.comparison import Baseline, challenge, compare
from ipdp.core import packing
from ipdp.core.curve import Curve
from ipdp.core.importance import Importance
from ipdp.log import blobs
from ipdp.monitor import Monitor
from ipdp.monitor.change import Change
from ipdp.runs import Run, checkpoint


@dataclass(frozen=True)
class Subject:
    """Something that is saved.

    Attributes
    ----------
    state
        What was saved, JSON-safe.
    use
        Reads such a state and works with it. A refusal is `Refused`.
    data, repair, read
        The same as bytes; makes the checksum of bytes right again; reads and uses bytes.
    """

    name: str
    state: Any
    use: Callable[[Any], None]
    data: bytes
    repair: Callable[[bytes], bytes]
    read: Callable[[bytes], None]


class Refused(Exception):
    """What was read is refused, with a sentence."""


def refusing(take: Callable[[], Any]) -> Any:
    """What is taken; a refusal has one of the types that are documented, and is one sentence."""
    try:
        return take()
    except (ValueError, TypeError, checkpoint.CheckpointError, ipdp.log.LogError) as error:
        own = checkpoint.CheckpointError, ipdp.log.LogError
        if type(error) not in (ValueError, TypeError, *own):
            raise AssertionError(f"a foreign {type(error).__name__}: {error}") from error
        text = str(error)
        if "\n" in text or not 15 <= len(text) <= 600:
            raise AssertionError(f"no sentence of at most 600 letters: {text[:900]!r}") from error
        raise Refused(text) from None


def rows(n: int, seed: int = 1) -> list[dict[str, Any]]:
    """Numbers, whole numbers, a category, a flag; some values are missing."""
    rng = random.Random(seed)
    return [
        {
            "a": None if k % 17 == 5 else rng.gauss(0, 1),
            "n": rng.randrange(9),
            "c": rng.choice("uvw"),
            "b": rng.random() < 0.5,
        }
        for k in range(n)
    ]


def model(x: dict[str, Any]) -> dict[str, float]:
    """Two classes."""
    score = _of(x, "a") * _of(x, "n") + (x.get("c") == "u")
    p = 1 / (1 + math.exp(-max(score, -700)))
    return {"no": 1 - p, "yes": p}


def number(x: dict[str, Any]) -> float:
    """One number."""
    return _of(x, "a") + _of(x, "n") * (x.get("c") == "u") + _of(x, "b")


def _of(x: dict[str, Any], name: str) -> float:
    """A number, whatever is there: stored observations are damaged, too."""
    value = x.get(name)
    is_number = isinstance(value, (int, float)) and -1e9 < value < 1e9
    return float(min(max(value, -30), 30)) if is_number else 0.0


TAIL = rows(2, seed=9)
LABELS = ["no", "yes"]


def _json(value: Any) -> Any:
    return json.loads(json.dumps(value, allow_nan=False))


def _packed(body: bytes) -> bytes:
    """State bytes of which the checksum agrees, whatever is in them."""
    head = packing._HEAD
    if len(body) < head.size:
        return body
    magic, version, *sizes, _ = head.unpack_from(body)
    rest = body[head.size :]
    if sum(sizes[::2]) != len(rest):  # a part was made shorter or longer: the last one
        sizes[4] = max(0, len(rest) - sizes[0] - sizes[2])
        sizes[5] = sizes[4]
    return head.pack(magic, version, *sizes, packing._checksum(sizes, rest)) + rest


def _with_sha(body: bytes) -> bytes:
    cut = body[: -checkpoint._DIGEST]
    return cut + hashlib.sha256(cut).hexdigest().encode()


def _as_it_is(body: bytes) -> bytes:
    return body


# Explainers.


def _explainer(name: str, make: Callable[[], Any], n: int = 90, cut: int | None = None) -> Subject:
    whole = make()
    for k, x in enumerate(rows(n)):
        whole.explain_one(x, *([LABELS[k % 2]] if whole.needs_label else []))
        if k == cut:
            whole = whole.successor()
    made = make()

    def go_on(pdp: Any) -> None:
        with _of_this_model():
            for x, y in zip(TAIL, LABELS, strict=True):
                pdp.explain_one(x, *([y] if pdp.needs_label else []))
        for result in pdp.results().values():
            json.dumps(result.to_dict(), allow_nan=False)
        again = made._twin()
        again.state = _json(pdp.state)
        pdp.explain_many(TAIL, *([LABELS] if pdp.needs_label else []))

    def use(state: Any) -> None:
        twin = made._twin()
        refusing(lambda: setattr(twin, "state", state))
        go_on(twin)

    def read(data: bytes) -> None:
        go_on(refusing(lambda: made.from_bytes(data)))

    return Subject(name, _json(whole.state), use, whole.state_bytes(), _packed, read)


def pdp() -> Subject:
    """The default, with a pair."""
    make = functools.partial(ipdp.IncrementalPDP, model, n_ice=2, n_past=6, alpha=0.02, seed=1)
    return _explainer("pdp", lambda: make(features=["a", "c", ("a", "c")], grid=grid.Auto(4)))


def pointwise() -> Subject:
    """Each kind of grid, point by point; the state is of a segment that follows another."""
    grids = {
        "a": grid.Quantiles(4, window=30, storage_size=8, seed=2),
        "n": grid.MinMax(4, 20, warm_up=3),
        "c": grid.Categories(window=20, warm_up=2),
        "b": grid.Fixed([False, True]),
    }
    make = functools.partial(ipdp.IncrementalPDP, model, list(grids), grid=grids, n_ice=3, n_past=8)
    return _explainer("pdp, pointwise", lambda: make(estimator="pointwise", seed=1), cut=40)


def link() -> Subject:
    """On the scale of log odds."""
    make = functools.partial(ipdp.IncrementalPDP, model, ["a", "c"], n_ice=2, n_past=4, seed=1)
    return _explainer("pdp, log odds", lambda: make(grid=grid.Auto(4), link="logit"))


def sampled() -> Subject:
    make = functools.partial(ipdp.IncrementalPDP, model, ["a", "n", "c"], n_ice=2, n_past=4, seed=1)
    return _explainer("pdp, some features at a time", lambda: make(max_features=2))


def ranges() -> Subject:
    """The remaining grids, without ICE curves and with a plain mean."""
    grids = {"a": grid.QuantileRange(4, window=30, storage_size=8, seed=2), "n": grid.Auto(4)}
    make = functools.partial(ipdp.IncrementalPDP, number, list(grids), grid=grids, alpha=None)
    return _explainer("pdp, plain mean", lambda: make(n_ice=0, n_past=2, seed=1))


def pfi() -> Subject:
    make = functools.partial(ipdp.IncrementalPFI, model, ["a", "c", ("n", "b")], storage_size=10)
    return _explainer("pfi", lambda: make(loss=metrics.LogLoss(), seed=1))


def ale() -> Subject:
    make = functools.partial(ipdp.IncrementalALE, model, ["a", "c", ("a", "n")], alpha=0.02, seed=1)
    return _explainer("ale", lambda: make(grid=grid.Auto(4)))


def regions() -> Subject:
    make = functools.partial(ipdp.IncrementalRegions, number, ["a", "c"], n_past=8, n_ice=2)
    return _explainer("regions", lambda: make(grid=grid.Auto(4), seed=1))


def segments() -> Subject:
    make = functools.partial(ipdp.IncrementalPDP, model, ["a", ("a", "n")], by="c", n_groups=2)
    return _explainer("segments", lambda: make(grid=grid.Auto(3), n_ice=1, n_past=4, seed=1))


def challenger() -> Subject:
    first = ipdp.IncrementalPDP(model, ["a", "c"], grid=grid.Auto(4), n_ice=2, n_past=4, seed=1)
    return _explainer("challenger", lambda: challenge(first, lambda x: model({**x, "c": "v"})))


@contextmanager
def _of_this_model() -> Iterator[None]:
    """A state may be one of other outputs, or of numbers for text: that is said when it is used."""
    try:
        yield
    except (ValueError, TypeError) as error:
        if "the model gave" not in str(error) and "is not a number, which" not in str(error):
            raise
        raise Refused(str(error)) from None


# A monitor.


def monitor(statistic: str = "shape", detector: Any = None) -> Subject:
    moving = {"sign": 1.0}

    def turning(x: dict[str, Any]) -> float:
        return moving["sign"] * number(x)

    def make() -> Monitor:
        small = grid.Auto(4)
        pdp = ipdp.IncrementalPDP(turning, ["a", "c"], grid=small, n_ice=2, n_past=6, seed=1)
        return Monitor(pdp, statistic=statistic, detector=detector, warm_up=30, cool_down=30)

    whole = make()
    for k, x in enumerate(rows(180)):
        moving["sign"] = 1.0 if k < 100 else -1.0
        whole.explain_one({**x, "n": x["n"] + 30 * (k > 150)})
    assert whole.changes
    known = _json(whole.pdp.state)

    def use(state: Any) -> None:
        twin = make()
        twin.pdp.state = known
        refusing(lambda: setattr(twin, "state", state))
        for x in TAIL:
            twin.explain_one(x)
        for change in twin.changes:
            str(change)
        again = make()
        again.pdp.state = _json(twin.pdp.state)
        again.state = _json(twin.state)

    state = _json(whole.state)
    data = packing.pack(state)

    def read(data: bytes) -> None:
        use(refusing(lambda: packing.unpack(data)))

    name = "monitor" if statistic == "shape" else f"monitor, {statistic}"
    return Subject(name, state, use, data, _packed, read)


# A run.


def run() -> Subject:
    """A checkpoint of a run with labels that come later, a budget, metrics and a monitor."""
    folder = Path(tempfile.mkdtemp())
    stream = list(zip(rows(60), LABELS * 30, strict=True))

    def make(file: Path, *, resume: bool) -> Run:
        pdp = ipdp.IncrementalPDP(model, ["a"], grid=grid.Auto(4), n_ice=1, n_past=4, seed=1)
        return Run(
            stream,
            model,
            pdp,
            metric=[metrics.Accuracy(), metrics.LogLoss()],
            monitor=Monitor(pdp, warm_up=30),
            learn=False,
            delay=10,
            budget=0.5,
            snapshot_every=50,
            checkpoint=file,
            checkpoint_every=50,
            resume=resume,
        )

    first = make(folder / "first.ipdp", resume=False)
    for event in first:
        if first.n == 56:
            first.stop()
        del event
    data = (folder / "first.ipdp").read_bytes()
    file = folder / "fuzzed.ipdp"

    def read(data: bytes) -> None:
        file.write_bytes(data)
        going = make(file, resume=True)

        def whole() -> None:
            for event in going:
                del event

        refusing(whole)
        checkpoint.read(file)

    def use(state: Any) -> None:
        read(refusing(lambda: checkpoint.pack(state)))

    return Subject("run", _json(checkpoint.unpack(data)), use, data, _with_sha, read)


# What a log holds, and baselines.


@functools.cache
def _curves() -> dict[Any, Curve]:
    pdp = ipdp.IncrementalPDP(model, ["a", "n", "c", ("a", "c")], n_ice=2, n_past=8, seed=1)
    pdp.explain_many(rows(60))
    return pdp.curves


def _show(result: Any) -> None:
    """What page, report and command line do with a result."""
    if isinstance(result, Curve):
        result.band()
        _ = result.overall_importance, result.explained, repr(result)
        result.to_frame()
    json.dumps(result.to_dict(), allow_nan=False)


def curve(feature: Any, name: str) -> Subject:
    """A curve, as a dict and as it is in a log."""
    state = _json(_curves()[feature].to_dict())

    def use(state: Any) -> None:
        _show(refusing(lambda: Curve.from_dict(state)))

    def read(data: bytes) -> None:
        refusing(lambda: blobs.curve_of(feature, data))

    return Subject(name, state, use, blobs.curve_blob(_curves()[feature]), _as_it_is, read)


def importance() -> Subject:
    value = Importance("a", value=1.0, std_error=0.1, n_samples=9, n_effective=8.0, t=9)

    def use(state: Any) -> None:
        _show(refusing(lambda: Importance.from_dict(state)))

    def read(data: bytes) -> None:
        refusing(lambda: blobs.result_of("a", data))

    return Subject(
        "importance", _json(value.to_dict()), use, blobs.result_blob(value), _as_it_is, read
    )


def change() -> Subject:
    saved = monitor().state["changes"][0]
    known = Change.from_dict(saved)

    def use(state: Any) -> None:
        found = refusing(lambda: Change.from_dict(state))
        str(found)
        json.dumps(found.to_dict(), allow_nan=False)

    text = blobs.change_text(known).encode()
    parts = blobs.curve_blob(known.before), blobs.curve_blob(known.after)

    def read(data: bytes) -> None:
        text = data.decode(errors="surrogateescape")
        refusing(lambda: blobs.change_of(text, *parts))

    return Subject("change", saved, use, text, _as_it_is, read)


def baseline() -> Subject:
    now = _curves()
    whole = Baseline(now)

    def read(data: bytes) -> None:
        found = refusing(lambda: Baseline.from_bytes(data))
        repr(found)
        if set(found.curves) == set(now) and found.outputs == whole.outputs:
            str(refusing(lambda: compare(found, now)))  # its curves may be on another scale
        found.to_bytes()

    def use(state: Any) -> None:
        read(refusing(lambda: packing.pack(state)))

    return Subject(
        "baseline", packing.unpack(whole.to_bytes()), use, whole.to_bytes(), _packed, read
    )


SUBJECTS: dict[str, Callable[[], Subject]] = {
    "pdp": pdp,
    "pointwise": pointwise,
    "ranges": ranges,
    "link": link,
    "sampled": sampled,
    "pfi": pfi,
    "ale": ale,
    "regions": regions,
    "segments": segments,
    "challenger": challenger,
    "monitor": monitor,
    "run": run,
    "curve": lambda: curve("a", "curve"),
    "pair": lambda: curve(("a", "c"), "curve of a pair"),
    "importance": importance,
    "change": change,
    "baseline": baseline,
}


def quiet() -> None:
    """No warnings: whoever damages a state sees many."""
    warnings.simplefilter("ignore")
