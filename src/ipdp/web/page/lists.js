"use strict";
// What stands beside the plots: the features with their importance, the changes with their curves,
// and what is said about the curve.

(function (ipdp) {
  const { element, find, say } = ipdp;
  const SPARK = { width: 72, height: 22, points: 60 };
  const THUMB = { width: 104, height: 44 };

  const drawing = (name, { width, height }, ...parts) => element("svg", {
    class: name, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" }, ...parts);

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

  /** A name in parts between which a line may end: rather after an underscore than within a word. */
  const breakable = (name) => name.split(/(?<=[_.\-])(?=.)/).flatMap((part, k) => (
    k ? [element("wbr"), part] : [part]));

  /** The features: made once each, then only what differs is changed. */
  ipdp.FeatureList = class {
    constructor(choose) {
      const search = find("search");
      Object.assign(this, { node: find("features"), search, choose, rows: [], order: [] });
      search.addEventListener("input", () => this.filter());
      search.addEventListener("keydown", (event) => {
        if (event.key === "Enter" && this.visible.length) this.choose(this.visible[0]);
        if (event.key === "Escape") { search.value = ""; this.filter(); search.blur(); }
      });
    }

    make(k, { name, part_of: whole }) {
      const line = element("path", { class: "spark-line", fill: "none" });
      const dot = element("circle", { class: "spark-dot" });
      const spark = drawing("spark", SPARK, line, dot);
      const value = element("span", { class: "value" });
      const label = element("span", { class: "name", title: name }, ...breakable(name));
      const button = element("button", { type: "button", class: "feature", "data-feature": k },
        label, spark, value);
      button.addEventListener("click", () => this.choose(k));
      const row = element("li", {}, button);
      return { row, button, line, dot, value, name, whole };
    }

    /** The features in order, as far as the search lets them through. */
    get visible() {
      return this.order.filter((k) => !this.rows[k].row.hidden);
    }

    draw(run, chosen, at) {
      run.features.forEach((feature, k) => {
        if (!this.rows[k]) this.rows[k] = this.make(k, feature);
      });
      const order = run.byImportance(at);
      const open = this.rows[chosen].whole ?? chosen;
      if (String(order) !== String(this.order) || open !== this.open) {
        this.open = open;
        this.order = order;
        const focused = document.activeElement;
        this.node.append(...order.map((k) => this.rows[k].row));
        if (this.node.contains(focused)) focused.focus({ preventScroll: true });
        this.filter();
      }
      const shown = ipdp.evenly(run.length, SPARK.points);
      const ends = run.importance.flatMap((row) => ipdp.extent(row || []) || []);
      const [low, high] = ipdp.extent([0, ...ends]);
      const scale = (value) => (value - low) / (high - low || 1);
      run.features.forEach((_, k) => this.update(run, k, { at, chosen, shown, scale }));
    }

    update(run, k, { at, chosen, shown, scale }) {
      const { button, line, dot, value } = this.rows[k];
      const now = run.importanceAt(k, at);
      const x = (place) => 3 + (place / Math.max(run.length - 1, 1)) * (SPARK.width - 6);
      const y = (size) => SPARK.height - 3 - scale(size) * (SPARK.height - 6);
      const row = run.importance[k] || [];
      line.setAttribute("d", path(shown.map(x), shown.map((place) => y(row[place]))));
      const known = Number.isFinite(now);
      const place = { cx: x(at), cy: y(known ? now : 0), r: known ? 2 : 0 };
      for (const [name, number] of Object.entries(place)) dot.setAttribute(name, number);
      say(value, ipdp.brief(now));
      button.setAttribute("aria-current", String(k === chosen));
      button.setAttribute("aria-label", `${this.rows[k].name}, ${run.by.measure} ${ipdp.number(now)}`);
    }

    filter() {
      const wanted = this.search.value.trim().toLowerCase();
      for (const { row, name, whole } of this.rows) {
        // Of many groups nobody reads all: those of the feature that is looked at.
        const isClosed = !wanted && whole !== null && whole !== this.open;
        row.hidden = isClosed || !name.toLowerCase().includes(wanted);
      }
      const n = this.visible.length;
      say(find("found"), wanted ? `${n} of ${ipdp.count(this.rows.length)}` : "");
    }

    /** Bring the chosen one into view, within its list only. */
    reveal(k) {
      this.rows[k].row.scrollIntoView({ block: "nearest" });
    }
  };

  /** The curve before and after a change, small. */
  function thumbnail(change) {
    const { history } = change;
    const [output] = history.outputs;
    const thumb = drawing("thumb", THUMB);
    if (history.isPair) return thumb;
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
        thumb.append(...grid.map((name, k) => element("circle", {
          class: role, cx: x(names.indexOf(name)), cy: ys[k], r: 3 })));
      } else {
        thumb.append(element("path", { class: role, d: path(Array.from(grid, x), ys), fill: "none" }));
      }
    });
    return thumb;
  }

  const KINDS = {
    real: "model", virtual: "data", both: "model and data", unclear: "model, perhaps",
  };

  /** The changes, newest first: those of the model, and folded those of the data. */
  ipdp.ChangeList = class {
    constructor(choose) {
      Object.assign(this, { model: find("changes"), data: find("data-changes"), choose, rows: new Map() });
    }

    make(change, run) {
      const badge = element("span", { class: "badge", "data-kind": change.kind }, KINDS[change.kind]);
      const when = element("span", { class: "when" }, `at ${run.when(change.n)}`);
      const sentence = element("span", { class: "sentence" }, change.short);
      const head = element("span", { class: "change-head" }, badge, when);
      const button = element("button", {
        type: "button", class: "change", "data-change": change.id, "aria-pressed": "false",
      }, head, sentence, thumbnail(change));
      button.addEventListener("click", () => this.choose(change.id));
      return element("li", {}, button);
    }

    clear() {
      this.rows.clear();
      this.model.replaceChildren();
      this.data.replaceChildren();
    }

    draw(run, chosen) {
      const { changes } = run;
      for (const change of changes) {
        if (this.rows.has(change.id)) continue;
        const row = this.make(change, run);
        this.rows.set(change.id, row);
        (change.kind === "virtual" ? this.data : this.model).prepend(row);
      }
      for (const [id, row] of this.rows) {
        row.firstChild.setAttribute("aria-pressed", String(id === chosen));
      }
      const moves = changes.filter(({ kind }) => kind === "virtual");
      say(find("changes-count"), changes.length > moves.length ? ipdp.count(changes.length - moves.length) : "");
      say(find("moves-count"), ipdp.count(moves.length));
      find("moves").hidden = !moves.length;
      // A chosen one is seen, not folded away.
      if (moves.some(({ id }) => id === chosen)) find("moves").open = true;
    }
  };

  /** Where two frames differ most, and by how much; null if they share no place. */
  function difference(first, second, output) {
    const [dimension] = second.history.dims;
    const grids = [first, second].map((entry) => entry.history.dims[0].grid(entry.frame));
    const values = [first, second].map((entry) => entry.history.average(entry.frame, output));
    if (!values[0] || !values[1]) return null;
    let best = null;
    grids[1].forEach((place, k) => {
      const before = dimension.categorical
        ? values[0][grids[0].indexOf(place)]
        : ipdp.interpolate(grids[0], values[0], place);
      const by = values[1][k] - before;
      if (Number.isFinite(by) && (!best || Math.abs(by) > Math.abs(best.by))) best = { place, by };
    });
    return best;
  }

  function compared(page, [first, second], output) {
    const most = difference(first, second, output);
    const [from, to] = [first, second].map(({ role }) => (role === "now" ? "now" : role.toUpperCase()));
    if (!most) return `${from} and ${to} share no place on the axis.`;
    const [dimension] = second.history.dims;
    const place = dimension.text(most.place, dimension.categorical ? null : dimension.grid(second.frame));
    const by = `${most.by > 0 ? "+" : ""}${ipdp.number(most.by)}`;
    const name = ipdp.shorten(page.run.features[page.state.feature].name, 40);
    return `From ${from} to ${to} the curve moved most at ${name} = ${place}: by ${by}.`;
  }

  /** How much the feature matters at this time, and as which of all of them. */
  ipdp.importanceText = function ({ run, state }) {
    const { measure } = run.by;
    const rank = run.byImportance(state.at).indexOf(state.feature) + 1;
    const value = ipdp.number(run.importanceAt(state.feature, state.at));
    return `${measure.charAt(0).toUpperCase()}${measure.slice(1)} ${value}, ` +
      `number ${rank} of ${run.features.length}.`;
  };

  function caption(page, entries, outputs) {
    if (page.change) return page.change.sentence;
    const comparable = entries.length > 1 && outputs.length === 1 && !page.history.isPair;
    if (entries.length === 2 && entries[0].role === "ale") {
      return (outputs.length === 1 && page.history.sentences[entries[0].frame][outputs[0]]) || "";
    }
    if (entries.length > 1 && page.compare.sentence()) return page.compare.sentence();
    if (comparable) return compared(page, entries, outputs[0]);
    if (!entries.length) return "This feature has no curve yet at this time.";
    const isNewest = entries[0].frame === page.history.length - 1;
    const asFirst = page.chosenAsMain(outputs) && page.run.by === page.run.shown;
    if (isNewest && page.history.belief && asFirst) return page.history.belief;
    const n = page.history.nEffective[entries[0].frame];
    return `${ipdp.importanceText(page)} Worth about ${ipdp.counted(n, "independent observation")}.`;
  }

  /** What a point of the line is. */
  function meaning(page, outputs) {
    const { history, run, state } = page;
    if (page.change) return "Both lines are the model's average answers about the same cases, before and after.";
    if (history.isPair) return "The colour is the average answer of the model if every case had these two values.";
    const name = ipdp.shorten(run.features[state.feature].name, 40);
    const title = outputs.length > 1 ? history.several : history.title(outputs);
    if (history.beside) {
      return `Both say what ${name} does: the PDP if every case had this value, the ALE from one value ` +
        "to the next, close to the data.";
    }
    if (history.relative) return `The line is the ${title}, as ${name} goes from value to value, close to the data.`;
    return `The line is the ${title} that the model gives on average if every case had this ${name} ` +
      "and all else stayed as it is.";
  }

  function chip(page, entry) {
    const dot = element("span", { class: "swatch", "data-role": entry.role });
    const text = element("span", {}, entry.role === "now" ? `now, ${entry.text}` : entry.text);
    const pinned = ["a", "b"].includes(entry.role);
    if (!pinned) return element("span", { class: "chip" }, dot, text);
    const name = entry.role.toUpperCase();
    const button = element("button", {
      type: "button", class: "chip", "aria-label": `${entry.text}: let go of ${name}`,
    }, dot, text, element("span", { class: "cross", "aria-hidden": "true" }, "×"));
    button.addEventListener("click", () => page.show({ [entry.role]: null }));
    return button;
  }

  function outputChips(outputs) {
    const palette = ipdp.palette();
    return outputs.map((output, k) => {
      const dot = element("span", { class: "swatch" });
      dot.style.background = palette[k % palette.length];
      return element("span", { class: "chip" }, dot, ipdp.shorten(output, 32));
    });
  }

  /** What the two lines are where the mean of past answers is drawn beside the model as it is. */
  function pastChips(outputs) {
    const dashes = element("span", { class: "dashes", "aria-hidden": "true" });
    const chips = [element("span", { class: "chip" }, dashes, "mean of past answers")];
    if (outputs.length > 1) return chips;
    const dot = element("span", { class: "swatch", "data-role": "now" });
    return [element("span", { class: "chip" }, dot, "model at this time"), ...chips];
  }

  /** What the light band around a curve is. */
  function spreadChip() {
    const patch = element("span", { class: "patch", "aria-hidden": "true" });
    return element("span", { class: "chip" }, patch, "single observations (± 1 sd)");
  }

  /** The switch for the band of single observations, where they are known. */
  function offerSpread(page, entries, outputs) {
    const button = find("spread");
    const known = !page.change && entries.some(({ history, frame }) =>
      !history.isPair && outputs.some((output) => history.spread(frame, output)));
    button.hidden = !known || entries.some(({ role }) => ["a", "b"].includes(role));
    button.setAttribute("aria-pressed", String(page.showsSpread));
  }

  /** What a list offers, as [value, text], and which of them is chosen. */
  ipdp.offer = function (select, choices, value) {
    const key = JSON.stringify(choices);
    if (select.dataset.choices !== key) {
      select.dataset.choices = key;
      select.replaceChildren(...choices.map(([one, text]) =>
        element("option", { value: one }, ipdp.shorten(text, 40))));
    }
    if (select.value !== value) select.value = value;
  };

  /** The outputs to choose from, as far as they are known. */
  function offerOutputs(page, history, shown) {
    const all = history.outputs;
    const choices = all.map((output) => [output, output]);
    if (all.length > 1 && !history.isPair) choices.push(["*", "all"]);
    find("output-label").hidden = all.length < 2 || Boolean(page.change);
    ipdp.offer(find("output"), choices, shown.length > 1 ? "*" : shown[0]);
  }

  /** The explainers to choose from, where there are several: of curves, and of importances. */
  ipdp.offerExplainers = function ({ run, change }) {
    const curves = run.curved.map((one) => [one.name, one.text]);
    const measures = run.measuring.map((one) => [one.name, one.measureText]);
    find("explainer-label").hidden = run.curved.length < 2 || Boolean(change);
    if (run.shown) ipdp.offer(find("explainer"), curves, run.shown.name);
    for (const label of document.querySelectorAll(".by")) {
      label.hidden = run.measuring.length < 2;
      if (run.by) ipdp.offer(label.querySelector("select"), measures, run.by.name);
    }
  };

  /** Say what the curve's plot shows. */
  ipdp.describe = function (page, entries, outputs) {
    const said = caption(page, entries, outputs);
    say(find("caption"), said);
    say(find("meaning"), meaning(page, outputs));
    find("back").hidden = !page.change;
    const chips = [
      ...(outputs.length > 1 ? outputChips(outputs) : []),
      ...(entries.length > 1 ? entries.map((entry) => chip(page, entry)) : []),
      ...(ipdp.hasPast(entries, outputs) ? pastChips(outputs) : []),
      ...(entries.some((entry) => entry.spread && outputs.some((output) =>
        entry.history.spread(entry.frame, output))) ? [spreadChip()] : []),
    ];
    offerSpread(page, entries, outputs);
    const key = JSON.stringify(chips.map((node) => node.textContent)) + entries.map((e) => e.role);
    const legend = find("legend");
    if (legend.dataset.key !== key) {
      legend.dataset.key = key;
      legend.replaceChildren(...chips);
    }
    offerOutputs(page, page.history, page.outputs(page.history));
    const name = page.run.features[page.state.feature].name;
    find("curve").setAttribute("aria-label",
      `The effect of ${name} (${page.run.shown.title}) after ` +
      `${ipdp.counted(page.now, "observation")}. ${said}`);
  };

  /** Put drawings that the server made, as SVG, in the place of those that were there. */
  ipdp.picture = function (node, drawings) {
    const key = drawings.join("");
    if (node.dataset.key === key) return;
    node.dataset.key = key;
    const parsed = new DOMParser().parseFromString(key, "text/html");
    node.replaceChildren(...parsed.body.children);
  };

  /** The heat map of interactions, where the run has searched for them. */
  ipdp.drawPairs = function ({ interactions }) {
    const [drawing, said] = interactions || [];
    find("pairs-card").hidden = !drawing;
    ipdp.picture(find("pairs"), drawing ? [drawing] : []);
    say(find("pairs-said"), said || "");
  };

  /** The settings of a run as a list of names and values, whatever is nested flattened. */
  ipdp.facts = function (settings) {
    const rows = [];
    const walk = (value, name) => {
      if (value && typeof value === "object" && !Array.isArray(value)) {
        for (const [key, inner] of Object.entries(value)) walk(inner, name ? `${name}.${key}` : key);
      } else if (value !== null) {
        rows.push([name, typeof value === "string" ? value : JSON.stringify(value)]);
      }
    };
    walk(settings, "");
    return rows.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]);
  };
})(window.ipdp);
