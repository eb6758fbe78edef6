"""Colours of plotly figures, and what belongs to matplotlib only."""

from __future__ import annotations

import subprocess
import sys

import plotly.io as pio
import pytest

from ipdp.plot import (
    ChangeDisplay,
    PDPDisplay,
)

from ..conftest import (
    make_change,
    make_curve,
    traces,
)


def test_dark_templates_get_lighter_colours(monkeypatch):
    def colour():
        return traces(make_curve().plot(backend="plotly"), "curve")[0].line.color

    assert colour() == "#0072B2"
    monkeypatch.setattr(pio.templates, "default", "plotly_dark")
    assert colour() == "#56B4E9"


@pytest.mark.parametrize("display", [PDPDisplay(make_curve()), ChangeDisplay(make_change())])
def test_what_is_matplotlibs_is_refused(display, ax):
    with pytest.raises(ValueError, match="axes and settings of artists are matplotlib's"):
        display.plot(ax, backend="plotly")
    with pytest.raises(ValueError, match="backend must be one of matplotlib, plotly, got 'bokeh'"):
        display.plot(backend="bokeh")


def test_settings_of_artists_are_matplotlibs():
    with pytest.raises(ValueError, match="matplotlib's"):
        make_curve().plot(backend="plotly", line_kw={"color": "red"})


def test_plotly_needs_no_matplotlib_and_its_absence_is_said():
    code = """
import sys
sys.modules[{absent!r}] = None
import ipdp
[curve] = ipdp.partial_dependence(lambda x: x["a"], [{{"a": 0.0}}, {{"a": 1.0}}])
curve.plot(backend="plotly")
"""
    run = [sys.executable, "-c"]
    fine = subprocess.run([*run, code.format(absent="matplotlib")], check=False)
    assert fine.returncode == 0
    answer = subprocess.run(
        [*run, code.format(absent="plotly")], capture_output=True, text=True, check=False
    )
    assert "drawing needs plotly: pip install 'ipdp[plot]'" in answer.stderr
