"""The report: a run on one page, in one file that needs no network."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ipdp.web import assets
from ipdp.web.frames import frames
from ipdp.web.view import RunView

if TYPE_CHECKING:
    from ipdp.log import LogReader

PAYLOAD = 9_000_000
"""Bytes that the numbers of a report may take; snapshots are thinned out until they do."""


# So many snapshots are looked at to judge how much room each takes.
_SAMPLE = 16


def write_report(
    run: LogReader | str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    payload: int = PAYLOAD,
) -> Path:
    """Write what a run left behind as one HTML file.

    The file opens from disk without a network: what ran, the timeline, the changes as sentences
    with their pictures, and for each feature its curve with a time slider and two times to
    compare. A run that is going on is reported as far as it is.

    Parameters
    ----------
    run
        The log, or its path: a run's directory or its file.
    path
        Where to write the report. What is there is replaced when the new one is complete.
    payload
        Bytes that the numbers may take. Where they would take more, some of the snapshots are
        left out, but none at a change.

    Returns
    -------
    The path of the report.
    """
    from ipdp.log import LogReader

    if not isinstance(run, LogReader):
        with LogReader(run) as reader:
            return write_report(reader, path, payload=payload)
    data = payload_of(run, payload)
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"{path} is a directory: say what the report is to be called in it")
    _write(path, page(data))
    return path


def payload_of(reader: LogReader, size: int = PAYLOAD) -> dict[str, Any]:
    """The numbers of a report, in at most so many bytes."""
    view = RunView(reader)
    view.refresh()
    view.thin(_room(view, size))
    return {"run": view.run(), "features": view.all_features()}


def page(data: dict[str, Any]) -> str:
    """The report as HTML. Its own policy lets nothing in but what is in the file."""
    scripts = [*map(assets.read, assets.HEAD), assets.plotly_js()]
    scripts += map(assets.read, assets.SCRIPTS)
    scripts = [_inline(script) for script in scripts]
    style = assets.read("style.css")
    # Plotly makes one style element, which is empty at first, and sets style attributes.
    policy = (
        f"default-src 'none'; script-src {' '.join(map(_hash, scripts))}; "
        f"style-src {_hash(style)} {_hash('')}; style-src-attr 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    head, rest = scripts[: len(assets.HEAD)], scripts[len(assets.HEAD) :]
    body = assets.read("page.html").replace('href="/"', 'href="#"')
    body = body.replace('<details id="about"', '<details open id="about"')
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(data['run']['name'])} · ipdp</title>\n"
        f"<style>{style}</style>\n{assets.stand_ins()}\n{_tags(head)}</head>\n"
        f'<body data-mode="report">\n{body}{_without_scripts(data)}'
        f'<script type="application/json" id="payload">{_json(data)}</script>\n'
        f"{_tags(rest)}</body>\n</html>\n"
    )


def _room(view: RunView, size: int) -> int:
    """How many snapshots fit, judging by what the last ones take."""
    if not view.snapshots:
        return view.limit
    first, last = view.snapshots[-_SAMPLE:][0].n, view.snapshots[-1].n
    recent = list(view.reader.between(first, last))
    fixed = len(_json({**view.run(), "importance": [], "n": [], "time": []}))
    each = 30.0 + 6 * len(view.features)  # the time, and the importances
    for feature in view.features:
        curves = [(taken, taken.curves[feature]) for taken in recent if feature in taken.curves]
        one, all_of_them = len(_json(frames(curves[:1]))), len(_json(frames(curves)))
        fixed += one
        each += (all_of_them - one) / max(len(curves) - 1, 1)
    return max(2, int((size - fixed) / each))


def _json(data: Any) -> str:
    """JSON that cannot end the script element that it is put into."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _inline(script: str) -> str:
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _tags(scripts: Iterable[str]) -> str:
    return "".join(f"<script>{script}</script>\n" for script in scripts)


def _without_scripts(data: dict[str, Any]) -> str:
    """The sentences, for a reader whose mail program runs no scripts."""
    run = data["run"]
    said = [
        f"{run['name']}: {run['status']['state']} after {run['status']['n']:,} observations of "
        f"{len(run['features'])} features.",
        *(f"At {change['n']:,}: {change['sentence']}" for change in run["changes"]),
    ]
    items = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in said)
    return f'<noscript><ul class="card">{items}</ul></noscript>\n'


def _write(path: Path, text: str) -> None:
    """The whole file or none."""
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.", suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(part, 0o666 & ~_umask())
        os.replace(part, path)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
