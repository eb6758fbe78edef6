"""A run as a document: the answers, a card for each feature, then the appendix.

HTML without scripts, for the report, for paper, and for browsers that run none.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np

from ipdp.comparison import Comparison
from ipdp.core.curve import Curve
from ipdp.core.explained import Explained
from ipdp.core.importance import Result
from ipdp.core.interactions import Interactions
from ipdp.core.parts import n_features, parts_of, without_parts
from ipdp.core.redaction import short_paths
from ipdp.core.times import moment
from ipdp.core.words import brief, counted, few_digits, percent, unbroken
from ipdp.log.beliefs import belief, value_text
from ipdp.log.headline import (
    Facts,
    by_importance,
    called_of,
    has_moved,
    headline,
    most_moved,
    target_of,
)
from ipdp.log.records import LoggedChange
from ipdp.web import document, pairs
from ipdp.web.clock import Clock, clock_of
from ipdp.web.drawings import (
    Common,
    Mark,
    curve_drawing,
)
from ipdp.web.effects import effect_drawing
from ipdp.web.over_time import carpet_drawing, series_drawing
from ipdp.web.payload import label
from ipdp.web.regions import CAPTION, part_drawings
from ipdp.web.two_curves import challenger_card

# Changes of the model that the summary tells, and features whose importance it compares.
_TOLD, _BARS = 6, 8

QUESTIONS = {
    "quality": "Is it right?",
    "changes": "What changed?",
    "belief": "What does it believe?",
}
"""What the parts of a headline answer."""


@dataclass(frozen=True)
class RunContent:
    """What a document says of a run.

    Attributes
    ----------
    name
        What the run is called.
    facts
        What is known of it.
    histories
        For each feature the times and curves of its snapshots, oldest first.
    others
        The newest importances of further explainers, by their titles, then by feature.
    challengers
        How other models differ from that of the run on the same rows, by their names.
    ales
        The newest local effects, by feature, where the run has them.
    interactions
        The strongest pairs, where they were searched for.
    """

    name: str
    facts: Facts
    histories: Mapping[Any, Sequence[tuple[int, Curve]]]
    others: Mapping[str, Mapping[str, float]]
    challengers: Mapping[str, Comparison] = field(default_factory=dict)
    ales: Mapping[Any, Result] = field(default_factory=dict)
    interactions: Interactions | None = None


def run_document(content: RunContent, *, is_open: bool = False) -> str:
    """The document; `is_open` shows what is else behind a click, for paper."""
    facts = content.facts
    curves = by_importance(facts.curves)
    parts = [_header(content), _summary(content), *_reading(facts, is_open=is_open)]
    if curves:
        parts.append('<h2 class="part">The features, the most important first</h2>')
        common = Common.of(curves, target_of(facts.settings))
        # Curves of a part of the observations are in the card of their feature.
        of_parts = [curve for curve in facts.curves if curve.where is not None]
        cards = enumerate(without_parts(curves), start=1)
        parts += [_card(content, curve, k, common, of_parts) for k, curve in cards]
        parts += _together(content)
    parts += [challenger_card(name, found) for name, found in content.challengers.items()]
    parts.append(_appendix(content))
    return f'<main class="document">{"".join(parts)}</main>\n'


def answers(facts: Facts) -> str:
    """The headline as questions and answers."""
    said = headline(facts)
    trouble = f'<p class="trouble">{_text(said.state)}</p>' if said.state else ""
    rows = [
        f"<div><dt>{question}</dt><dd>{unbroken(_text(getattr(said, name)))}</dd></div>"
        for name, question in QUESTIONS.items()
        if getattr(said, name)
    ]
    return f'{trouble}<dl class="answers">{"".join(rows)}</dl>'


def _header(content: RunContent) -> str:
    facts = content.facts
    settings, status = facts.settings, facts.status
    command = settings.get("command")
    data = command.get("data") if isinstance(command, Mapping) else settings.get("data")
    model = _short_model(str(settings.get("model") or ""))
    known = n_features(curve.feature for curve in facts.curves)
    parts = [
        model,
        short_paths(str(data)) if data else "",
        counted(status.n, "observation"),
        counted(known, "feature") if known else "",
        status.state + (f" {_date(status.heartbeat)}" if status.heartbeat else ""),
    ]
    said = " · ".join(label(part) for part in parts if part)
    return f"<header><h1>{_text(content.name)}</h1><p>{_text(said)}</p></header>"


def _short_model(text: str) -> str:
    """The names in a word for a model, without modules and arguments: "StandardScaler | Tree".

    What scales the target around a regressor is no model, and is left out.
    """
    scaler = re.fullmatch(r"[\w.]*\bTarget\w+Scaler\((?:regressor=)?(.*)\)", text, re.DOTALL)
    text = scaler[1] if scaler else text
    while (shorter := re.sub(r"\([^()]*\)", "", text)) != text:
        text = shorter
    return " | ".join(step.strip().rpartition(".")[2] for step in text.split("|"))


def _summary(content: RunContent) -> str:
    facts = content.facts
    parts = ['<section class="card summary"><h2>In short</h2>', answers(facts)]
    figures = [drawn for drawn in (_metric(content), _score(content)) if drawn is not None]
    figures += _bars(facts.curves)
    if figures:
        parts.append(f'<div class="figures">{"".join(figures)}</div>')
    model = [logged for logged in facts.changes if logged.change.kind != "virtual"]
    data = [c for c in facts.changes if c.change.kind == "virtual" and has_moved(c)]
    parts += _listed("How the model changed, newest first", model, _TOLD)
    parts += _listed("How the data moved, newest first", data, _TOLD // 2)
    return f"{''.join(parts)}</section>"


def _metric(content: RunContent) -> str | None:
    facts = content.facts
    name = called_of(facts.metrics)
    if name is None:
        return None
    is_share = bool(np.nanmax(facts.metrics[name][1]) <= 1) and "ccuracy" in name
    say = percent if is_share else few_digits
    title, series = name.replace("_", ", last "), facts.metrics[name]
    drawn = series_drawing(title, series, _marks(facts), say, _clock(content))
    return f"<figure>{drawn}{_meaning(_marks(facts))}</figure>" if drawn else None


def _clock(content: RunContent) -> Clock | None:
    return clock_of(max(content.histories.values(), key=len, default=()))


def _score(content: RunContent) -> str | None:
    """The mean prediction over time; of several outputs the one that moved most."""
    facts = content.facts
    if not facts.scores:
        return None
    name = most_moved(facts.scores)
    title, say = _as_on_axes(name, facts)
    drawn = series_drawing(title, facts.scores[name], _marks(facts), say, _clock(content))
    return f"<figure>{drawn}</figure>" if drawn else None


def _as_on_axes(name: str, facts: Facts) -> tuple[str, Callable[[float], str]]:
    """What a mean prediction is called along the axes of the curves, and how it is written."""
    for curve in facts.curves[:1]:
        for output in curve.outputs:
            if name == f"mean {curve.output_text(output)}":
                said = curve.output_text(output, target_of(facts.settings))
                return f"mean {said}", value_text(curve)
    return name, few_digits


def _meaning(marks: Sequence[Mark]) -> str:
    """What the marks in a figure are, of those kinds that there are."""
    known = {True: ("d-model", "the model changed its mind"), False: ("d-data", "the data moved")}
    said = [
        f'<span class="what"><span class="key {style}"></span> {text}</span>'
        for kind, (style, text) in known.items()
        if any(mark.is_model == kind for mark in marks)
    ]
    return f"<figcaption>{' '.join(said)}</figcaption>" if said else ""


def _marks(facts: Facts, feature: Any = None) -> list[Mark]:
    return [
        Mark(logged.n, logged.change.kind != "virtual")
        for logged in facts.changes
        if (feature is None or logged.change.feature == feature)
        and (logged.change.kind != "virtual" or has_moved(logged))
    ]


def _bars(curves: Sequence[Curve]) -> Iterator[str]:
    """How much each feature matters, as bars."""
    whole = without_parts(by_importance(curves))
    single = [curve for curve in whole if len(curve.grid_values) == 1][:_BARS]
    largest = max((curve.overall_importance for curve in single), default=0.0)
    if not largest > 0 or not np.isfinite(largest):
        return
    rows = "".join(
        f'<li><span class="bar-name">{_text(curve.feature)}</span>'
        f'<span class="track"><i style="width:{100 * curve.overall_importance / largest:.1f}%"></i>'
        f'</span><span class="value">{_text(_moves(curve))}</span></li>'
        for curve in single
    )
    yield (
        f'<figure><p class="d-heading">What it relies on</p><ol class="bars">{rows}</ol>'
        "<figcaption>By how much each feature typically moves the answer.</figcaption></figure>"
    )


def _moves(curve: Curve) -> str:
    """By how much a feature typically moves the answer."""
    size = curve.overall_importance
    if not curve.are_probabilities:
        return brief(size)
    return f"{100 * size:.0f} pts" if size >= 0.01 else "< 1 pt"


def _listed(title: str, changes: Sequence[LoggedChange], most: int) -> Iterator[str]:
    if not changes:
        return
    items = "".join(
        f"<li><strong>{_when(logged)}</strong> {_text(logged.change.summary(evidence=False))}</li>"
        for logged in reversed(changes[-most:])
    )
    rest = len(changes) - most
    more = f'<p class="muted">And {counted(rest, "earlier one")}.</p>' if rest > 0 else ""
    yield f'<h3>{title}</h3><ol class="sentences">{items}</ol>{more}'


def _when(logged: LoggedChange) -> str:
    """When a change was found: the moment, where the data have a clock."""
    when = moment(logged.change.t)
    return f"At {logged.n:,}" if when is None else f"{when:%Y-%m-%d %H:%M}"


def _reading(facts: Facts, *, is_open: bool) -> Iterator[str]:
    if not facts.curves:
        return
    yield (
        f'<details class="card reading"{" open" * is_open}><summary><h2>How to read this</h2>'
        f"</summary>{document.read('reading.html')}</details>"
    )


def _card(
    content: RunContent, curve: Curve, rank: int, common: Common, of_parts: Sequence[Curve]
) -> str:
    """A feature: what the model makes of it, its curve, its effect over time, its changes.

    `of_parts` are the curves of a part of the observations, of any feature.
    """
    marks = _marks(content.facts, curve.feature)
    drawn = [(curve_drawing(curve, common), ""), *_effect(content, curve)]
    history = content.histories.get(curve.feature, ())
    drawn.append((carpet_drawing(history, marks, common), ""))
    figures = "".join(
        f"<figure>{svg}{f'<figcaption>{_text(said)}</figcaption>' if said else ''}</figure>"
        for svg, said in drawn
        if svg
    )
    own_parts = parts_of(of_parts, curve)
    parts = _parts(part_drawings(curve, own_parts, common.target), len(own_parts))
    names = {curve.feature, *(part.feature for part in own_parts)}
    own = [logged for logged in content.facts.changes if logged.change.feature in names]
    changes = "".join(_listed("Its changes", own, 12))
    said = belief(curve, common.target)
    sentence = f"{said[:1].upper()}{said[1:]}."
    return (
        f'<article class="card feature-card"><h3><span class="rank">{rank}</span> '
        f"{_text(curve.feature)}</h3><p>{_text(sentence)}</p>"
        f'<div class="figures">{figures}</div>{changes}{parts}</article>'
    )


def _effect(content: RunContent, curve: Curve) -> Iterator[tuple[str, str]]:
    """The local effects beside a curve, and what is to be seen, where the run has them."""
    ale = content.ales.get(curve.feature)
    is_single = curve.kind == "pdp" and len(curve.grid_values) == 1
    if isinstance(ale, Curve) and is_single and ale.categorical == curve.categorical:
        yield effect_drawing(curve, ale)


def _parts(drawings: Sequence[str], n_parts: int) -> str:
    """Where the effect is another one, as small multiples."""
    if not drawings:
        return ""
    shown = len(drawings)
    left_out = f" Shown are the {shown} largest of {n_parts} groups." if shown < n_parts else ""
    figures = "".join(f"<figure>{svg}</figure>" for svg in drawings)
    said = f'<h4>Where it differs</h4><p class="muted">{CAPTION}{left_out}</p>'
    return f'{said}<div class="figures">{figures}</div>'


def _together(content: RunContent) -> Iterator[str]:
    """What pairs of features do together, as a heat map."""
    if content.interactions is not None:
        svg, said = pairs.described(content.interactions)
        yield (
            '<section class="card"><h2>What features do together</h2><div class="figures">'
            f"<figure>{svg}<figcaption>{_text(said)}</figcaption></figure></div></section>"
        )


# The appendix.


def _appendix(content: RunContent) -> str:
    facts = content.facts
    explained = Explained.of(facts.curves)
    parts = ['<section class="card appendix"><h2>Appendix</h2>']
    if explained is not None and explained.sentence:
        parts.append(f"<p>{_text(explained.sentence)}</p>")
    for title, values in content.others.items():
        rows = sorted(values.items(), key=lambda item: -item[1])
        parts.append(f"<h3>{_text(title)}</h3>{_table((k, few_digits(v)) for k, v in rows)}")
    parts.append("<h3>Settings of the run</h3>")
    parts.append(_table(settings_rows(facts.settings)) or "<p>The run noted no settings.</p>")
    return f"{''.join(parts)}</section>"


def settings_rows(settings: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Every setting once, by its shortest name; those that were left as they are, are left out."""
    rows: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    for name, value in sorted(_flat(settings, ""), key=lambda row: row[0].count(".")):
        key = name.rpartition(".")[2], value
        if value not in ("null", "[]", "{}") and key not in seen:
            seen.add(key)
            rows[name.removeprefix("command.")] = value
    return list(rows.items())


def _flat(value: Any, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _flat(inner, f"{name}.{key}" if name else str(key))
        return
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    yield name, str(short_paths(text))


def _table(rows: Any) -> str:
    cells = ((_text(name), _text(value)) for name, value in rows)
    said = "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in cells)
    return f"<table>{said}</table>" if said else ""


def _text(said: object) -> str:
    return html.escape(label(said if isinstance(said, tuple) else str(said)))


def _date(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
