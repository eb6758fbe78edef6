"use strict";
// The lists beside the plots: features with their importance, and changes with their pictures.

(function (ipdp) {
  const { element } = ipdp;
  const SPARK = { width: 72, height: 22, points: 60 };
  const THUMB = { width: 104, height: 44 };

  /** A path through points, broken where a value is not known. */
  function path(xs, ys) {
    let text = "";
    let pen = "M";
    xs.forEach((x, k) => {
      if (!Number.isFinite(ys[k])) { pen = "M"; return; }
      text += `${pen}${x.toFixed(1)} ${ys[k].toFixed(1)}`;
      pen = "L";
    });
    return text;
  }

  /** The features: made once each, then only what differs is changed. */
  class FeatureList {
    constructor(node, { search, count, choose }) {
      Object.assign(this, { node, search, count, choose });
      this.rows = [];
      search.addEventListener("input", () => this.filter());
      search.addEventListener("keydown", (event) => {
        if (event.key === "Enter" && this.visible.length) this.choose(this.visible[0]);
        if (event.key === "Escape") { search.value = ""; this.filter(); search.blur(); }
      });
    }

    make(k, name) {
      const line = element("path", { class: "spark-line", fill: "none" });
      const dot = element("circle", { class: "spark-dot", r: 2 });
      const spark = element("svg", {
        class: "spark", viewBox: `0 0 ${SPARK.width} ${SPARK.height}`, "aria-hidden": "true",
      }, line, dot);
      const value = element("span", { class: "value" });
      const label = element("span", { class: "name", title: name }, name);
      const button = element("button", { type: "button", class: "feature", "data-feature": k },
        label, spark, value);
      button.addEventListener("click", () => this.choose(k));
      const row = element("li", {}, button);
      return { row, button, line, dot, value, name };
    }

    /** The features in order, as far as the search lets them through. */
    get visible() {
      return (this.order || []).filter((k) => !this.rows[k].row.hidden);
    }

    draw(run, chosen, at) {
      run.features.forEach((feature, k) => {
        if (!this.rows[k]) this.rows[k] = this.make(k, feature.name);
      });
      const order = run.byImportance(at);
      if (String(order) !== String(this.order)) {
        this.order = order;
        const focused = document.activeElement;
        this.node.append(...order.map((k) => this.rows[k].row));
        if (this.node.contains(focused)) focused.focus({ preventScroll: true });
        this.filter();
      }
      const shown = ipdp.evenly(run.length, SPARK.points);
      const top = Math.max(...run.features.map((_, k) => (ipdp.extent(run.importance[k]) || [0, 0])[1]));
      run.features.forEach((_, k) => this.update(run, k, { at, chosen, shown, top: top || 1 }));
    }

    update(run, k, { at, chosen, shown, top }) {
      const { button, line, dot, value, name } = this.rows[k];
      const now = run.importanceAt(k, at);
      const x = (place) => 3 + (place / Math.max(run.length - 1, 1)) * (SPARK.width - 6);
      const y = (size) => SPARK.height - 3 - (size / top) * (SPARK.height - 6);
      line.setAttribute("d", path(shown.map(x), shown.map((place) => y(run.importance[k][place]))));
      if (Number.isFinite(now)) {
        dot.setAttribute("cx", x(Math.max(at, 0)));
        dot.setAttribute("cy", y(now));
      }
      ipdp.say(value, ipdp.brief(now));
      button.setAttribute("aria-current", String(k === chosen));
      button.setAttribute("aria-label", `${name}, importance ${ipdp.number(now)}`);
    }

    filter() {
      const wanted = this.search.value.trim().toLowerCase();
      for (const { row, name } of this.rows) row.hidden = !name.toLowerCase().includes(wanted);
      const n = this.visible.length;
      ipdp.say(this.count, wanted ? `${n} of ${ipdp.count(this.rows.length)}` : "");
    }

    /** Bring the chosen one into view, within its list only. */
    reveal(k) {
      if (this.rows[k]) this.rows[k].row.scrollIntoView({ block: "nearest" });
    }
  }
  ipdp.FeatureList = FeatureList;

  /** The curve before and after a change, small. */
  function thumbnail(change) {
    const { history } = change;
    const [output] = history.outputs;
    const drawing = element("svg", {
      class: "thumb", viewBox: `0 0 ${THUMB.width} ${THUMB.height}`, "aria-hidden": "true",
    });
    if (history.isPair) return drawing;
    const [low, high] = ipdp.padded(history.extent([output]), 0.05) || [0, 1];
    const categorical = history.dims[0].categorical;
    const names = categorical ? history.dims[0].categories : [];
    const span = categorical ? [-0.5, names.length - 0.5] : history.span(0) || [0, 1];
    const x = (value) => 4 + ((value - span[0]) / (span[1] - span[0] || 1)) * (THUMB.width - 8);
    const y = (value) => THUMB.height - 4 - ((value - low) / (high - low)) * (THUMB.height - 8);
    ["before", "after"].forEach((role, frame) => {
      const grid = history.dims[0].grid(frame);
      const ys = Array.from(history.average(frame, output) || [], y);
      if (categorical) {
        drawing.append(...grid.map((name, k) => element("circle", {
          class: role, cx: x(names.indexOf(name)), cy: ys[k], r: 3 })));
      } else {
        drawing.append(element("path", { class: role, d: path(Array.from(grid, x), ys), fill: "none" }));
      }
    });
    return drawing;
  }

  const KINDS = { real: "real", virtual: "virtual", both: "real and virtual", unclear: "unclear" };

  /** The changes, newest first. */
  class ChangeList {
    constructor(node, { count, choose }) {
      Object.assign(this, { node, count, choose });
      this.rows = new Map();
    }

    make(change) {
      const badge = element("span", { class: "badge", "data-kind": change.kind }, KINDS[change.kind]);
      const when = element("span", { class: "when" }, `at ${ipdp.count(change.n)}`);
      const sentence = element("span", { class: "sentence" }, change.sentence);
      const head = element("span", { class: "change-head" }, badge, when);
      const button = element("button", {
        type: "button", class: "change", "data-change": change.id, "aria-pressed": "false",
      }, head, sentence, thumbnail(change));
      button.addEventListener("click", () => this.choose(change.id));
      return element("li", {}, button);
    }

    clear() {
      this.rows.clear();
      this.node.replaceChildren();
    }

    draw(changes, chosen) {
      for (const change of changes) {
        if (this.rows.has(change.id)) continue;
        const row = this.make(change);
        this.rows.set(change.id, row);
        this.node.prepend(row);
      }
      for (const [id, row] of this.rows) {
        row.firstChild.setAttribute("aria-pressed", String(id === chosen));
      }
      ipdp.say(this.count, changes.length ? ipdp.count(changes.length) : "");
    }
  }
  ipdp.ChangeList = ChangeList;
})(window.ipdp);
