"""How displays are drawn and seen, and that nobody else's state is touched for it."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
import types
from io import BytesIO

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import ipdp
from ipdp.plot import CarpetDisplay, ChangeDisplay, OverviewDisplay, PDPDisplay, TimelineDisplay

from ..conftest import (
    make_binary,
    make_categories,
    make_change,
    make_curve,
    make_history,
    make_pair,
)

DISPLAYS = {
    "curve": lambda: PDPDisplay(make_curve()),
    "pair": lambda: PDPDisplay(make_pair()),
    "overview": lambda: OverviewDisplay([make_curve(), make_curve(feature="b")]),
    "carpet": lambda: CarpetDisplay(make_history()),
    "timeline": lambda: TimelineDisplay(make_history(), changes=[make_change()]),
    "change": lambda: ChangeDisplay(make_change()),
}


EVERYTHING = """
import sys
import matplotlib
before = dict(matplotlib.rcParams)
import numpy as np
import ipdp
from ipdp.plot import CarpetDisplay, OverviewDisplay, TimelineDisplay

pdp = ipdp.IncrementalPDP(
    lambda x: {"no": 1 - x["a"], "yes": x["a"]}, ["a", "b", "c", ("a", "b"), ("a", "c")]
)
kept = []
for k in range(60):
    pdp.explain_one({"a": k / 60, "b": k % 7, "c": "xyz"[k % 3]})
    kept.append(pdp.curves)
first, last = kept[30], kept[-1]
change = ipdp.Change("a", "yes", t=60, began=40, where=(0.1, 0.2),
                     before=first["a"].select("yes"), after=last["a"].select("yes"))
displays = [curve.plot() for curve in last.values()]
displays += [OverviewDisplay(last).plot(), CarpetDisplay(kept, "a").plot(), change.plot()]
displays += [CarpetDisplay(kept, "c").plot(centred=True), last["a"].plot(trail=[first["a"]])]
displays += [TimelineDisplay(kept, changes=[change]).plot()]
for display in displays:
    assert "image/png" in display._repr_mimebundle_(include=None, exclude=None)[0]
display.figure_.savefig(sys.argv[1])
display.figure_.canvas.draw()
assert "matplotlib.pyplot" not in sys.modules
assert dict(matplotlib.rcParams) == before
"""


def test_drawing_everything_leaves_pyplot_and_settings_alone(tmp_path):
    code = [sys.executable, "-W", "error", "-c", EVERYTHING, str(tmp_path / "figure.png")]
    # Unless a backend is named, looking at the settings chooses one, with pyplot.
    named = {**os.environ, "MPLBACKEND": "agg"}
    done = subprocess.run(code, check=False, capture_output=True, text=True, env=named)
    assert done.returncode == 0, done.stderr


def picture(display):
    """What a notebook shows: the pixels, and the width and height that they take."""
    data, sizes = display._repr_mimebundle_(include=None, exclude=None)
    pixels = plt.imread(BytesIO(base64.b64decode(data["image/png"])))
    return pixels, sizes["image/png"]


@pytest.mark.parametrize("name", DISPLAYS)
def test_a_notebook_shows_the_figure_twice_as_sharp(name):
    display = DISPLAYS[name]()
    assert display._repr_mimebundle_() == ({"text/plain": repr(display)}, {})
    pixels, size = picture(display.plot())
    width, height = display.figure_.get_size_inches() * display.figure_.dpi
    assert size == {"width": int(width), "height": int(height)}
    np.testing.assert_allclose(pixels.shape[:2], [2 * height, 2 * width], atol=1)
    assert pixels.std() > 0.02
    assert isinstance(display.figure_, Figure)
    assert plt.get_fignums() == []


def test_what_is_cut_off_is_not_counted():
    with mpl.rc_context({"savefig.bbox": "tight", "savefig.pad_inches": 0.5}):
        pixels, size = picture(make_curve().plot())
    assert size == {"width": pixels.shape[1] // 2, "height": pixels.shape[0] // 2}


def test_a_figure_of_pyplot_s_is_left_to_pyplot():
    display = make_curve().plot(plt.figure().subplots())
    assert list(display._repr_mimebundle_()[0]) == ["text/plain"]
    plt.close()
    assert "image/png" in display._repr_mimebundle_()[0]
    part = Figure().subfigures(1, 2)[1]
    assert "image/png" in make_curve().plot(part.subplots())._repr_mimebundle_()[0]


@pytest.fixture
def windows(monkeypatch):
    """The figures in windows that were opened, by a backend that needs no screen."""
    opened = []

    class Manager(FigureManagerBase):
        def show(self):
            opened.append(self.canvas.figure)

        @classmethod
        def start_main_loop(cls):
            plt.close("all")  # as a user would

    class Canvas(FigureCanvasAgg):
        manager_class = Manager

    module = types.ModuleType("some_window")
    module.FigureCanvas, module.FigureManager = Canvas, Manager
    monkeypatch.setitem(sys.modules, "some_window", module)
    mpl.use("module://some_window")
    yield opened
    mpl.use("Agg")


def test_a_window_is_opened_on_request(windows):
    display = make_curve().plot()
    assert plt.get_fignums() == []
    for _ in range(2):
        display.show()
    assert windows == [display.figure_] * 2
    assert plt.get_fignums() == []
    display.show(block=False)
    assert plt.gcf() is display.figure_
    own = make_curve().plot(plt.figure().subplots())
    own.show(block=False)
    assert windows[-1] is own.figure_
    assert len(plt.get_fignums()) == 2


def test_what_cannot_be_shown_says_why():
    with pytest.raises(RuntimeError, match=r"'[Aa]gg' has no window.*figure_\.savefig"):
        make_curve().plot().show()
    with pytest.raises(ValueError, match=r"nothing is drawn yet: call plot\(\) first"):
        PDPDisplay(make_curve()).show()
    assert plt.get_fignums() == []


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
    assert (
        display.ax_.get_title(loc="right") == "t = 300, band: the whole curve with probability 0.95"
    )


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
    assert ax.get_ylabel() == "chance of yes"


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
