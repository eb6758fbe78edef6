"use strict";
// The card that compares: A with B, this run with another one, or the model with a challenger. The
// server makes the comparison (`comparisons.py`); here it is asked for, and drawn.

(function (ipdp) {
  const { element, find, say } = ipdp;
  const PAUSE = 300; // milliseconds without a move before the server is asked

  /** What may be compared with: a list of [value, text]. */
  function choices(page, runs) {
    const { run } = page;
    return [
      ["", "A and B of this run"],
      ...run.challengers.map((name) => [`challenger:${name}`, `challenger ${name}`]),
      ...runs.map((name) => [`run:${name}`, `the run ${name}, at its end`]),
    ];
  }

  /** What is to be compared: the question to the server and both names; or why there is none. */
  function question({ run, state, now }, versus) {
    const [kind, ...rest] = versus.split(":");
    const other = rest.join(":");
    if (kind === "challenger") return { query: { a: now, challenger: other }, roles: ["c1", "c2"] };
    const explainer = run.shown.name;
    if (kind === "run") {
      const a = state.a === null ? now : state.a;
      return { query: { a, run: other, explainer }, roles: ["a", "b"] };
    }
    const times = [state.a, state.b, now].filter((n) => n !== null).slice(0, 2);
    if (times.length < 2) return { hint: "Keep two times as A and B to see whether the effects differ." };
    const roles = [["a", state.a], ["b", state.b], ["now", now]].filter(([, n]) => n !== null)
      .map(([role]) => role).slice(0, 2);
    if (times[0] === times[1]) return { hint: `This is ${roles[0].toUpperCase()}: go to another time.` };
    return { query: { a: times[0], b: times[1], explainer }, roles };
  }

  const STYLES = [{ dash: "dot", symbol: "circle-open" }, { dash: "solid", symbol: "circle" }];

  /** A line along numbers; along categories points, with their bands as bars. */
  function line(found, y, style, more) {
    const { colour, dash, symbol, shift = 0, half } = style;
    const x = found.categorical ? found.places.map((_, k) => k + shift) : found.places;
    const bars = found.categorical && half && {
      error_y: { type: "data", array: half.map((value) => value || 0), color: colour, thickness: 1.8, width: 0 } };
    return {
      type: "scatter", mode: found.categorical ? "markers" : "lines+markers", x, y,
      line: { color: colour, width: 2.5, dash }, marker: { color: colour, size: 6, symbol },
      hoverinfo: "text", ...bars, ...more,
    };
  }

  function hovers(found, values, text, halves) {
    return found.places.map((place, k) => {
      const half = halves && Number.isFinite(halves[k]) ? ` ± ${ipdp.number(halves[k])}` : "";
      const at = typeof place === "number" ? ipdp.number(place) : place;
      return `<b>${ipdp.number(values[k])}</b>${half}<br>at ${ipdp.plain(at)}<br>${ipdp.plain(text)}`;
    });
  }

  /** Both curves, and their difference with its band. */
  function traces(found, names, roles) {
    const both = ["a", "b"].map((side, k) => line(found, found[side],
      { ...STYLES[k], colour: ipdp.token(roles[k]), shift: found.categorical ? 0.16 * k - 0.08 : 0 },
      { text: hovers(found, found[side], names[k]), meta: { part: side } }));
    const colour = ipdp.token("ink");
    const half = found.half.map((value) => (value === null ? NaN : value));
    const axes = { xaxis: "x2", yaxis: "y2" };
    const band = found.categorical ? [] : [ipdp.band(found.places, found.shape, half, colour,
      { ...axes, meta: { part: "difference-band" } })];
    const apart = line(found, found.shape, { dash: "solid", symbol: "circle", colour, half }, {
      ...axes, text: hovers(found, found.shape, "difference", half), meta: { part: "difference" },
    });
    return [...both, ...band, apart];
  }

  function axesOf(found, title) {
    if (!found.categorical) return ipdp.axis({ title: { text: title } });
    const ticks = found.places.map((name) => ipdp.label(name, found.places.length > 6 ? 8 : 14));
    return ipdp.axis({ title: { text: title }, tickvals: [...ticks.keys()], ticktext: ticks,
      range: [-0.6, ticks.length - 0.4] });
  }

  /** Zero, the margin, and what is beyond it. */
  function shapes(found) {
    const across = (y, dash) => ({ type: "line", xref: "x2 domain", yref: "y2", x0: 0, x1: 1, y0: y, y1: y,
      line: { color: ipdp.token("muted"), width: 1, dash } });
    const shaded = ["", "2"].flatMap((at) => found.parts.map(([x0, x1]) => ({
      type: "rect", x0, x1, y0: 0, y1: 1, xref: `x${at}`, yref: `y${at} domain`, layer: "below",
      line: { width: 0 }, fillcolor: ipdp.fade(ipdp.token("after"), 0.12) })));
    return [...shaded, across(0, "solid"), across(found.margin, "dash"), across(-found.margin, "dash")];
  }

  ipdp.differenceFigure = function (found, names, roles) {
    const wide = ipdp.isWide();
    const domains = wide ? [[0, 0.45], [0.57, 1]] : [[0, 1], [0, 1]];
    const heights = wide ? [[0, 1], [0, 1]] : [[0.58, 1], [0, 0.42]];
    const title = ipdp.label(found.name, 40);
    const layout = ipdp.layout({
      xaxis: { ...axesOf(found, wide ? title : ""), domain: domains[0], anchor: "y" },
      xaxis2: { ...axesOf(found, title), domain: domains[1], anchor: "y2" },
      yaxis: ipdp.axis({ title: { text: ipdp.label(found.text, 30) }, domain: heights[0], anchor: "x" }),
      yaxis2: ipdp.axis({ title: { text: "difference, without level" }, domain: heights[1], anchor: "x2" }),
      shapes: shapes(found),
    });
    return { data: traces(found, names, roles), layout };
  };

  const verdictOf = ({ verdict, kind }) => element("span", { class: "verdict", "data-verdict": verdict },
    kind ? `${verdict} (${kind})` : verdict);

  ipdp.CompareCard = class {
    constructor(page) {
      Object.assign(this, { page, card: find("compare-card"), runs: [], key: null, found: null, error: "" });
      this.plot = new ipdp.Plot(find("difference"), () => page.touch("all"));
      find("versus").addEventListener("change", (event) => page.show({ versus: event.target.value }));
    }

    /** What is compared with: what was chosen, else a challenger if there is one and no pins. */
    get versus() {
      const { run, state } = this.page;
      if (state.versus !== null) return state.versus;
      const pinned = state.a !== null || state.b !== null;
      return run.challengers.length && !pinned ? `challenger:${run.challengers[0]}` : "";
    }

    draw() {
      const { page } = this;
      if (!page.source.comparison || !page.run.shown) return;
      const offered = choices(page, this.runs);
      const asked = question(page, this.versus);
      // Nothing to compare with, and nothing kept: no card.
      this.card.hidden = Boolean(asked.hint) && offered.length < 2;
      ipdp.offer(find("versus"), offered, this.versus);
      const key = asked.hint || JSON.stringify(asked.query);
      if (key === this.key) return this.show(asked);
      this.key = key;
      clearTimeout(this.timer);
      if (asked.hint) Object.assign(this, { found: null, error: asked.hint, answered: key });
      else this.timer = setTimeout(() => this.ask(asked, key), PAUSE);
      // What is there stays as it is until the answer comes: a page that follows would flicker.
      this.card.setAttribute("aria-busy", String(!asked.hint && !this.found));
      this.show(asked);
    }

    async ask(asked, key) {
      let answer = { found: null, error: "", answered: key };
      try {
        answer.found = await this.page.source.comparison(asked.query);
      } catch (error) {
        answer.error = error.status ? `This cannot be compared: ${error.message}.` : "";
        if (!error.status) this.key = null; // the server is away: ask again
      }
      if (key !== this.key && this.key !== null) return; // another one was asked for meanwhile
      Object.assign(this, answer);
      this.page.touch("time"); // the caption says it, too
      this.card.setAttribute("aria-busy", "false");
      this.show(asked);
    }

    /** What is said of A and B, or A and now, for the feature that is shown; null if nothing is. */
    sentence() {
      const isOfTimes = this.found && !this.versus && JSON.stringify(question(this.page, "").query) === this.key;
      const one = isOfTimes && this.chosen();
      return one ? `${one.sentence}.` : null;
    }

    /** The difference of the feature that is shown, in the output that is chosen if it has that. */
    chosen() {
      const { run, state } = this.page;
      const own = this.found.differences.filter(({ name }) => name === run.features[state.feature].name);
      return own.find(({ output }) => output === state.output) || own.find(({ best }) => best);
    }

    show(asked) {
      const { found, error } = this;
      for (const id of ["difference", "compare-table", "compare-legend"]) find(id).hidden = !found;
      say(find("compare-notes"), found ? found.remarks.join(" · ") : "");
      if (!found) return say(find("compare-said"), error);
      const one = this.chosen();
      const said = one ? one.sentence : "this feature is not among those compared";
      say(find("compare-said"), `${found.heading}. ${said}.`);
      find("difference").hidden = !(one && one.places.length);
      this.showLegend(found, asked.roles || []);
      this.showRows(found);
      const subject = `${this.key}/${one && one.name}`;
      if (one && one.places.length && asked.roles) {
        this.plot.draw(subject, ipdp.differenceFigure(one, found.names, asked.roles));
      }
    }

    showLegend(found, roles) {
      const chips = found.names.map((name, k) => {
        const dot = element("span", { class: "swatch" });
        dot.style.background = `var(--${roles[k]})`;
        return element("span", { class: "chip" }, dot, ipdp.shorten(name, 40));
      });
      find("compare-legend").replaceChildren(...chips);
    }

    showRows(found) {
      const { run, state } = this.page;
      const shown = JSON.stringify([this.key, state.feature]);
      const body = find("compare-rows");
      if (body.dataset.shown === shown && this.rowsOf === found) return;
      Object.assign(this, { rowsOf: found });
      body.dataset.shown = shown;
      const order = ["different", "cannot say", "alike"];
      const rank = ({ verdict }) => order.indexOf(verdict);
      const rows = found.differences.filter(({ best }) => best);
      rows.sort((one, other) => rank(one) - rank(other));
      body.replaceChildren(...rows.map((one) => this.row(run, one)));
    }

    row(run, one) {
      const k = run.features.findIndex(({ name }) => name === one.name);
      const button = element("button", { type: "button", class: "link" }, ipdp.shorten(one.name, 32));
      button.addEventListener("click", () => this.page.choose(k));
      const [size, errors, most] = one.sizes;
      const cells = [button, verdictOf(one), size, errors, most, one.where];
      const chosen = String(k === this.page.state.feature);
      return element("tr", { "aria-current": chosen }, ...cells.map((cell) => element("td", {}, cell)));
    }
  };
})(window.ipdp);
