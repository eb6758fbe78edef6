"""How a drawn display is seen, and that nobody else's state is touched for it."""

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
from matplotlib import pyplot as plt
from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ipdp.plot import CarpetDisplay, ChangeDisplay, OverviewDisplay, PDPDisplay, TimelineDisplay

from .conftest import make_change, make_curve, make_history, make_pair

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
