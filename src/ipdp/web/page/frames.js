"use strict";
// The history of one feature's curve, as `frames` in frames.py wrote it.

(function (ipdp) {
  /** Running totals: where the values of each frame start. */
  function starts(sizes) {
    const found = [0];
    for (const size of sizes) found.push(found[found.length - 1] + size);
    return found;
  }

  /** One axis of all frames. */
  class Dimension {
    constructor(payload) {
      this.categorical = payload.categorical;
      this.index = payload.index;
      if (this.categorical) {
        this.grids = payload.grids;
      } else {
        const flat = ipdp.unpack(payload.grids);
        const from = starts(payload.sizes);
        this.grids = payload.sizes.map((size, k) => flat.subarray(from[k], from[k + 1]));
      }
      this.readRug(payload.rug);
    }

    readRug(rug) {
      this.rugs = [];
      if (!rug) return;
      const sizes = rug.sizes || this.index.map((grid) => this.grids[grid].length);
      const flat = ipdp.unpack(rug.values || rug.counts);
      const from = starts(sizes);
      this.rugs = sizes.map((size, k) => flat.subarray(from[k], from[k + 1]));
    }

    append(other) {
      const offset = this.grids.length;
      this.grids = this.grids.concat(other.grids);
      this.index = this.index.concat(other.index.map((grid) => grid + offset));
      this.rugs = this.rugs.concat(other.rugs);
    }

    grid(frame) {
      return this.grids[this.index[frame]];
    }

    /** All categories that ever were, in the order in which they came. */
    get categories() {
      return [...new Set(this.grids.flat())];
    }
  }

  class History {
    constructor(payload) {
      this.n = payload.n || [];
      this.ids = payload.id || [];
      this.outputSets = payload.outputs;
      this.output = payload.output;
      this.probabilities = payload.probabilities;
      this.dims = payload.dims.map((dimension) => new Dimension(dimension));
      const sizes = this.output.map((_, frame) => this.points(frame));
      const from = starts(sizes);
      const fromOutputs = starts(sizes.map((size, k) => size * this.outputsOf(k).length));
      const cut = (text, at) => {
        const flat = text ? ipdp.unpack(text) : null;
        return sizes.map((_, k) => flat && flat.subarray(at[k], at[k + 1]));
      };
      this.averages = cut(payload.average, fromOutputs);
      this.halves = cut(payload.half, fromOutputs);
      this.thin = cut(payload.thin, from);
      const outputs = starts(sizes.map((_, k) => this.outputsOf(k).length));
      this.missing = cut(payload.missing, outputs);
      this.missingErrors = cut(payload.missing_error, outputs);
      this.nEffective = ipdp.unpack(payload.n_effective);
    }

    get length() {
      return this.output.length;
    }

    get lastId() {
      return this.ids.length ? this.ids[this.ids.length - 1] : 0;
    }

    get isPair() {
      return this.dims.length === 2;
    }

    append(other) {
      if (!other.length) return;
      const offset = this.outputSets.length;
      this.outputSets = this.outputSets.concat(other.outputSets);
      this.output = this.output.concat(other.output.map((set) => set + offset));
      this.probabilities = other.probabilities;
      this.dims.forEach((dimension, k) => dimension.append(other.dims[k]));
      for (const name of ["n", "ids", "averages", "halves", "thin", "missing", "missingErrors"]) {
        this[name] = this[name].concat(other[name]);
      }
      this.nEffective = ipdp.join(this.nEffective, other.nEffective);
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

    slice(values, frame, output) {
      const k = this.outputsOf(frame).indexOf(output);
      const size = this.points(frame);
      return k < 0 ? null : values.subarray(k * size, (k + 1) * size);
    }

    missingAt(frame, output) {
      const k = this.outputsOf(frame).indexOf(output);
      if (k < 0 || !this.missing[frame] || !Number.isFinite(this.missing[frame][k])) return null;
      return { value: this.missing[frame][k], error: this.missingErrors[frame][k] };
    }

    /** Extent of an output over all frames, so that nothing jumps when time goes on. */
    extent(outputs) {
      const ends = [];
      for (let frame = 0; frame < this.length; frame++) {
        for (const output of outputs) {
          const values = this.average(frame, output);
          ends.push(...((values && ipdp.extent(values)) || []));
          const missing = this.missingAt(frame, output);
          if (missing) ends.push(missing.value);
        }
      }
      return ipdp.extent(ends);
    }

    /** Extent of a numeric axis over all frames. */
    span(axis) {
      const ends = [];
      for (const grid of this.dims[axis].grids) ends.push(...(ipdp.extent(grid) || []));
      return ipdp.extent(ends);
    }
  }

  ipdp.History = History;

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
})(window.ipdp);
