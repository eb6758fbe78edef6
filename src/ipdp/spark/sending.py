"""What Spark needs before it starts, and how things travel to its workers.

A model is pickled once and broadcast: every Python worker loads it once. What Spark would
report in pages of Java is one sentence, at the start where it can be known there.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import pickle
import re
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ipdp.core.validation import listed, unknown
from ipdp.spark.interrupts import plain_interrupts

# What has been loaded in this Python worker; one thing, the last.
_LOADED: dict[str, Any] = {}
STORE = "spark.sql.streaming.stateStore.providerClass"
"""Which state store Spark takes; for a fleet `ROCKS`."""
ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

_LEAST_JAVA = 17
_GET_JAVA = (
    f"install Java {_LEAST_JAVA} or newer (Debian: apt install default-jre-headless), or set "
    "JAVA_HOME to one"
)

# A worker that Spark has started for one core should not compute on all of them.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def session(master: str = "local[*]", **conf: Any) -> Any:
    """A session of Spark that ipdp's functions work in; for trying out, and for tests.

    Parameters
    ----------
    master
        Where it runs: `"local[2]"` is two workers on this machine.
    conf
        Further settings of Spark, with `__` for a dot: `spark__driver__memory="4g"`.

    Returns
    -------
    A `pyspark.sql.SparkSession`. Any other one does as well, if its workers have the same Python
    (`PYSPARK_PYTHON`) with ipdp in it.

    Examples
    --------
    >>> import ipdp.spark
    >>> spark = ipdp.spark.session("local[2]")
    >>> spark.range(3).count()
    3
    """
    check_installed()
    _check_java()
    # Else the workers start the first python of the PATH, which may know nothing of ipdp.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "8",
        STORE: ROCKS,
        **{f"spark.executorEnv.{name}": "1" for name in _THREADS},
        **{name.replace("__", "."): value for name, value in conf.items()},
    }
    builder = SparkSession.builder.master(master).appName("ipdp")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    # What fails is raised here: pages of Java beside it help nobody.
    spark.sparkContext.setLogLevel("FATAL")
    plain_interrupts()
    return spark


def check_installed() -> None:
    """Say in one sentence what is missing: pyspark, Java, or a pandas that pyspark knows."""
    try:
        importlib.metadata.version("pyspark")
    except importlib.metadata.PackageNotFoundError:
        raise ImportError(
            "Spark is not installed: install the extra, pip install 'ipdp[spark]'"
        ) from None
    for name, least, limit in (("pyspark", 4, 5), ("pandas", 2, 3)):
        version = importlib.metadata.version(name)
        if not least <= int(version.split(".")[0]) < limit:
            raise ImportError(
                f"ipdp.spark needs {name} {least}.x, and this is {name} {version}: install the "
                "extra in an environment of its own, pip install 'ipdp[spark]'"
            )
    java, where = _java()
    if shutil.which(java) is None:
        raise RuntimeError(f"there is no Java {where}, which Spark needs: {_GET_JAVA}")


def _java() -> tuple[str, str]:
    """The command that Spark will start, and where it is."""
    home = os.environ.get("JAVA_HOME")
    if not home:
        return "java", "on the PATH"
    return os.path.join(home, "bin", "java"), f"at JAVA_HOME={home}"


def _check_java() -> None:
    """Raise unless Java is as new as Spark needs it, which Spark itself would report in pages."""
    java, where = _java()
    command = [java, "-version"]
    try:
        asked = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        raise RuntimeError(f"the Java {where} does not run ({error}): {_GET_JAVA}") from None
    if asked.returncode:
        reason = (asked.stderr.strip() or f"exit code {asked.returncode}").splitlines()[0]
        raise RuntimeError(f"the Java {where} does not run ({reason}): {_GET_JAVA}")
    # 1.8.0 was the eighth, 11.0.2 the eleventh.
    found = re.search(r'version "(?:1\.)?(\d+)', asked.stderr)
    if found and int(found[1]) < _LEAST_JAVA:
        raise RuntimeError(f"the Java {where} is Java {found[1]}, too old for Spark: {_GET_JAVA}")


def context_of(df: Any) -> Any:
    """The context of a Spark frame; an error for anything else."""
    spark = getattr(df, "sparkSession", None)
    if spark is None:
        raise TypeError(
            f"df must be a frame of Spark, got {type(df).__name__}; for tables of one machine "
            "there is ipdp.partial_dependence"
        )
    check_installed()
    try:
        context = spark.sparkContext
    except Exception:  # what Spark Connect raises depends on its version
        context = None
    if context is None:
        raise TypeError("ipdp.spark needs a classic session, which can broadcast; not Connect")
    return context


def need_columns(df: Any, **given: Any) -> None:
    """Raise unless the columns that arguments name are there."""
    for what, names in given.items():
        wanted = [] if names is None else [names] if isinstance(names, str) else listed(what, names)
        for name in wanted:
            if name not in df.columns:
                raise ValueError(unknown(f"column for {what}:", name, list(df.columns)))


def quoted(name: str) -> str:
    """A column's name as Spark reads it, also one with a dot, or with the quotes themselves.

    Examples
    --------
    >>> quoted("a.b"), quoted("a`b")
    ('`a.b`', '`a``b`')
    """
    return "`" + name.replace("`", "``") + "`"


def unused(name: str, names: Iterable[str]) -> str:
    """A name for a column of ours that none of theirs has, in small letters or large ones.

    Examples
    --------
    >>> unused("_t", ["a", "_T"])
    '_t_'
    """
    theirs = {each.casefold() for each in names}
    while name in theirs:
        name += "_"
    return name


def must_be_sendable(names: Iterable[str]) -> None:
    """Raise if pyspark cannot give one of these columns to a worker: it does not quote names."""
    names = list(names)
    for name in names:
        if "`" in name:
            raise ValueError(f"Spark cannot send the column {name!r} to Python: rename it")
    must_be_told_apart(names)


def must_be_told_apart(names: Iterable[str]) -> None:
    """Raise if pyspark would take one of these columns for a part of another one."""
    known = {name.casefold(): name for name in names}
    for name in known.values():
        whole = known.get(name.casefold().partition(".")[0])
        if whole is not None and whole != name:
            raise ValueError(
                f"Spark takes the column {name!r} for a part of {whole!r} when it sends both to "
                "Python: rename one of them"
            )


class Sent:
    """Something that every Python worker can have, sent once to each machine.

    Parameters
    ----------
    context
        The context of Spark.
    thing
        What to send; functions of a notebook too.
    what
        What it is called if it cannot be sent.
    """

    def __init__(self, context: Any, thing: Any, what: str) -> None:
        self._token = uuid.uuid4().hex
        self._broadcast = context.broadcast(pickled(thing, what))

    def load(self) -> Any:
        """The thing, in a worker; unpickled once."""
        if self._token not in _LOADED:
            _LOADED.clear()
            one_thread()
            _LOADED[self._token] = pickle.loads(self._broadcast.value)
            one_thread()
        return _LOADED[self._token]

    def forget(self) -> None:
        """Remove it from the workers' machines."""
        with suppress(Exception):  # the context may be gone
            self._broadcast.unpersist(blocking=True)  # at the end of a program, no noise


def pickled(thing: Any, what: str) -> bytes:
    """The pickle of a thing; an error of one sentence if there is none, or if it does not load."""
    from pyspark import cloudpickle

    try:
        data: bytes = cloudpickle.dumps(thing, protocol=5)
        pickle.loads(data)
    except Exception as error:  # whatever the model's own code does
        raise TypeError(
            f"{what} cannot be sent to Spark's workers, because it cannot be pickled: {error}"
        ) from None
    return data


def one_thread() -> None:
    """Keep native libraries to one thread: Spark runs one worker for each core."""
    for name in _THREADS:
        os.environ.setdefault(name, "1")
    with suppress(ImportError):
        importlib.import_module("threadpoolctl").threadpool_limits(1)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


@contextmanager
def sentences() -> Iterator[None]:
    """Turn what a worker raised, of which Spark makes pages, into the sentence that it was."""
    from pyspark.errors import PythonException, StreamingQueryException

    try:
        yield
    except (PythonException, StreamingQueryException) as error:
        kind, message = raised(str(error))
        raise kind(message) from None


_KINDS = {kind.__name__: kind for kind in (ValueError, TypeError, KeyError, ZeroDivisionError)}


def raised(text: str) -> tuple[type[Exception], str]:
    r"""The error at the end of a traceback in the text of Spark's error.

    Examples
    --------
    >>> raised('Traceback ...\n  File "a.py"\nValueError: the answer is NaN\n')
    (<class 'ValueError'>, 'the answer is NaN')
    """
    found = re.findall(r"^([\w.]+(?:Error|Exception|Samples)): (.*)$", text, re.MULTILINE)
    if found:
        name, message = found[-1]
        kind = _KINDS.get(name)
        return (kind, message) if kind else (RuntimeError, f"{name}: {message}")
    # A query that Spark itself gave up; below it comes its plan.
    if ended := re.search(r"terminated with exception: (.*)", text):
        return RuntimeError, ended[1]
    return RuntimeError, text.strip().splitlines()[-1] if text.strip() else "a worker failed"
