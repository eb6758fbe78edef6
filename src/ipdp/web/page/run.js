"use strict";
// A run as it is known so far, the history of each curve, and where both come from: the server of
// the live page, or the report itself.

(function (ipdp) {
  // The history of one feature's curve, as `frames` in payload.py wrote it.

  /** The numbers of each frame, so many of each; null where there are none. */
  function cut(text, sizes) {
    if (!text) return sizes.map(() => null);
    const flat = ipdp.unpack(text);
    let end = 0;
    return sizes.map((size) => {
      end += size;
      return flat.subarray(end - size, end);
    });
  }

  /** One axis of all frames. */
  class Dimension {
    constructor({ categorical, time, index, grids, sizes, rug }) {
      Object.assign(this, { categorical, isTime: Boolean(time), index });
      this.grids = categorical ? grids : cut(grids, sizes);
      // Recent values: of a pair as they came, else their histogram.
      this.rugs = cut(rug.values || rug.counts, rug.sizes);
      this.edges = rug.edges ? cut(rug.edges, rug.sizes.map((size) => size && size + 1)) : [];
    }

    append(other) {
      const offset = this.grids.length;
      this.grids = this.grids.concat(other.grids);
      this.index = this.index.concat(other.index.map((grid) => grid + offset));
      this.rugs = this.rugs.concat(other.rugs);
      this.edges = this.edges.concat(other.edges);
    }

    grid(frame) {
      return this.grids[this.index[frame]];
    }

    /** A value of the feature in words; of numbers to a thousandth of the range of their grid. */
    text(value, grid) {
      if (typeof value !== "number") return String(value);
      return this.isTime ? ipdp.dateOf(value) : ipdp.number(value, grid && grid[grid.length - 1] - grid[0]);
    }

    /** What is written along an axis from one value to another. */
    ticks(range, most) {
      return this.isTime && range ? ipdp.clockTicks(range, most) : {};
    }

    /** All categories that ever were, in the order in which they came. */
    get categories() {
      return [...new Set(this.grids.flat())];
    }
  }

  class History {
    constructor(payload) {
      this.n = payload.n || [];
      this.outputSets = payload.outputs;
      this.output = payload.output;
      // What the numbers of each output are, and which outputs are drawn unless one is chosen.
      this.texts = new Map(payload.outputs.flatMap((names, k) =>
        names.map((name, at) => [name, payload.texts[k][at]])));
      Object.assign(this, {
        several: payload.several, main: payload.main, shown: payload.shown || [],
        chances: Boolean(payload.chances), relative: Boolean(payload.relative), belief: payload.belief,
      });
      this.dims = payload.dims.map((dimension) => new Dimension(dimension));
      const points = this.output.map((_, frame) => this.points(frame));
      const outputs = this.output.map((_, frame) => this.outputsOf(frame).length);
      const both = points.map((size, frame) => size * outputs[frame]);
      this.averages = cut(payload.average, both);
      this.halves = cut(payload.half, both);
      this.pasts = cut(payload.past, both);
      this.spreads = cut(payload.spread, both);
      this.thin = cut(payload.thin, points);
      this.missing = cut(payload.missing, outputs);
      this.missingHalves = cut(payload.missing_half, outputs);
      this.nEffective = ipdp.unpack(payload.n_effective);
      // Of two kinds together: the other one, what both are called, where they part, and what to see.
      this.pictures = payload.pictures || []; // of its parts, by the newest snapshot
      this.beside = payload.beside ? new History(payload.beside) : null;
      Object.assign(this, {
        names: payload.names, parts: payload.parts || [], sentences: payload.sentences || [],
      });
    }

    get length() {
      return this.output.length;
    }

    get isPair() {
      return this.dims.length === 2;
    }

    append(other) {
      if (!other.length) return;
      const [before, offset] = [this.texts, this.outputSets.length];
      this.texts = new Map([...before, ...other.texts]);
      // Which output matters most may alternate: what is drawn changes with the outputs only.
      if (this.texts.size > before.size || !before.size) {
        Object.assign(this, { main: other.main, shown: other.shown });
      }
      Object.assign(this, {
        several: other.several, chances: other.chances, belief: other.belief || this.belief,
      });
      this.outputSets = this.outputSets.concat(other.outputSets);
      this.output = this.output.concat(other.output.map((set) => set + offset));
      this.dims.forEach((dimension, k) => dimension.append(other.dims[k]));
      for (const name of ["n", "averages", "halves", "pasts", "spreads", "thin", "missing", "missingHalves", "parts", "sentences"]) {
        this[name] = this[name].concat(other[name]);
      }
      this.nEffective = ipdp.join(this.nEffective, other.nEffective);
      this.pictures = other.pictures;
      if (this.beside) this.beside.append(other.beside);
    }

    points(frame) {
      return this.dims.reduce((product, dimension) => product * dimension.grid(frame).length, 1);
    }

    outputsOf(frame) {
      return this.outputSets[this.output[frame]];
    }

    /** All outputs that ever were. */
    get outputs() {
      return [...new Set(this.outputSets.flat())];
    }

    /** What the axis of some outputs shows: "chance of yes", "predicted price", or a word for all of them. */
    title(outputs) {
      return outputs.length > 1 ? this.several : this.texts.get(outputs[0]) || "";
    }

    /** What an output cannot be below and above: chances, unless they are differences of such. */
    limits() {
      return this.chances && !this.relative ? [0, 1] : undefined;
    }

    /** How values are written on an axis. */
    get tickformat() {
      return this.chances && !this.relative ? ".0%" : undefined;
    }

    /** A value in words. */
    number(value) {
      return this.chances && !this.relative ? ipdp.percent(value) : ipdp.number(value);
    }

    /** The last frame at or before n; -1 before the first. */
    at(n) {
      return ipdp.last(this.n, n);
    }

    /** Values of one output in a frame; null if the frame does not have the output. */
    average(frame, output) {
      return this.slice(this.averages[frame], frame, output);
    }

    half(frame, output) {
      return this.slice(this.halves[frame], frame, output);
    }

    /** The mean of past answers of one output, where it is drawn beside the model now; else null. */
    past(frame, output) {
      const values = this.pasts[frame] && this.slice(this.pasts[frame], frame, output);
      return values && values.some(Number.isFinite) ? values : null;
    }

    /** How far single observations are from the curve (± 1 sd); null where that is not known. */
    spread(frame, output) {
      const values = this.spreads[frame] && this.slice(this.spreads[frame], frame, output);
      return values && values.some(Number.isFinite) ? values : null;
    }

    slice(values, frame, output) {
      const k = this.outputsOf(frame).indexOf(output);
      const size = this.points(frame);
      return k < 0 ? null : values.subarray(k * size, (k + 1) * size);
    }

    missingAt(frame, output) {
      const k = this.outputsOf(frame).indexOf(output);
      if (k < 0 || !this.missing[frame] || !Number.isFinite(this.missing[frame][k])) return null;
      return { value: this.missing[frame][k], half: this.missingHalves[frame][k] };
    }

    get frames() {
      return this.output.map((_, frame) => frame);
    }

    /** Extent of some outputs in some frames, or in all. */
    extent(outputs, frames = this.frames) {
      return ipdp.extent(frames.flatMap((frame) => outputs.flatMap((output) => {
        const missing = this.missingAt(frame, output);
        const drawn = [this.average(frame, output), this.past(frame, output)];
        const ends = drawn.flatMap((values) => ipdp.extent(values || []) || []);
        return missing ? [...ends, missing.value] : ends;
      })));
    }

    /** Extent of the bands of single observations. */
    spreadExtent(outputs, frame) {
      const [least, most] = this.limits() || [-Infinity, Infinity];
      return outputs.flatMap((output) => {
        const [values, halves] = [this.average(frame, output), this.spread(frame, output)];
        return halves ? [...values].flatMap((value, k) => [value - halves[k], value + halves[k]]) : [];
      }).filter(Number.isFinite).map((end) => Math.min(Math.max(end, least), most));
    }

    /** Extent of the bands of some outputs in a frame, not much wider than that of the lines. */
    bandExtent(outputs, frame) {
      const lines = this.extent(outputs, [frame]);
      if (!lines) return [];
      const reach = Math.max(lines[1] - lines[0], this.chances ? 0.1 : 0);
      const [least, most] = this.limits() || [-Infinity, Infinity];
      const ends = outputs.flatMap((output) => {
        const [values, halves] = [this.average(frame, output), this.half(frame, output)];
        return values ? [...values].flatMap((value, k) => [value - halves[k], value + halves[k]]) : [];
      }).filter(Number.isFinite);
      return ends.map((end) => Math.min(Math.max(end, lines[0] - reach, least), lines[1] + reach, most));
    }

    /** Extent of a numeric axis in some frames, or in all. */
    span(axis, frames = this.frames) {
      const grids = new Set(frames.map((frame) => this.dims[axis].grid(frame)));
      return ipdp.extent([...grids].flatMap((grid) => ipdp.extent(grid) || []));
    }

    /** The same without the few frames that reach far out, which would squeeze all others. */
    usualSpan(axis, frames = this.frames) {
      if (frames.length <= 20) return this.span(axis, frames);
      const ends = frames.map((frame) => ipdp.extent(this.dims[axis].grid(frame))).filter(Boolean);
      const at = (values, share) => values.sort((a, b) => a - b)[Math.round(share * (values.length - 1))];
      return ends.length
        ? [at(ends.map(([low]) => low), 0.05), at(ends.map(([, high]) => high), 0.95)] : null;
    }
  }

  /** A numeric curve between its points; NaN outside of its grid. */
  ipdp.interpolate = function (grid, values, x) {
    if (!(x >= grid[0] && x <= grid[grid.length - 1])) return NaN;
    const right = Math.min(ipdp.last(grid, x) + 1, grid.length - 1);
    const left = Math.max(right - 1, 0);
    const width = grid[right] - grid[left];
    return width > 0
      ? values[left] + ((x - grid[left]) / width) * (values[right] - values[left])
      : values[right];
  };

  /** Numbers over time: a metric, or importances with half the width of their bands. */
  class Series {
    constructor(payload) {
      this.n = payload.n;
      this.value = ipdp.unpack(payload.value || "f");
      this.half = ipdp.unpack(payload.half || "f");
    }

    get length() {
      return this.n.length;
    }

    append(other) {
      this.n = this.n.concat(other.n);
      this.value = ipdp.join(this.value, other.value);
      this.half = ipdp.join(this.half, other.half);
    }
  }

  /** An explainer of the run, the importances that it gives, and what was fetched of its results. */
  class Explainer {
    constructor({ name }) {
      this.name = name;
      this.importance = [];
      this.histories = new Map();
    }

    append({ title, curves, joint, importance }, nBefore) {
      Object.assign(this, { title, curves, joint: Boolean(joint) });
      importance.forEach((text, k) => {
        if (text === null) return; // it says nothing of this feature
        const before = this.importance[k] || new Float32Array(nBefore).fill(NaN);
        this.importance[k] = ipdp.join(before, ipdp.unpack(text));
      });
    }

    /** What its importances are called: of a curve it is the plain word. */
    get measure() {
      return this.curves ? "importance" : this.title;
    }

    /** What its curves, and its importances, are called where there is a choice. */
    get text() {
      return this.title === this.name || this.joint ? this.title : `${this.title} (${this.name})`;
    }

    get measureText() {
      return this.curves ? `importance of the curve (${this.name})` : this.text;
    }

    take(k, payload) {
      const news = this.curves ? new History(payload) : new Series(payload);
      const known = this.histories.get(k);
      if (known && known.length) known.append(news);
      else this.histories.set(k, news);
    }
  }

  ipdp.Run = class {
    constructor(payload) {
      this.revision = payload.revision;
      this.n = [];
      this.time = []; // of the snapshots: the data's own, where the run has a clock
      this.explainers = [];
      this.metrics = new Map();
      this.changes = [];
      this.append(payload);
    }

    /** Take in an answer; gives back whether it held new snapshots. */
    append(payload) {
      const { name, status, next, settings, features, challengers, explained, headline, interactions } = payload;
      Object.assign(this, { name, status, next, settings, features, challengers, explained, headline, interactions });
      this.nFeatures = payload.n_features;
      for (const one of payload.explainers) {
        if (!this.explainer(one.name)) this.explainers.push(new Explainer(one));
        this.explainer(one.name).append(one, this.n.length);
      }
      for (const [metric, series] of Object.entries(payload.metrics)) {
        const news = new Series(series);
        if (this.metrics.has(metric)) this.metrics.get(metric).append(news);
        else this.metrics.set(metric, news);
      }
      this.changes = this.changes.concat(payload.changes.map((change) => ({
        ...change, history: new History(change.curves) })));
      this.n = this.n.concat(payload.n);
      this.time = this.time.concat(payload.time || []);
      return payload.n.length > 0;
    }

    /** Keep what was fetched for the same run before. */
    takeHistories(before) {
      for (const one of this.explainers) {
        one.histories = (before.explainer(one.name) || one).histories;
      }
    }

    explainer(name) {
      return this.explainers.find((one) => one.name === name);
    }

    /** The explainers that give curves. */
    get curved() {
      return this.explainers.filter((one) => one.curves);
    }

    /** The explainers whose importances can be chosen. */
    get measuring() {
      return this.explainers.filter((one) => !one.joint);
    }

    /** Whose curves and whose importances are shown: those of these names, else the first. */
    choose(curves, by) {
      this.shown = this.curved.find((one) => one.name === curves) || this.curved[0];
      this.by = this.measuring.find((one) => one.name === by) || this.explainers[0];
    }

    /** The curves that were fetched, by the number of their feature. */
    get histories() {
      return this.shown ? this.shown.histories : new Map();
    }

    get importance() {
      return this.by ? this.by.importance : [];
    }

    get length() {
      return this.n.length;
    }

    get hasClock() {
      return Boolean(this.settings.time) && this.time.length > 1;
    }

    /** What tells the date of a moment of the run; null where the data have no clock. */
    get clock() {
      return this.hasClock ? (n) => this.when(n) : null;
    }

    /** A moment of the run: a date where the data have a clock, else the count of observations. */
    when(n) {
      return this.hasClock ? ipdp.dateOf(ipdp.between(this.n, this.time, n)) : ipdp.count(n);
    }

    /** How far the axes of time reach. */
    get until() {
      return Math.max(this.status.n || 0, this.n.length ? this.n[this.n.length - 1] : 0);
    }

    /** Importance of a feature at a snapshot, or the last one known before it. */
    importanceAt(k, at) {
      const row = this.importance[k] || [];
      for (let place = Math.min(at, row.length - 1); place >= 0; place--) {
        if (Number.isFinite(row[place])) return row[place];
      }
      return NaN;
    }

    /**
     * The features, the most important first, at a snapshot or at the last one. Curves of a part of
     * the observations ("age, where country = AT") come after those of all of them.
     */
    byImportance(at = this.length - 1) {
      const last = this.features.map((feature) => Number(feature.part_of !== null));
      const value = this.features.map((_, k) => this.importanceAt(k, at));
      const size = (k) => (Number.isFinite(value[k]) ? value[k] : -Infinity);
      const bySize = (a, b) => (size(b) > size(a)) - (size(b) < size(a)) || a - b;
      return [...value.keys()].sort((a, b) => last[a] - last[b] || bySize(a, b));
    }
  };

  /** The report: everything is in the file. */
  ipdp.Embedded = class {
    constructor(payload) {
      this.payload = payload;
    }

    async run() {
      return this.payload.run;
    }

    async feature(k, after, explainer) {
      const { features, others } = this.payload;
      return (Object.hasOwn(others, explainer) ? others[explainer] : features)[k];
    }
  };

  /** The live page: asks the server for what is new. */
  ipdp.Server = class {
    constructor(address) {
      this.address = address;
      this.live = true;
      this.pause = 1; // seconds; the server asks for longer ones where there are many pages
    }

    async ask(path) {
      const answer = await fetch(path, { headers: { accept: "application/json" } });
      if (!answer.ok) {
        const said = await answer.json().catch(() => ({}));
        throw Object.assign(new Error(said.error || answer.statusText), { status: answer.status });
      }
      this.pause = Number(answer.headers.get("x-ipdp-pause")) || this.pause;
      return answer.json();
    }

    run(after) {
      return this.ask(`${this.address}.json${after ? `?after=${after}` : ""}`);
    }

    feature(k, after, explainer) {
      const query = new URLSearchParams({ after, explainer });
      return this.ask(`${this.address}/features/${k}.json?${query}`);
    }

    comparison(query) {
      return this.ask(`${this.address}/comparison.json?${new URLSearchParams(query)}`);
    }

    runs() {
      return this.ask("/runs.json");
    }
  };
})(window.ipdp);
