"""One session of Spark for each file of tests; two workers on this machine."""

from __future__ import annotations

import os
import shutil
import tempfile

import pytest

# Small tasks: to compile more would take longer than to run.
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")


def started(master="local[2]", **conf):
    from ipdp.spark import session

    return session(
        master,
        spark__sql__shuffle__partitions="3",
        spark__driver__memory="1g",
        spark__driver__host="127.0.0.1",
        spark__sql__warehouse__dir=tempfile.gettempdir(),
        spark__sql__execution__arrow__maxRecordsPerBatch="700",
        spark__python__authenticate__socketTimeout="300s",  # on a machine that is busy
        **conf,
    )


@pytest.fixture(scope="session")
def spark():
    if shutil.which("java") is None:
        pytest.fail("there is no Java: `make test-spark` installs it, or says that it cannot")
    session = started()
    session.sparkContext.setLogLevel("OFF")  # tests fail tasks on purpose
    yield session
    session.stop()
