"use strict";
// A place on the page that holds one plot, drawn once and then changed in place; and what all plots
// share: colours, axes, layout.

(function (ipdp) {
  const CONFIG = { displayModeBar: false, responsive: true, doubleClick: "reset+autosize" };

  ipdp.Plot = class {
    /** `zoomTime` is called with the part of the axis of time that the reader has chosen, or null. */
    constructor(node, reset, { click, zoomTime } = {}) {
      Object.assign(this, { node, reset, click, zoomTime, zoomed: {}, subject: null, drawn: false });
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
        if (this.zoomTime && this.zoomed.xaxis) {
          const range = this.zoomed.xaxis;
          this.zoomed = {}; // the other axes follow what is shown
          this.zoomTime(range);
        }
      });
      // A double click goes back to what the page shows of its own accord.
      this.node.on("plotly_doubleclick", () => {
        this.zoomed = {};
        if (this.zoomTime) this.zoomTime(null);
        this.reset();
        return false;
      });
      if (this.click) this.node.on("plotly_click", (event) => this.click(event.points[0]));
    }

    /** Move the line that marks the time, which is the first shape, without drawing the rest. */
    mark(n) {
      if (this.drawn) window.Plotly.relayout(this.node, { "shapes[0].x0": n, "shapes[0].x1": n });
    }
  };

  /** A vertical line at a time. */
  ipdp.moment = (n, color, { width = 1.5, dash = "solid", layer = "above" } = {}) => ({
    type: "line", x0: n, x1: n, y0: 0, y1: 1, yref: "paper", layer, line: { color, width, dash },
  });

  /** Colours of several outputs, told apart with every kind of colour vision. */
  ipdp.palette = () => ["c1", "c2", "c3", "c4", "c5", "c6"].map(ipdp.token);

  /** A colour of so much strength. */
  ipdp.fade = function (colour, strength) {
    const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
    return `rgba(${red}, ${green}, ${blue}, ${strength})`;
  };

  /** Neighbouring values whose band is known, as lists of their places. */
  function stretches(values, halves) {
    const found = [[]];
    values.forEach((value, k) => {
      if (Number.isFinite(value + halves[k])) found[found.length - 1].push(k);
      else if (found[found.length - 1].length) found.push([]);
    });
    return found.filter((places) => places.length);
  }

  /** A band around values: there and back again, broken where it is not known, within limits. */
  ipdp.band = function (at, values, halves, colour, more, [least, most] = [-Infinity, Infinity]) {
    const x = [];
    const y = [];
    for (const places of stretches(values, halves)) {
      if (x.length) { x.push(null); y.push(null); }
      for (const [sign, along] of [[1, places], [-1, [...places].reverse()]]) {
        x.push(...along.map((k) => at[k]));
        y.push(...along.map((k) => Math.min(Math.max(values[k] + sign * halves[k], least), most)));
      }
    }
    return {
      type: "scatter", mode: "lines", x, y, fill: "toself", fillcolor: ipdp.fade(colour, 0.16),
      line: { width: 0 }, hoverinfo: "skip", ...more,
    };
  };

  /** An axis that steps back behind what is drawn. */
  ipdp.axis = function (more = {}) {
    return {
      gridcolor: ipdp.token("grid"),
      linecolor: ipdp.token("line"),
      tickcolor: ipdp.token("line"),
      zeroline: false,
      fixedrange: ipdp.isTouch(),
      automargin: true,
      tickfont: { color: ipdp.token("muted"), size: 12 },
      ...more,
      title: { font: { color: ipdp.token("muted"), size: 12.5 }, standoff: 8, ...more.title },
    };
  };

  /** The key of a surface's colours. */
  ipdp.colourKey = (title) => ({
    thickness: 10, outlinewidth: 0, len: 1,
    tickfont: { size: 12, color: ipdp.token("muted") },
    title: {
      text: ipdp.label(title, 32), side: "right", font: { size: 12.5, color: ipdp.token("muted") },
    },
  });

  /** The layout that all plots share. */
  ipdp.layout = function (more) {
    return {
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: ipdp.token("font"), color: ipdp.token("ink"), size: 13 },
      margin: { l: 8, r: 12, t: 8, b: 8 },
      hoverlabel: {
        bgcolor: ipdp.token("raised"),
        bordercolor: ipdp.token("line"),
        font: { family: ipdp.token("font"), color: ipdp.token("ink"), size: 12.5 },
        align: "left",
      },
      separators: ".,",
      showlegend: false,
      // A finger that moves over a plot scrolls the page.
      dragmode: ipdp.isTouch() ? false : "zoom",
      ...more,
    };
  };

  ipdp.isTouch = () => window.matchMedia("(pointer: coarse)").matches;
})(window.ipdp);
