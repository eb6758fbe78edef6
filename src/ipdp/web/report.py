"""The report: a run as a document in one file that needs no network."""

from __future__ import annotations

import base64
import hashlib
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ipdp.core.files import write_whole
from ipdp.log.headline import target_of
from ipdp.web import document, effects
from ipdp.web.payload import frames, to_json
from ipdp.web.pdf import printed
from ipdp.web.run_document import RunContent, run_document
from ipdp.web.run_view import RunView

if TYPE_CHECKING:
    from ipdp.log import LogReader
    from ipdp.web.run_view import Histories

PAYLOAD = 9_000_000
"""Bytes that the numbers of a report may take; snapshots are thinned out until they do."""

# So many snapshots are read to estimate the size of one.
_SAMPLE = 16
# And about so many features, if there are more.
_MEASURED = 100


def write_report(
    run: LogReader | str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    payload: int = PAYLOAD,
) -> Path:
    """Write what a run has logged as one file: a document to read, to mail or to print.

    It begins with the answers (is the model right, what changed, what does it believe), then has
    a card for each feature, and ends with the settings. The HTML file opens from disk without a
    network, and without scripts; with scripts the run can also be explored over time. A run that
    is still going on is reported as far as it is.

    Parameters
    ----------
    run
        The log, or its path: a run's directory or its file.
    path
        Where to write the report; with the suffix .pdf it is a PDF, which needs a browser on this
        machine (`ipdp.web.pdf`). What is there is replaced when the new one is complete.
    payload
        Bytes that the numbers of an HTML file may take. Where they would take more, some of the
        snapshots are left out, but none at a change.

    Returns
    -------
    The path of the report.

    Examples
    --------
    >>> import tempfile
    >>> import ipdp
    >>> place = tempfile.mkdtemp()
    >>> def model(x):
    ...     return x["a"]
    >>> pdp = ipdp.IncrementalPDP(model, ["a"])
    >>> stream = [{"a": k % 7} for k in range(200)]
    >>> _ = ipdp.run(stream, model, pdp, learn=False, log=place)
    >>> ipdp.web.write_report(place, f"{place}/report.html").name
    'report.html'
    """
    from ipdp.log import LogReader
    from ipdp.log.files import must_not_replace

    if not isinstance(run, LogReader):
        with LogReader(run) as reader:
            return write_report(reader, path, payload=payload)
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"{path} is a directory: say what the report is to be called in it")
    must_not_replace(path, run.path)
    view = RunView(run)
    view.refresh()
    if path.suffix.lower() == ".pdf":
        write_whole(path, printed(printed_page(view.content())))
        return path
    view.thin(_n_snapshots(view, payload))
    histories = view.histories()
    text = page(_numbers(view, histories), view.content(histories))
    write_whole(path, text.encode(errors="replace"))
    return path


def payload_of(reader: LogReader, size: int = PAYLOAD) -> dict[str, Any]:
    """The numbers of a report, in at most so many bytes."""
    view = RunView(reader)
    view.refresh()
    view.thin(_n_snapshots(view, size))
    return _numbers(view, view.histories())


def _numbers(view: RunView, histories: Histories) -> dict[str, Any]:
    """What the page is drawn from: the run, and the curves of all features."""
    target = target_of(view.reader.settings)
    by_explainer = {
        explainer: [
            {**frames(history, target), **view.pictures(explainer, feature)}
            for feature, history in by_feature.items()
        ]
        for explainer, by_feature in histories.items()
    }
    curves = by_explainer.pop(view.curve_explainer or "", [])
    if (both := view.both_kinds) is not None:
        of_both = zip(*(histories[name].values() for name in both), strict=True)
        by_explainer[effects.NAME] = [
            effects.effect_frames(effects.joined(*each), target) for each in of_both
        ]
    return {"run": view.run(), "features": curves, "others": by_explainer}


def page(data: dict[str, Any], content: RunContent) -> str:
    """The report as HTML. Its own policy allows nothing but what is in the file."""
    style, texts = document.read("style.css"), map(document.read, document.SCRIPTS)
    scripts = [_inline(text) for text in (document.plotly_js(), *texts)]
    first = _inline(document.read(document.FIRST))
    # Plotly makes one style element, which is empty at first, and sets style attributes.
    policy = (
        f"default-src 'none'; script-src {' '.join(map(_hash, [first, *scripts]))}; "
        f"style-src {_hash(style)} {_hash('')}; style-src-attr 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    head = (
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<style>{style}</style>\n<script>{first}</script>\n"
    )
    explorer = document.page().replace('href="/"', 'href="#"')
    body = f'{run_document(content)}<div id="explorer">{explorer}</div>\n'
    body += f'<script type="application/json" id="payload">{_embedded(data)}</script>\n'
    body += "".join(f"<script>{script}</script>\n" for script in scripts)
    return document.document(data["run"]["name"], head, body, "report")


def printed_page(content: RunContent) -> str:
    """The document alone, with all of it open: for paper, and for whoever runs no scripts."""
    return static_page(content.name, run_document(content, is_open=True))


def static_page(title: str, body: str) -> str:
    """A page without scripts. Its own policy allows nothing but what is in the file."""
    style = document.read("style.css")
    policy = f"default-src 'none'; style-src {_hash(style)}; style-src-attr 'unsafe-inline'; "
    head = (
        f'<meta http-equiv="Content-Security-Policy" content="{policy}img-src data:">\n'
        f"<style>{style}</style>\n"
    )
    return document.document(title, head, body, "paper")


def _n_snapshots(view: RunView, size: int) -> int:
    """How many snapshots fit, estimated from the last ones, and from some of many features."""
    if not view.snapshots:
        return view.limit
    first, last = view.snapshots[-_SAMPLE:][0].n, view.snapshots[-1].n
    recent = list(view.reader.between(first, last))
    fixed = float(len(_embedded({**view.run(), "explainers": [], "n": [], "time": []})))
    each = 30.0 + 6 * len(view.features) * len(view.explainers)  # the time, and the importances
    some = view.features[:: math.ceil(len(view.features) / _MEASURED) or 1]
    share = len(view.features) / max(len(some), 1)
    for explainer in view.explainers:
        # Those of both kinds are in it a second time, together.
        times = (2 if explainer in (view.both_kinds or ()) else 1) * share
        for feature in some:
            taken = [(at, at.results[explainer].get(feature)) for at in recent]
            results = [(at, result) for at, result in taken if result is not None]
            one, all_of_them = len(_embedded(frames(results[:1]))), len(_embedded(frames(results)))
            fixed += times * one
            each += times * (all_of_them - one) / max(len(results) - 1, 1)
    return max(2, int((size - fixed) / each))


def _embedded(data: Any) -> str:
    """JSON that cannot end the script element that it is put into."""
    text = to_json(data).decode().replace("<", "\\u003c")
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _inline(script: str) -> str:
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
