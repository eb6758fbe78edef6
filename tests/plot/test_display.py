from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

import ipdp
from ipdp.plot import PDPDisplay

from .conftest import make_binary, make_categories, make_curve, make_pair


@pytest.mark.parametrize("make", [make_curve, make_binary, make_pair, make_categories])
def test_given_axes_keep_pyplot_out(make, ax, render):
    curve = make("a", "b") if make is make_categories else make()
    display = curve.plot(ax)
    render(ax)
    assert plt.get_fignums() == []
    assert display.ax_ is ax
    assert display.figure_ is ax.figure


def test_without_axes_there_is_a_new_figure():
    display = make_curve().plot()
    assert display.figure_.axes == [display.ax_]
    assert display.ax_.get_title(loc="right") == "t = 300"


def test_plot_returns_the_display_and_can_be_repeated(ax):
    display = PDPDisplay(make_curve())
    assert display.plot(ax) is display
    other = Figure().subplots()
    assert display.plot(other).ax_ is other
    assert repr(display) == f"PDPDisplay({display.curve!r})"


def test_unknown_settings_are_refused(ax):
    with pytest.raises(TypeError, match="colour"):
        make_curve().plot(ax, colour="red")
    with pytest.raises(ValueError, match="no output 'price'"):
        make_curve().plot(ax, output="price")
    with pytest.raises(ValueError, match="level"):
        make_curve().plot(ax, band=95)
    assert plt.get_fignums() == []


def test_importing_ipdp_does_not_import_matplotlib():
    code = "import sys, ipdp, ipdp.plot; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_matplotlib_there_is_a_hint(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'ipdp\[plot\]'"):
        make_curve().plot()


def test_what_an_explainer_saw_is_what_is_drawn(ax):
    pdp = ipdp.IncrementalPDP(lambda x: {"no": 1 - x["p"], "yes": x["p"]}, ["p"], n_ice=3)
    for k in range(100):
        pdp.explain_one({"p": k / 100})
    curve = pdp.curve("p")
    display = curve.plot(ax)
    np.testing.assert_array_equal(display.lines_[0].get_xdata(), curve.grid_values[0])
    np.testing.assert_array_equal(display.lines_[0].get_ydata(), curve.average[1])
    assert len(display.ice_lines_[0].get_segments()) == 3
    assert ax.get_ylabel() == "P(yes)"


SHOWN = {
    "salary": "salary",
    "": "''",
    "   ": "'   '",
    "$x_1": "$x_1",
    "$\\frac{1$": "$\\frac{1$",
    "100 % of _under_ & ^over^ \\alpha": "100 % of _under_ & ^over^ \\alpha",
    "<img src=x onerror=alert(1)>": "<img src=x onerror=alert(1)>",
    "x" * 200: "x" * 23 + "…" + "x" * 23,
    "two\nlines\x00\ud800": "two lines  ",
    7: "7",
    None: "None",
}


@pytest.mark.parametrize(("name", "shown"), SHOWN.items())
def test_names_are_plain_text(name, shown, ax, render):
    curve = make_curve(
        feature=name,
        outputs=(name, "b"),
        average=np.full((2, 5), 3.0),
        std_error=np.ones((2, 5)),
        ice=None,
    )
    curve.plot(ax, line_kw={"label": "_$hidden"})
    assert ax.get_xlabel() == shown
    texts = ax.get_legend().get_texts()
    short = shown if len(shown) <= 24 else f"{shown[:11]}…{shown[-11:]}"
    assert [text.get_text() for text in texts] == [f"_$hidden: {short}", "_$hidden: b"]
    assert not any(text.get_parse_math() for text in [ax.xaxis.label, ax.yaxis.label, *texts])
    render(ax)


@pytest.mark.parametrize(("name", "shown"), SHOWN.items())
def test_names_of_categories_are_plain_text(name, shown, ax, render):
    make_categories(name, "other").plot(ax)
    render(ax)
    ticks = ax.get_xticklabels()
    wanted = shown if len(shown) <= 16 else f"{shown[:7]}…{shown[-7:]}"
    assert [tick.get_text() for tick in ticks] == [wanted, "other"]
    assert not any(tick.get_parse_math() for tick in ticks)


numbers = st.floats(-1e6, 1e6)
maybe = st.one_of(numbers, st.just(float("nan")))


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_whatever_the_curve_holds_is_drawn(data):
    m = data.draw(st.integers(0, 4), label="points")
    n_outputs = data.draw(st.integers(1, 3), label="outputs")
    n_ice = data.draw(st.integers(0, 2), label="ice")

    def array(of, *shape):
        size = int(np.prod(shape))
        return np.array(data.draw(st.lists(of, min_size=size, max_size=size))).reshape(shape)

    curve = make_curve(
        outputs=tuple(range(n_outputs)),
        grid_values=[np.sort(array(numbers, m))],
        average=array(maybe, n_outputs, m),
        std_error=abs(array(maybe, n_outputs, m)),
        n_effective_points=abs(array(numbers, m)),
        ice=array(maybe, n_outputs, n_ice, m),
        rug=[array(numbers, data.draw(st.integers(0, 3)))],
        missing=data.draw(st.sampled_from([None, array(maybe, n_outputs)])),
    )
    figure = Figure(layout="constrained", figsize=(4, 3))
    display = curve.plot(figure.subplots())
    figure.draw_without_rendering()
    drawn = [line.get_ydata() for line in display.lines_]
    wanted = curve.average[1:] if len(drawn) < n_outputs else curve.average
    np.testing.assert_array_equal(drawn, wanted)
