"use strict";
// Light and dark, and what both mean for the plots.

(function (ipdp) {
  const KEY = "ipdp-theme";
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const listeners = [];

  // A page that may keep nothing (a file, a strict browser) still switches.
  const memory = {
    get: () => { try { return localStorage.getItem(KEY); } catch { return null; } },
    set: (value) => { try { localStorage.setItem(KEY, value); } catch { /* not kept */ } },
  };

  function apply(choice) {
    const dark = choice ? choice === "dark" : system.matches;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    const button = ipdp.find("theme");
    if (button) button.setAttribute("aria-pressed", String(dark));
    listeners.forEach((listener) => listener());
  }

  ipdp.theme = {
    /** Once the page is there: its button, and the system that changes its mind. */
    start() {
      apply(memory.get());
      system.addEventListener("change", () => apply(memory.get()));
      const button = ipdp.find("theme");
      if (button) button.addEventListener("click", () => ipdp.theme.toggle());
    },
    toggle() {
      const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
      memory.set(next);
      apply(next);
    },
    changed: (listener) => listeners.push(listener),
  };

  apply(memory.get()); // before anything is drawn, so that nothing flashes

  /** The value of a design token, such as "ink" or "now". */
  ipdp.token = (name) =>
    getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

  /** Colours of several outputs, told apart with every kind of colour vision. */
  ipdp.palette = () => ["c1", "c2", "c3", "c4", "c5", "c6"].map(ipdp.token);

  /** A colour of so much strength. */
  ipdp.fade = function (colour, strength) {
    const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
    return `rgba(${red}, ${green}, ${blue}, ${strength})`;
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
    title: { text: ipdp.plain(title), side: "right",
      font: { size: 12.5, color: ipdp.token("muted") } },
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
