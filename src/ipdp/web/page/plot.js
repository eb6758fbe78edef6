"use strict";
// A place on the page that holds one plot: drawn once, then changed in place.

(function (ipdp) {
  const CONFIG = { displayModeBar: false, responsive: true, doubleClick: "reset+autosize" };

  class Plot {
    constructor(node, { click } = {}) {
      this.node = node;
      this.click = click;
      this.zoomed = {};
      this.subject = null;
      this.drawn = false;
    }

    /**
     * Draw or redraw. Where the reader has zoomed, the axis stays as it is for as long as the
     * subject (a feature, say) does.
     */
    draw(subject, { data, layout }) {
      if (!window.Plotly) return; // it is on its way, and then everything is drawn
      if (subject !== this.subject) this.zoomed = {};
      this.subject = subject;
      for (const [axis, range] of Object.entries(this.zoomed)) {
        if (layout[axis]) layout[axis] = { ...layout[axis], range, autorange: false };
      }
      window.Plotly.react(this.node, data, layout, CONFIG);
      if (!this.drawn) this.listen();
      this.drawn = true;
    }

    listen() {
      this.node.on("plotly_relayout", (moved) => {
        for (const [key, value] of Object.entries(moved)) {
          const [axis, what] = key.split(".");
          if (what === "range[0]") this.zoomed[axis] = [value, moved[`${axis}.range[1]`]];
          if (what === "range") this.zoomed[axis] = value;
          if (what === "autorange") delete this.zoomed[axis];
        }
      });
      // A double click goes back to what the page shows of its own accord.
      this.node.on("plotly_doubleclick", () => {
        this.zoomed = {};
        if (this.reset) this.reset();
        return false;
      });
      if (this.click) {
        this.node.on("plotly_click", (event) => this.click(event.points[0], event));
      }
    }

    /** Move the line that marks the time, which is the first shape, without drawing the rest. */
    mark(n) {
      if (!this.drawn || !this.node.layout.shapes || !this.node.layout.shapes.length) return;
      window.Plotly.relayout(this.node, { "shapes[0].x0": n, "shapes[0].x1": n });
    }
  }

  ipdp.Plot = Plot;

  /** A vertical line at a time. */
  ipdp.moment = (n, colour, more = {}) => ({
    type: "line", x0: n, x1: n, y0: 0, y1: 1, yref: "paper",
    line: { color: colour, width: 1.5, dash: "solid" }, ...more,
  });
})(window.ipdp);
