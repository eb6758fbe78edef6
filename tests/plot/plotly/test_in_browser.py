"""What a browser makes of hostile names in plotly figures."""

from __future__ import annotations

from ...web.browser import TIMEOUT, chromium
from ..test_names import HOSTILE, figures_of, is_there

# One of markup, of a formula, of variables, of entities, and of tags that end something.
PICKED = [0, 2, 6, 7, 8]


def test_names_are_read_and_not_run(tmp_path):
    figures = {
        f"{kind}{k}": draw(backend="plotly")
        for k in PICKED
        for kind, draw in figures_of(HOSTILE[k]).items()
        if kind in ("curve", "rows", "timeline")
    }
    parts = [
        f"<div id={key}>{figure.to_html(full_html=False, include_plotlyjs=not k)}</div>"
        for k, (key, figure) in enumerate(figures.items())
    ]
    page_file = tmp_path / "figures.html"
    page_file.write_text(f"<meta charset=utf-8>{''.join(parts)}", encoding="utf-8")
    said: list[str] = []
    with chromium() as browser:
        page = browser.new_page()
        page.set_default_timeout(TIMEOUT)
        page.on("dialog", lambda dialog: said.append(dialog.message))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(page_file.as_uri())
        page.wait_for_function(f"document.querySelectorAll('.main-svg').length >= {len(figures)}")
        texts = page.evaluate(
            "Object.fromEntries([...document.querySelectorAll('body > div')].map("
            "part => [part.id, [...part.querySelectorAll('text')].map(t => t.textContent)]))"
        )
        intruders = page.evaluate("document.querySelectorAll('img, svg a, svg script').length")
        page.close()
    assert said == []
    assert intruders == 0
    for key in figures:
        assert is_there(HOSTILE[int(key[-1])], texts[key]), (key, texts[key])
