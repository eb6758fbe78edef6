"""Bad input at scale: observations, labels, weights, times, lines, frames, models and answers.

Each is taken or refused with a sentence; after a refusal the state is bit for bit what it was. What
was taken can be explained, watched, saved, logged and shown.
"""

from __future__ import annotations

import datetime as dt
import json
import logging
import marshal
import math
import random
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import ipdp
from ipdp.log import Log, LogReader
from ipdp.monitor import Monitor
from ipdp.sources import open_source

ODD: list[Any] = [
    *(None, True, False, 0, 1, -1, 2**31, 2**63, -(2**63), 10**30, 10**400, -(10**400)),
    *(0.0, -0.0, 5e-324, 1e-300, 1e69, -1e70, 1e150, 1e200, 1e308, math.nan, math.inf, -math.inf),
    *(
        "",
        "u",
        "v",
        "1",
        "1e5",
        "nan",
        "None",
        "\x00",
        "\ud800",
        "é" * 500,
        "long" * 50_000,
        "\U0001d518",
        "<b>",
        "a,b\n",
    ),
    *(b"u", [], [1.0], (), (1, 2), {}, {"a": 1}, set(), frozenset("u"), object(), int, len),
    *(np.float32(0.1), np.int8(3), np.float64("nan"), np.bool_(True), np.str_("u"), np.array(1.0)),
    *(np.array([1.0]), np.array([]), np.datetime64("2024-01-01"), np.datetime64("NaT", "s"), 1j),
    *(Decimal("0.1"), Decimal("NaN"), Decimal("1e400"), Fraction(1, 3), dt.date(2024, 1, 1)),
    *(dt.datetime(2024, 1, 1), dt.timedelta(1), pd.NA, pd.NaT, pd.Timestamp("2024-01-01")),
]
RAISED = "the model has no answer to that"
_WITHOUT_REFERENCES = 2  # of marshal: an object that is there twice is written twice
NAMES = ["a", "n", "c", "b", "d", "", 0, 1.5, None, True, ("a", "c"), "é", "\x00", "a\n"]


def observation(rng: random.Random) -> Any:
    """One that is good but for some values, as a rule; or something else altogether."""
    x: dict[Any, Any] = {
        "a": rng.gauss(0, 1),
        "n": rng.randrange(9),
        "c": rng.choice("uvw"),
        "b": rng.random() < 0.5,
    }
    kind = rng.random()
    if kind < 0.6:
        x[rng.choice(list(x))] = rng.choice(ODD)
    elif kind < 0.7:
        del x[rng.choice(list(x))]
    elif kind < 0.8:
        x[rng.choice(NAMES)] = rng.choice(ODD)
    elif kind < 0.84:
        return rng.choice(ODD)
    elif kind < 0.86:
        return pd.Series(x)
    return x


class BadModel:
    """Answers rightly as a rule; else it raises, changes x, or answers with anything."""

    def __init__(self) -> None:
        self.rng = random.Random(0)
        self.share = 0.02
        self.outputs = ["no", "yes"]

    def __call__(self, x: dict[str, Any]) -> Any:
        a = x.get("a")
        value = float(a) if isinstance(a, (int, float)) and abs(a) < 9 else 0.0
        p = 1 / (1 + math.exp(-value))
        answer: Any = {"no": 1 - p, "yes": p}
        if self.rng.random() < self.share:
            return self._bad(x, answer)
        return answer

    def _bad(self, x: dict[str, Any], answer: dict[str, float]) -> Any:
        kind = self.rng.randrange(6)
        if kind == 0:
            raise self.rng.choice([ValueError, KeyError, RuntimeError, MemoryError])(RAISED)
        if kind == 1:
            x.clear()
        elif kind == 2:
            x["a"] = object()
        elif kind == 3:
            return self.rng.choice(ODD)
        elif kind == 4:
            return {**answer, "yes": self.rng.choice(ODD)}
        else:
            return {self.rng.choice(NAMES): 0.5, **answer}
        return answer


def _loss(y: Any, said: Any) -> float:
    return 1.0 - said.get(y if isinstance(y, str) else None, 0.0)


class Tried:
    """Explainers that get bad input, and what they must be after it."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rng = random.Random(seed)
        self.model = BadModel()
        self.model.rng = self.rng
        pdp = ipdp.IncrementalPDP(self.model, ["a", "n", "c"], n_ice=2, n_past=8, seed=1)
        self.monitor = Monitor(pdp, warm_up=50)
        self.pfi = ipdp.IncrementalPFI(self.model, ["a", "c"], loss=_loss, storage_size=8, seed=1)
        self.model.share = 0.0
        for k in range(30):
            x = {"a": k / 30, "n": k % 9, "c": "uvw"[k % 3], "b": k % 2 == 0}
            self.monitor.explain_one(x)
            self.pfi.explain_one(x, "yes")
        self.model.share = 0.02
        self.counts: Counter[str] = Counter()
        self.failures: dict[str, str] = {}

    def state(self) -> list[Any]:
        return [self.monitor.pdp.state, self.monitor.state]

    def bits(self) -> bytes:
        """The state, to compare: where -0.0 is not 0.0, and in a fraction of the time of JSON."""
        return marshal.dumps(self.state(), _WITHOUT_REFERENCES)

    def one(self, k: int) -> None:
        """One observation, with a weight and a time that may be bad, too."""
        rng = self.rng
        x = observation(rng)
        options: dict[str, Any] = {}
        if rng.random() < 0.05:
            options["w"] = rng.choice(ODD)
        if rng.random() < 0.05:
            options["t"] = rng.choice(ODD)
        is_looked_at = k % 25 == 0  # a state takes milliseconds
        before = self.bits() if is_looked_at else None
        seen = self.monitor.pdp.n_seen
        try:
            if rng.random() < 0.2:
                self.pfi.explain_one(x, rng.choice(ODD) if rng.random() < 0.2 else "yes", **options)
            else:
                self.monitor.explain_one(x, **options)
        except Exception as error:
            self.counts["refused"] += 1
            self._must_be_told(error, x)
            if self.monitor.pdp.n_seen != seen or (before is not None and self.bits() != before):
                self.fail("an error has changed the state", error, x)
        else:
            self.counts["taken"] += 1

    def _must_be_told(self, error: Exception, x: Any) -> None:
        """Fail unless ipdp says itself what is wrong, or passes on what the model has raised."""
        last = traceback.extract_tb(error.__traceback__)[-1]
        is_raised = "/ipdp/" in last.filename and (last.line or "").startswith("raise ")
        is_sentence = type(error) in (TypeError, ValueError) and len(str(error).split()) >= 4
        is_sentence = is_sentence and len(str(error)) < 2_000
        if RAISED not in str(error) and not (is_raised and is_sentence):
            self.fail(f"an error of {last.filename}:{last.lineno}", error, x)

    def fail(self, what: str, error: BaseException, x: Any) -> None:
        self.counts["failed"] += 1
        told = f"{what}: {type(error).__name__}: {str(error)[:150]}"
        self.failures.setdefault(told, f"seed {self.seed}: {repr(x)[:300]}")

    def look(self, folder: Path) -> None:
        """What was taken can be read, saved, logged, shown, and gone on from."""
        share, self.model.share = self.model.share, 0.0
        try:
            state = json.loads(json.dumps(self.state(), allow_nan=False))
            pdp = self.monitor.pdp._twin()
            pdp.state = state[0]
            again = Monitor(pdp, warm_up=50)
            again.state = state[1]
            repr(pdp), pdp._repr_html_()
            results = pdp.results()
            file = Path(tempfile.mkdtemp(dir=folder)) / "log.db"
            with Log(file) as log:
                log.begin({}, pdp.features)
                log.snapshot(results, pdp.n_seen)
            with LogReader(file) as reader:
                assert reader.verify() == []
                assert set(reader.at(pdp.n_seen)) == set(results)
        except Exception as error:
            self.fail("what was taken cannot be used", error, None)
        finally:
            self.model.share = share


JUNK = [b'"', b"\x00", b"\xff", b",", b"\r", b"1e999", b"'", b"\xe2\x80\xa8", b"nan", b""]
JUNK += [b"}", b"[[", b'"a":', b"\\ud800", b"-", b"9" * 400]


def lines(rng: random.Random, n: int, *, as_json: bool) -> bytes:
    """A CSV or JSON Lines file with bad lines in it."""
    rows = [] if as_json else [b"a,b,c"]
    for _ in range(n):
        values = rng.gauss(0, 1), rng.randrange(9), rng.choice("uvw")
        row = ",".join(map(str, values)).encode()
        if as_json:
            row = json.dumps(dict(zip("abc", values, strict=True))).encode()
        if rng.random() < 0.5:
            at = rng.randrange(len(row))
            row = row[:at] + rng.choice(JUNK) + row[at + rng.randrange(3) :]
        rows.append(row)
    return b"\n".join(rows) + rng.choice([b"", b"\n", b"\r\n", b"\x00"])


def read_lines(rng: random.Random, folder: Path, n: int) -> tuple[int, int]:
    """Read a bad file: how many records were taken, and how many left out."""
    as_json = rng.random() < 0.5
    file = folder / ("bad.jsonl" if as_json else "bad.csv")
    file.write_bytes(lines(rng, n, as_json=as_json))
    source = open_source(str(file), on_error="skip")
    taken = sum(1 for _ in source)
    return taken, source.n_skipped


def frame(rng: random.Random, n: int) -> Any:
    """A frame with odd columns, some twice, some of mixed types."""
    columns: dict[Any, Any] = {"a": [rng.gauss(0, 1) for _ in range(n)], "c": ["u", "v"] * (n // 2)}
    columns["n"] = [rng.choice(ODD[:20]) if rng.random() < 0.3 else k % 9 for k in range(n)]
    made = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})
    if rng.random() < 0.3:
        made = pd.concat([made, made[["a"]]], axis=1)
    return made.astype({"a": float}) if rng.random() < 0.5 and made.columns.is_unique else made


def frames(tried: Tried, n: int) -> None:
    """Explain some bad frames at once: all rows or none."""
    pdp = tried.monitor.pdp
    for _ in range(n):
        table, seen = frame(tried.rng, 4), pdp.n_seen
        try:
            pdp.explain_many(table)
        except Exception as error:
            tried.counts["refused"] += 4
            tried._must_be_told(error, table)
            if pdp.n_seen != seen:
                tried.fail("an error has changed the state", error, table)
        else:
            tried.counts["taken"] += 4


def wide(n: int = 10_000) -> None:
    """A model of very many columns, of which a few are explained."""
    pdp = ipdp.IncrementalPDP(lambda x: x["x7"], ["x7", "x9"], n_ice=1, n_past=4)
    for k in range(25):
        pdp.explain_one({f"x{j}": float(j * k % 13) for j in range(n)})
    assert len(pdp.state_bytes()) < 20 * 2**20


def campaign(n: int, seed: int) -> tuple[Counter[str], dict[str, str]]:
    """So many inputs: how many were taken and refused, and what went wrong."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    counts: Counter[str] = Counter()
    failures: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as name:
        folder, done = Path(name), 0
        while done < n:
            tried = Tried(seed + done)
            for k in range(min(500, n - done)):
                tried.one(k)
            frames(tried, 5)
            tried.look(folder)
            counts["lines taken"], counts["lines left out"] = (
                counts[key] + number
                for key, number in zip(
                    ("lines taken", "lines left out"),
                    read_lines(tried.rng, folder, 500),
                    strict=True,
                )
            )
            counts += tried.counts
            failures |= tried.failures
            done = sum(counts[key] for key in counts if key != "failed")
    return counts, failures


def main() -> None:
    """`python -m tests.chaos.inputs N SEED`: counts as JSON."""
    started = time.process_time()
    wide()
    counts, failures = campaign(int(sys.argv[1]), int(sys.argv[2]))
    seconds = round(time.process_time() - started, 2)
    json.dump({**counts, "failures": failures, "seconds": seconds}, sys.stdout)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
