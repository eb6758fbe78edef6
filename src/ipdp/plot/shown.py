"""How a drawn display is seen: by itself in a notebook, in a window on request."""

from __future__ import annotations

import base64
import struct
from io import BytesIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

# Pixels of the picture for each pixel that it takes on the page: sharp on a fine screen.
_SHARP = 2
# matplotlib's backends that write files and have no window.
_WINDOWLESS = {"agg", "cairo", "pdf", "pgf", "ps", "svg", "template"}


class Shown:
    """A display whose figure shows itself.

    The figure is a plain `matplotlib.figure.Figure`, of which pyplot knows nothing: it goes when
    the display goes, and `figure_.savefig` writes it. Only `show` hands it to pyplot.
    """

    figure_: Figure | SubFigure

    def show(self, *, block: bool | None = None) -> None:
        """Open a window with the figure, as `matplotlib.pyplot.show` does; in a notebook, show it.

        Parameters
        ----------
        block
            Whether to wait until all windows are closed. By default so in a script, and not
            where matplotlib is interactive.
        """
        figure = self._drawn()
        if figure is None:
            raise ValueError("nothing is drawn yet: call plot() first")
        from matplotlib import pyplot as plt

        backend = plt.get_backend()
        if backend.lower() in _WINDOWLESS:
            raise RuntimeError(
                f"matplotlib's backend {backend!r} has no window: choose another one with "
                "matplotlib.use(), or write a file with figure_.savefig()"
            )
        if not _is_pyplots(figure):
            plt.figure(FigureClass=lambda **_: figure)  # type: ignore[arg-type]  # takes it over
        plt.show(block=block)

    def _drawn(self) -> Figure | None:
        """The whole figure, None before anything is drawn."""
        part = getattr(self, "figure_", None)
        return None if part is None else part.canvas.figure

    def _repr_mimebundle_(self, **_wishes: object) -> tuple[dict[str, str], dict[str, Any]]:
        """What a notebook shows: the picture, unless pyplot shows the figure anyway."""
        words, figure = {"text/plain": repr(self)}, self._drawn()
        if figure is None or _is_pyplots(figure):
            return words, {}
        buffer = BytesIO()
        figure.savefig(buffer, format="png", dpi=_SHARP * figure.dpi)
        png = buffer.getvalue()
        # From the picture's own head: a setting such as savefig.bbox may have cut it.
        width, height = struct.unpack(">II", png[16:24])
        size = {"width": width // _SHARP, "height": height // _SHARP}
        return words | {"image/png": base64.b64encode(png).decode()}, {"image/png": size}


def _is_pyplots(figure: Figure) -> bool:
    """Whether the figure is one of those that pyplot holds, and shows."""
    from matplotlib._pylab_helpers import Gcf

    return figure.canvas.manager in Gcf.get_all_fig_managers()
