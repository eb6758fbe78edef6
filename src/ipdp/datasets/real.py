"""The real data of the paper: electricity prices of New South Wales, house values of California.

They lie in a file: where to look, how to read it, what to say when there is none.
"""

from __future__ import annotations

import csv
import gzip
import io
import lzma
import os
import random
import tarfile
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

from river import datasets
from river.datasets import base

Example = tuple[dict[str, Any], Any]
"""An observation and its target."""

_VARIABLE = "IPDP_DATA"  # names a directory to look in first

# What the libraries raise when a file is not what its name says, or only a part of it; those of
# Python are for archives with passwords, and for links that lead nowhere or in a circle.
_DAMAGED = (
    *(zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, zlib.error, lzma.LZMAError),
    *(EOFError, csv.Error, RuntimeError, KeyError, UnicodeDecodeError),
)
# A small archive may hold far more: no table of these has lines or rows that come near to it.
_LONGEST_LINE, _MOST_ROWS = 10_000, 500_000

_ELEC2 = ("date", "day", "period", "nswprice", "nswdemand", "vicprice", "vicdemand", "transfer")

# Columns of the original, in its order: totals instead of means by household.
_CALIFORNIA = (
    "longitude",
    "latitude",
    "housing_median_age",
    "total_rooms",
    "total_bedrooms",
    "population",
    "households",
    "median_income",
    "median_house_value",
)

_PUT = f"into a directory and let the environment variable {_VARIABLE} name it"
_PUT_ELEC2 = f"put https://maxhalford.github.io/files/datasets/electricity.zip {_PUT}"
_PUT_CALIFORNIA = f"put https://www.dcc.fc.up.pt/~ltorgo/Regression/cal_housing.tgz {_PUT}"
_NOT_HERE = "The data of {} are not here and could not be downloaded ({}): {}"


def elec2(path: str | Path | None = None) -> base.Dataset:
    r"""The elec2 stream, a binary classification with True for "up".

    Prices of 45,312 half hours. `vicprice`, `vicdemand` and `transfer` are constant until row
    17,424, where the market was extended: the stream's well-known drift.

    Parameters
    ----------
    path
        The file `electricity.zip` or `electricity.csv`, or a directory with one of them. None looks
        in the directory that the environment variable IPDP_DATA names, then takes river's
        `Elec2`, which downloads the data once.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from ipdp.datasets import elec2
    >>> file = Path(tempfile.mkdtemp(), "electricity.csv")
    >>> _ = file.write_text(
    ...     "date,day,period,nswprice,nswdemand,vicprice,vicdemand,transfer,class\n"
    ...     "0,2,0,0.056443,0.439155,0.003467,0.422915,0.414912,UP\n"
    ... )
    >>> x, y = next(iter(elec2(file)))
    >>> x["nswprice"], y
    (0.056443, True)
    """
    found = find(path, ("electricity.zip", "electricity.csv"))
    if found is not None:
        return Rows(
            partial(read_csv, found, (*_ELEC2, "class"), _half_hour),
            name="elec2",
            source=str(found),
            task=base.BINARY_CLF,
            n_features=len(_ELEC2),
            n_samples=45_312,
            n_classes=2,
        )
    dataset = datasets.Elec2()  # type: ignore[no-untyped-call] # river is not typed there
    try:
        dataset.download(verbose=False)  # type: ignore[no-untyped-call]
    except OSError as error:
        raise FileNotFoundError(_NOT_HERE.format("elec2", error, _PUT_ELEC2)) from None
    return dataset


def _half_hour(row: dict[str, str]) -> Example:
    x: dict[str, Any] = {name: float(row[name]) for name in _ELEC2}
    x["day"] = int(row["day"])
    return x, row["class"] == "UP"


def california(path: str | Path | None = None, *, seed: int | None = None) -> base.Dataset:
    r"""The california housing data, a regression of the median house value in 100,000 dollars.

    20,640 blocks of the census of 1990. Features are those of scikit-learn's
    `fetch_california_housing`.

    Parameters
    ----------
    path
        The original `cal_housing.tgz`, or the `california_housing.csv` that goes round, also as
        `.csv.gz` (in it 207 blocks have no number of bedrooms: their `AveBedrms` is None), or a
        directory with one of them. None looks in the directory that the environment variable
        IPDP_DATA names, then takes scikit-learn's loader, which downloads the data once.
    seed
        A number shuffles the rows. None keeps their order, which goes from place to place: as a
        stream it drifts all the time.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from ipdp.datasets import california
    >>> file = Path(tempfile.mkdtemp(), "california_housing.csv")
    >>> _ = file.write_text(
    ...     "longitude,latitude,housing_median_age,total_rooms,total_bedrooms,population,"
    ...     "households,median_income,median_house_value\n"
    ...     "-122.2,37.9,41,880,129,322,126,8.3252,452600\n"
    ... )
    >>> x, y = next(iter(california(file)))
    >>> x["MedInc"], y
    (8.3252, 4.526)
    """
    found = find(path, ("cal_housing.tgz", "california_housing.csv", "california_housing.csv.gz"))
    read = _from_sklearn() if found is None else partial(read_csv, found, _CALIFORNIA, _block)

    def rows() -> list[Example]:
        examples = list(read())
        if seed is not None:
            random.Random(seed).shuffle(examples)
        return examples

    return Rows(
        rows,
        name="california",
        source="scikit-learn" if found is None else str(found),
        task=base.REG,
        n_features=8,
        n_samples=20_640,
    )


def _block(row: dict[str, str]) -> Example:
    value = {name: float(row[name]) for name in _CALIFORNIA if row[name] != ""}
    households = value["households"]
    bedrooms = value.get("total_bedrooms")
    x = {
        "MedInc": value["median_income"],
        "HouseAge": value["housing_median_age"],
        "AveRooms": value["total_rooms"] / households,
        "AveBedrms": None if bedrooms is None else bedrooms / households,
        "Population": value["population"],
        "AveOccup": value["population"] / households,
        "Latitude": value["latitude"],
        "Longitude": value["longitude"],
    }
    return x, value["median_house_value"] / 100_000


def _from_sklearn() -> Any:
    try:
        from sklearn.datasets import fetch_california_housing
    except ImportError:
        raise ImportError(
            "The california data are loaded by scikit-learn: pip install 'ipdp[sklearn]', or "
            + _PUT_CALIFORNIA
        ) from None
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Retry downloading")
            data = fetch_california_housing(n_retries=1)
    except OSError as error:
        raise FileNotFoundError(_NOT_HERE.format("california", error, _PUT_CALIFORNIA)) from None
    return lambda: [
        (dict(zip(data.feature_names, x, strict=True)), y)
        for x, y in zip(data.data.tolist(), data.target.tolist(), strict=True)
    ]


class Rows(base.Dataset):
    """A finite data set with river's interface, read anew each time it is iterated over.

    `rows` gives the examples from the first on; `source` says where they come from.
    """

    def __init__(
        self, rows: Callable[[], Iterable[Example]], *, name: str, source: str, **about: Any
    ) -> None:
        super().__init__(n_outputs=1, **about)  # type: ignore[no-untyped-call] # river is not typed
        self.name = name
        self.source = source
        self._rows = rows

    def __iter__(self) -> Iterator[Example]:
        yield from self._rows()

    @property
    def desc(self) -> str:
        """Where the data come from."""
        return f"{self.name}, from {self.source}"

    def __repr__(self) -> str:
        return f"<{self.desc}: {self.n_samples:,} observations, {self.n_features} features>"


def find(path: str | Path | None, names: Sequence[str]) -> Path | None:
    """The first of these names that is in a directory, or the file itself if one was given.

    None looks where IPDP_DATA says.
    """
    place = path or os.environ.get(_VARIABLE)
    if not place:
        return None
    place = Path(place).expanduser()
    if path and place.is_file():
        return place
    if not place.is_dir():
        what = "There is no file" if path else f"{_VARIABLE} is no directory:"
        raise FileNotFoundError(f"{what} {place}")
    found = next((place / name for name in names if (place / name).is_file()), None)
    if path and not found:
        raise FileNotFoundError(f"There is none of {', '.join(names)} in {place}")
    return found


def read_csv(
    path: Path, columns: Sequence[str], convert: Callable[[dict[str, str]], Example]
) -> Iterator[Example]:
    """The rows of a csv file, plain or in .gz, .zip or .tgz.

    These columns must be in its first line; a .data file has no such line, and these columns.
    """
    with _text(path) as (name, file):
        lines = _lines(file, path)
        reader = csv.DictReader(lines, fieldnames=columns if name.endswith(".data") else None)
        absent = [name for name in columns if name not in (reader.fieldnames or ())]
        if absent:
            raise ValueError(f"{path} has no column {', '.join(absent)}: it is another file")
        for n, row in enumerate(reader, start=1):
            if n > _MOST_ROWS:
                raise ValueError(f"{path} has far more rows than it should: it is another file")
            try:
                example = convert(row)
            except (TypeError, ValueError, KeyError, ZeroDivisionError) as error:
                raise ValueError(f"line {reader.line_num} of {path}: {error}") from error
            yield example


def _lines(file: IO[str], path: Path) -> Iterator[str]:
    """The lines of a file, none of which is far too long."""
    while line := file.readline(_LONGEST_LINE):
        if len(line) == _LONGEST_LINE:
            raise ValueError(f"{path} has a line that is far too long: it is another file")
        yield line


@contextmanager
def _text(path: Path) -> Iterator[tuple[str, IO[str]]]:
    """The table in a file: its name and its text."""
    try:
        with ExitStack() as stack:
            name = path.name
            file: Any = None  # of bytes, as every library calls it
            if path.suffix == ".zip":
                archive = stack.enter_context(zipfile.ZipFile(path))
                name = _table(archive.namelist(), path)
                file = stack.enter_context(archive.open(name))
            elif path.suffix == ".tgz":
                tar = stack.enter_context(tarfile.open(path))
                name = _table(tar.getnames(), path)
                file = tar.extractfile(name)
            elif path.suffix == ".gz":
                file = stack.enter_context(gzip.open(path))
            binary = file or stack.enter_context(path.open("rb"))
            yield name, io.TextIOWrapper(binary, encoding="utf-8-sig", newline="")
    except _DAMAGED as error:
        raise ValueError(f"{path} cannot be read, it may be damaged: {error}") from error


def _table(names: Sequence[str], path: Path) -> str:
    table = next((name for name in names if name.endswith((".csv", ".data"))), None)
    if table is None:
        raise ValueError(f"there is no csv file in {path}")
    return table
