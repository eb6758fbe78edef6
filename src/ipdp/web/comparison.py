"""A comparison as one HTML file: a table and a picture, without scripts and without a network."""

from __future__ import annotations

import base64
import html
import os
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from ipdp.comparison.result import rank
from ipdp.core.curve import feature_text
from ipdp.core.files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ipdp.comparison import Comparison, Difference, ScoreMove

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --back: #f6f6f4; --surface: #fff; --line: #deded9;
  --muted: #626a73; --bad: #b3261e; --good: #00795a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7eaee; --back: #101317; --surface: #181c22;
  --line: #2c333c; --muted: #9aa4af; --bad: #ff8a80; --good: #4fc79f; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--back);
  max-width: 1100px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin-top: 2rem; }
.score img { max-width: 720px; }
.picture, .table { overflow-x: auto; border-radius: 12px; }
img { display: block; width: 100%; min-width: 640px; background: #fff; }
table { border-collapse: collapse; width: 100%; background: var(--surface); }
th, td { text-align: left; padding: .35rem .7rem; border-bottom: 1px solid var(--line); }
td.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
.different { color: var(--bad); font-weight: 600; white-space: nowrap; }
.alike { color: var(--good); } .cannot { white-space: nowrap; }
.note { color: var(--muted); }
"""
_TITLES = (
    *("feature", "output", "effect", "difference", "standard errors", "where", "cause", "level"),
)


def write_comparison(
    comparison: Comparison, path: str | os.PathLike[str], move: ScoreMove | None = None
) -> Path:
    """Write a comparison as one HTML file.

    Parameters
    ----------
    comparison
        What `ipdp.compare` gives.
    path
        Where to write it; what is there is replaced when the new one is complete.
    move
        What `ipdp.score_move` gives of the same two, which is told as well.

    Returns
    -------
    The path.

    Examples
    --------
    >>> import tempfile, ipdp
    >>> curves = ipdp.partial_dependence(lambda x: x["a"], [{"a": k / 50} for k in range(50)])
    >>> path = write_comparison(ipdp.compare(curves, curves), tempfile.mkdtemp() + "/page.html")
    >>> path.read_text()[:15]
    '<!doctype html>'
    """
    write_whole(Path(path), comparison_page(comparison, move).encode(errors="replace"))
    return Path(path)


def comparison_page(comparison: Comparison, move: ScoreMove | None = None) -> str:
    """The page as HTML."""
    a, b = (html.escape(name) for name in comparison.names)
    head = "".join(f"<th>{title}</th>" for title in _TITLES)
    rows = "".join(map(_row, sorted(comparison.differences, key=rank)))
    notes = "".join(f'<p class="note">{html.escape(line)}</p>' for line in comparison.remarks)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{b} against {a} · ipdp</title><style>{_STYLE}</style></head><body>\n"
        f"<h1>{b} against {a}</h1>\n<p>{html.escape(comparison.heading)}.</p>\n"
        f"{_picture(comparison)}"
        f'<div class="table"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
        f"</div>\n{notes}{'' if move is None else _score(move)}"
        "</body></html>\n"
    )


def _score(move: ScoreMove) -> str:
    """Why the mean prediction moved: the sentences and the waterfall."""
    first, *rest = move.summary().splitlines()
    said = "".join(f"<li>{html.escape(line.strip())}</li>" for line in rest)
    image = _image(
        move.plot().figure_, "The parts of the move, from the mean before to that after."
    )
    return (
        f"<h2>Why the mean prediction moved</h2>\n<p>{html.escape(first)}</p>\n"
        f'<div class="score">{image}</div><ul>{said}</ul>\n'
    )


def _row(each: Difference) -> str:
    size, errors, most = each.size_texts()
    cells = [
        ("", feature_text(each.feature)),
        ("", each.output_text),
        (each.verdict.split()[0], each.verdict),
        ("number", size and f"{size}, at most {most}"),
        ("number", errors),
        ("", each.place_text()),
        ("", each.kind or each.level_kind or ""),
        (each.level_verdict if each.level_verdict == "different" else "number", each.level_text()),
    ]
    row = "".join(f'<td class="{name}">{html.escape(text)}</td>' for name, text in cells)
    return f"<tr>{row}</tr>"


def _picture(comparison: Comparison) -> str:
    """The figure of the curves; none where there is nothing to draw."""
    drawable = [each for each in comparison.differences if len(each.places) == 1]
    if not any(each.shape.size for each in drawable):
        return ""
    text = "Both curves of each feature; where they differ it is shaded."
    return _image(comparison.plot().figure_, text)


def _image(figure: Figure, text: str) -> str:
    """A figure, as an image that runs nothing."""
    picture = BytesIO()
    figure.savefig(picture, format="svg")
    data = base64.b64encode(picture.getvalue()).decode()
    image = f'<img alt="{text}" src="data:image/svg+xml;base64,{data}">'
    return f'<p class="picture">{image}</p>\n'
