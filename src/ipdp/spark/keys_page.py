"""The keys of a fleet as one page: a list of them, and the curves of those that moved most."""

from __future__ import annotations

import html
import os
from collections.abc import Sequence
from pathlib import Path

from ipdp.comparison import compare
from ipdp.core.files import write_whole
from ipdp.core.words import few_digits
from ipdp.spark.keys import Key
from ipdp.web.payload import label
from ipdp.web.report import static_page
from ipdp.web.two_curves import both_drawing

# Keys that are listed, those whose curves are drawn, and of each so many features.
_LISTED, _DRAWN, _FEATURES = 1_000, 20, 6


def write_keys(keys: Sequence[Key], path: str | os.PathLike[str], name: str) -> Path:
    """Write the keys as an HTML file that opens from disk, without a network or scripts."""
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"{path} is a directory: say what the page is to be called in it")
    title = f"Keys of {name}"
    rows = "".join(_row(key, number) for number, key in enumerate(keys[:_LISTED]))
    cards = "".join(_card(key, number) for number, key in enumerate(keys[:_DRAWN]))
    more = f" The first {_LISTED:,} are listed." if len(keys) > _LISTED else ""
    body = (
        f'<main class="document"><header><h1>{_escaped(title)}</h1></header><section class="card">'
        f"<p>{len(keys):,} keys, those whose curves moved most first: how far the model's answer, "
        f"as a function of one feature, moved since about half of the key's rows.{more}</p>"
        '<table class="fleet"><thead><tr><th>key</th><th>rows</th><th>moved</th><th>most in</th>'
        f"<th>changes</th></tr></thead><tbody>{rows}</tbody></table></section>{cards}</main>\n"
    )
    write_whole(path, static_page(title, body).encode(errors="replace"))
    return path


def _row(key: Key, number: int) -> str:
    name = _escaped(key.name)
    if number < _DRAWN:
        name = f'<a href="#key-{number}">{name}</a>'
    moved = _escaped(few_digits(key.moved))
    most = _escaped(next(iter(key.moves), ""))
    return (
        f"<tr><td>{name}</td><td>{key.n:,}</td><td>{moved}</td><td>{most}</td>"
        f"<td>{len(key.changes)}</td></tr>"
    )


def _card(key: Key, number: int) -> str:
    items = [
        f"<li>After {n:,} rows: {_escaped(sentence)}</li>" for n, _, sentence in key.changes[-10:]
    ]
    none = '<p class="muted">No change reported.</p>'
    changes = f'<ul class="sentences">{"".join(items)}</ul>' if items else none
    return (
        f'<section class="card" id="key-{number}"><h2>{_escaped(key.name)}</h2>{changes}'
        f'<div class="figures">{_figures(key)}</div></section>'
    )


def _figures(key: Key) -> str:
    """The curves that moved most, as they were and as they are."""
    names = f"after {key.since:,} rows", f"after {key.n:,}"
    features = list(key.moves)[:_FEATURES]
    then, now = ([curves[feature] for feature in features] for curves in (key.then, key.now))
    found = compare(then, now, names=names)
    drawn = sorted(
        (each for each in found.differences if each.shape.size),
        key=lambda each: features.index(str(each.feature)),
    )
    return "".join(f"<figure>{both_drawing(each, names)}</figure>" for each in drawn)


def _escaped(text: object) -> str:
    return html.escape(label(text))
