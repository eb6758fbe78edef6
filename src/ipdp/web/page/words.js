"use strict";
// What the page says about the curve: its legend, its caption, and what a screen reader hears.

(function (ipdp) {
  const { element, find, say } = ipdp;

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
  ipdp.difference = difference;

  function compared(page, entries, output) {
    const [first, second] = entries;
    const most = difference(first, second, output);
    const names = [first, second].map(({ role }) => (role === "now" ? "now" : role.toUpperCase()));
    if (!most) return `${names[0]} and ${names[1]} share no place on the axis.`;
    const place = typeof most.place === "number" ? ipdp.number(most.place) : most.place;
    const sign = most.by > 0 ? "+" : "";
    const name = ipdp.shorten(page.run.features[page.state.feature].name, 40);
    return `From ${names[0]} to ${names[1]} the curve moved most at ${name} = ${place}: ` +
      `by ${sign}${ipdp.number(most.by)}.`;
  }

  function caption(page, entries, outputs) {
    if (page.change) return page.change.sentence;
    const comparable = entries.length > 1 && outputs.length === 1 && !page.history.isPair;
    if (comparable) return compared(page, entries, outputs[0]);
    if (!entries.length) return "";
    const { run, state, history } = page;
    const rank = run.byImportance(state.at).indexOf(state.feature) + 1;
    const n = history.nEffective[entries[0].frame];
    return `Importance ${ipdp.number(run.importanceAt(state.feature, state.at))}, ` +
      `number ${rank} of ${run.features.length}. Rests on about ${ipdp.counted(n, "observation")}.`;
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

  /** The outputs to choose from, as far as they are known. */
  function offer(page, history, shown) {
    const select = find("output");
    const all = history.outputs;
    const choices = [...all, ...(all.length > 1 && !history.isPair ? ["*"] : [])];
    find("output-label").hidden = all.length < 2 || Boolean(page.change);
    if (select.dataset.choices !== JSON.stringify(choices)) {
      select.dataset.choices = JSON.stringify(choices);
      select.replaceChildren(...choices.map((output) => element("option", { value: output },
        output === "*" ? "all" : ipdp.shorten(output, 40))));
    }
    const value = shown.length > 1 ? "*" : shown[0];
    if (select.value !== value) select.value = value;
  }

  /** Say what the curve's plot shows. */
  ipdp.describe = function (page, entries, outputs) {
    const said = caption(page, entries, outputs);
    say(find("caption"), said);
    find("back").hidden = !page.change;
    const chips = [
      ...(outputs.length > 1 ? outputChips(outputs) : []),
      ...(entries.length > 1 ? entries.map((entry) => chip(page, entry)) : []),
    ];
    const key = JSON.stringify(chips.map((node) => node.textContent)) + entries.map((e) => e.role);
    const legend = find("legend");
    if (legend.dataset.key !== key) {
      legend.dataset.key = key;
      legend.replaceChildren(...chips);
    }
    offer(page, page.history, page.outputs(page.history));
    const name = page.run.features[page.state.feature].name;
    find("curve").setAttribute("aria-label",
      `Partial dependence on ${name} after ${ipdp.counted(page.now, "observation")}. ${said}`);
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
