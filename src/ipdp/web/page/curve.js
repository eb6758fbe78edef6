"use strict";
// A feature's curve: of numbers, of categories, of a pair. Drawn from entries, each of them a frame
// of a history in a role: { history, frame, role, text, colour, dash }.

(function (ipdp) {
  /** The lines to draw: one for each entry and output, with its colour. */
  function strokes(entries, outputs) {
    const palette = ipdp.palette();
    return entries.flatMap((entry) =>
      outputs.map((output, k) => ({
        ...entry,
        output,
        colour: outputs.length > 1 ? palette[k % palette.length] : entry.colour,
        text: outputs.length > 1 ? `${ipdp.shorten(output, 24)}, ${entry.text}` : entry.text,
        average: entry.history.average(entry.frame, output),
        half: entry.history.half(entry.frame, output),
      })),
    ).filter((stroke) => stroke.average);
  }

  function hover(stroke, where, k) {
    const value = ipdp.number(stroke.average[k]);
    const half = Number.isFinite(stroke.half[k]) ? ` ± ${ipdp.number(stroke.half[k])}` : "";
    const thin = stroke.history.thin[stroke.frame];
    const note = thin && thin[k] ? "<br>few data here" : "";
    return `<b>${value}</b>${half}<br>at ${ipdp.plain(where)}<br>${ipdp.plain(stroke.text)}${note}`;
  }

  /** Neighbouring points whose band is known, as lists of their numbers. */
  function stretches({ average, half }) {
    const found = [[]];
    average.forEach((value, k) => {
      if (Number.isFinite(value + half[k])) found[found.length - 1].push(k);
      else if (found[found.length - 1].length) found.push([]);
    });
    return found.filter((places) => places.length);
  }

  /** The band: there and back again, broken where it is not known. */
  function band(stroke, grid) {
    const x = [];
    const y = [];
    for (const places of stretches(stroke)) {
      if (x.length) { x.push(null); y.push(null); }
      for (const [sign, along] of [[1, places], [-1, [...places].reverse()]]) {
        x.push(...along.map((k) => grid[k]));
        y.push(...along.map((k) => stroke.average[k] + sign * stroke.half[k]));
      }
    }
    return {
      type: "scatter", mode: "lines", x, y,
      fill: "toself", fillcolor: ipdp.fade(stroke.colour, 0.16), line: { width: 0 },
      hoverinfo: "skip", meta: { part: "band", role: stroke.role, output: stroke.output },
    };
  }

  function line(stroke, grid) {
    const points = grid.length <= 60;
    const thin = stroke.history.thin[stroke.frame];
    return {
      type: "scatter", mode: points ? "lines+markers" : "lines", x: grid, y: stroke.average,
      line: { color: stroke.colour, width: stroke.faint ? 1.5 : 2.5, dash: stroke.dash },
      marker: {
        color: stroke.colour, size: stroke.faint ? 4 : 6,
        opacity: thin ? Array.from(thin, (flag) => (flag ? 0.25 : 1)) : 1,
      },
      opacity: stroke.faint ? 0.7 : 1,
      text: Array.from(grid, (x, k) => hover(stroke, ipdp.number(x), k)), hoverinfo: "text",
      meta: { part: "line", role: stroke.role, output: stroke.output },
    };
  }

  /** The curves a while ago, ever fainter: where this one comes from. */
  function trail(entry, outputs) {
    const { history, frame } = entry;
    const step = Math.max(1, Math.round(history.length / 40));
    const past = [1, 2, 3, 4, 5].map((k) => frame - k * step).filter((at) => at >= 0);
    return past.map((at, k) => ({
      type: "scatter", mode: "lines", x: history.dims[0].grid(at),
      y: history.average(at, outputs[0]) || [], hoverinfo: "skip",
      line: { color: entry.colour, width: 1 }, opacity: 0.34 - 0.06 * k,
      meta: { part: "trail" },
    }));
  }

  /** The histogram of recent values, with bars at some places and of some widths. */
  function rug(entry, x, width) {
    return {
      type: "bar", x, y: entry.history.dims[0].rugs[entry.frame], width, yaxis: "y2",
      marker: { color: ipdp.token("muted"), opacity: 0.45, line: { width: 0 } }, hoverinfo: "skip",
      meta: { part: "rug" },
    };
  }

  /** The same along numbers. */
  function bars(entry) {
    const edges = Array.from(entry.history.dims[0].edges[entry.frame]);
    const pairs = edges.slice(1).map((right, k) => [edges[k], right]);
    return rug(entry, pairs.map(([left, right]) => (left + right) / 2),
      pairs.map(([left, right]) => right - left));
  }

  /** The point of missing values, beside the axis; null if nothing is known of it. */
  function missing(stroke, k) {
    const known = stroke.history.missingAt(stroke.frame, stroke.output);
    if (!known) return null;
    const { value, half } = known;
    return {
      type: "scatter", mode: "markers", x: [k], y: [value], xaxis: "x2",
      error_y: { type: "data", array: [half], color: stroke.colour, thickness: 1.5, width: 4 },
      marker: { color: stroke.colour, size: 8, symbol: "diamond" },
      text: [`<b>${ipdp.number(value)}</b> ± ${ipdp.number(half)}<br>where the value is ` +
        `missing<br>${ipdp.plain(stroke.text)}`],
      hoverinfo: "text", meta: { part: "missing", role: stroke.role, output: stroke.output },
    };
  }

  /** The frame around curves of one feature: axes, the strip under them, the missing values. */
  function frameOf(entries, outputs, titles, { strip, gaps, shapes }) {
    const range = ipdp.extent(entries.flatMap((entry) => entry.history.extent(outputs) || []));
    const [end, start] = ipdp.isWide() ? [0.93, 0.95] : [0.8, 0.86];
    const layout = ipdp.layout({
      xaxis: ipdp.axis({
        title: { text: ipdp.plain(ipdp.shorten(titles.x, ipdp.isWide() ? 60 : 32)) }, domain: [0, gaps ? end : 1],
      }),
      yaxis: ipdp.axis({
        title: { text: ipdp.plain(ipdp.shorten(titles.y, 32)) },
        domain: [strip ? 0.1 : 0, 1], range: ipdp.padded(range, 0.08),
      }),
      shapes,
      bargap: 0,
    });
    if (!range) {
      layout.annotations = [{ text: "nothing yet", xref: "paper", yref: "paper", x: 0.5, y: 0.5,
        showarrow: false, font: { color: ipdp.token("muted") } }];
    }
    if (strip) {
      layout.xaxis.anchor = "y2";
      layout.yaxis2 = ipdp.axis({
        domain: [0, 0.08], visible: false, fixedrange: true, rangemode: "tozero",
      });
    }
    if (gaps) {
      layout.xaxis2 = ipdp.axis({
        domain: [start, 1], tickvals: [0], ticktext: ["missing"], range: [-1, 1], fixedrange: true,
        showgrid: false, anchor: strip ? "y2" : "y",
      });
    }
    return layout;
  }

  function numbers(entries, outputs, titles, shade) {
    const lines = strokes(entries, outputs);
    const main = entries[entries.length - 1];
    const gaps = lines.map((stroke) => missing(stroke, 0)).filter(Boolean);
    const withTrail = entries.length === 1 && outputs.length === 1 && main.role === "now";
    const strip = (main.history.dims[0].rugs[main.frame] || []).length > 0;
    const shapes = (shade || []).length === 2
      ? [{ type: "rect", x0: shade[0], x1: shade[1], y0: 0, y1: 1, yref: "y domain", layer: "below",
        line: { width: 0 }, fillcolor: ipdp.fade(ipdp.token("after"), 0.09) }]
      : [];
    const layout = frameOf(entries, outputs, titles, { strip, gaps: gaps.length > 0, shapes });
    const spans = entries.map((entry) => entry.history.span(0)).filter(Boolean);
    layout.xaxis.range = ipdp.padded(ipdp.extent(spans.flat()), 0.03);
    const data = [
      ...(withTrail ? trail(main, outputs) : []),
      ...lines.map((stroke) => band(stroke, stroke.history.dims[0].grid(stroke.frame))),
      ...lines.map((stroke) => line(stroke, stroke.history.dims[0].grid(stroke.frame))),
      ...(strip ? [bars(main)] : []),
      ...gaps,
    ];
    return { data, layout };
  }

  function categories(entries, outputs, titles, shade) {
    const lines = strokes(entries, outputs);
    const main = entries[entries.length - 1];
    const all = [...new Set(entries.flatMap((entry) => entry.history.dims[0].categories))];
    const position = new Map(all.map((category, k) => [category, k]));
    const gaps = lines.map((stroke) => missing(stroke, 0)).filter(Boolean);
    const strip = (main.history.dims[0].rugs[main.frame] || []).some((count) => count > 0);
    const shapes = (shade || []).filter((name) => position.has(name)).map((name) => ({
      type: "rect", x0: position.get(name) - 0.45, x1: position.get(name) + 0.45, y0: 0, y1: 1,
      yref: "y domain", layer: "below", line: { width: 0 },
      fillcolor: ipdp.fade(ipdp.token("after"), 0.09),
    }));
    const layout = frameOf(entries, outputs, titles, { strip, gaps: gaps.length > 0, shapes });
    Object.assign(layout.xaxis, {
      tickvals: all.map((_, k) => k), range: [-0.6, all.length - 0.4],
      ticktext: all.map((name) => ipdp.plain(ipdp.shorten(name, all.length > 12 ? 8 : 16))),
    });
    const width = Math.min(0.6 / Math.max(lines.length, 1), 0.2);
    const points = lines.map((stroke, k) => {
      const names = stroke.history.dims[0].grid(stroke.frame);
      const shift = (k - (lines.length - 1) / 2) * width;
      return {
        type: "scatter", mode: "markers", x: names.map((name) => position.get(name) + shift),
        y: stroke.average, customdata: names,
        error_y: { type: "data", array: Array.from(stroke.half, (half) => half || 0),
          color: stroke.colour, thickness: 1.8, width: 0 },
        marker: { color: stroke.colour, size: 10, symbol: stroke.dash ? "circle-open" : "circle" },
        opacity: stroke.faint ? 0.7 : 1,
        text: names.map((name, at) => hover(stroke, name, at)), hoverinfo: "text",
        meta: { part: "line", role: stroke.role, output: stroke.output },
      };
    });
    const names = main.history.dims[0].grid(main.frame).map((name) => position.get(name));
    return { data: [...(strip ? [rug(main, names, 0.5)] : []), ...points, ...gaps], layout };
  }

  /** Where the values of an axis are drawn: categories one after the other. */
  function places(dimension, grid) {
    return Array.from(grid, (value, k) => (dimension.categorical ? k : value));
  }

  function surface(entry, output, range, at, title) {
    const { dims } = entry.history;
    const grids = dims.map((dimension) => dimension.grid(entry.frame));
    const average = entry.history.average(entry.frame, output) || [];
    const width = grids[1].length;
    return {
      type: dims.some((dimension) => dimension.categorical) ? "heatmap" : "contour",
      x: places(dims[0], grids[0]), y: places(dims[1], grids[1]),
      z: Array.from(grids[1], (_, j) => Array.from(grids[0], (__, i) => average[i * width + j])),
      zmin: range[0], zmax: range[1], zauto: false, ncontours: 14, colorscale: "Viridis",
      line: { width: 0 }, xaxis: `x${at}`, yaxis: `y${at}`,
      hovertemplate: "%{x}, %{y}<br><b>%{z:.4g}</b><extra></extra>",
      colorbar: ipdp.colourKey(ipdp.shorten(title, 32)),
      meta: { part: "pair", role: entry.role, output },
    };
  }

  /** The recent observations over a surface: where there are none, nobody has seen it. */
  function observations(entry, at) {
    const [x, y] = entry.history.dims.map((dimension) => dimension.rugs[entry.frame]);
    const known = x && y && x.length === y.length;
    return {
      type: "scatter", mode: "markers", x: known ? x : [], y: known ? y : [],
      xaxis: `x${at}`, yaxis: `y${at}`, hoverinfo: "skip",
      marker: { size: 5, color: "rgba(255,255,255,0.8)", line: { width: 1, color: "rgba(0,0,0,0.5)" } },
      meta: { part: "data", role: entry.role },
    };
  }

  function pairAxis(entry, k, name, nticks) {
    const dimension = entry.history.dims[k];
    const grid = dimension.grid(entry.frame);
    return {
      title: { text: ipdp.plain(ipdp.shorten(name, 30)) },
      showgrid: false,
      ...(dimension.categorical
        ? { tickvals: places(dimension, grid), range: [-0.5, grid.length - 0.5],
          ticktext: grid.map((category) => ipdp.plain(ipdp.shorten(category, 12))) }
        : { range: ipdp.padded(entry.history.span(k), 0), nticks }),
    };
  }

  /** A pair: one panel for each entry, all with the same colours. */
  function pair(entries, outputs, names, title) {
    const range = entries[0].history.extent([outputs[0]]) || [0, 1];
    const layout = ipdp.layout({ margin: { l: 8, r: 8, t: 26, b: 8 }, annotations: [] });
    const width = 1 / entries.length;
    const gap = ipdp.isWide() ? 0.05 : 0.08;
    const data = entries.flatMap((entry, k) => {
      const at = k ? String(k + 1) : "";
      const domain = [k * width + (k ? gap : 0), (k + 1) * width - 0.005];
      const x = pairAxis(entry, 0, names[0], ipdp.isWide() || entries.length < 2 ? 6 : 3);
      layout[`xaxis${at}`] = ipdp.axis({ ...x, domain, anchor: `y${at}` });
      // Numbers are along the same range in all panels, so the first one's are enough.
      const showticklabels = !k || entry.history.dims[1].categorical;
      const y = pairAxis(entry, 1, k ? "" : names[1], 6);
      layout[`yaxis${at}`] = ipdp.axis({ ...y, anchor: `x${at}`, showticklabels });
      layout.annotations.push({
        text: ipdp.plain(entry.text), x: domain[0], y: 1, xref: "paper", yref: "paper",
        xanchor: "left", yanchor: "bottom", showarrow: false, yshift: 4,
        font: { size: 12.5, color: ipdp.token("muted") },
      });
      const showscale = k === entries.length - 1;
      return [{ ...surface(entry, outputs[0], range, at, title), showscale }, observations(entry, at)];
    });
    return { data, layout };
  }

  /** The plot of some entries, which are all of one feature; `title` says what the outputs are. */
  ipdp.curveFigure = function (entries, outputs, names, title, shade) {
    const { history } = entries[0];
    if (history.isPair) return pair(entries, outputs, names, title);
    const draw = history.dims[0].categorical ? categories : numbers;
    return draw(entries, outputs, { x: names[0], y: title }, shade);
  };
})(window.ipdp);
