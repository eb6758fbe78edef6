"use strict";
// A feature's curve: of numbers, of categories, of a pair. Drawn from entries, each of them a frame
// of a history in a role: { history, frame, role, text, colour, dash }.

(function (ipdp) {
  /** Whether the curve of a time is not compared with others. */
  const isAlone = (entries) => entries.length === 1 && entries[0].role === "now";

  /** Whether the mean of past answers is drawn beside the model as it was at that time. */
  ipdp.hasPast = (entries, outputs) => isAlone(entries) && !entries[0].history.isPair &&
    outputs.some((output) => entries[0].history.past(entries[0].frame, output));

  /** The lines to draw: one for each entry and output, with its colour. */
  function strokes(entries, outputs) {
    const palette = ipdp.palette();
    return entries.flatMap((entry) =>
      outputs.map((output, k) => ({
        ...entry,
        output,
        grid: entry.history.dims[0].grid(entry.frame),
        thin: entry.history.thin[entry.frame],
        colour: outputs.length > 1 ? palette[k % palette.length] : entry.colour,
        text: outputs.length > 1 ? `${ipdp.shorten(output, 24)}, ${entry.text}` : entry.text,
        average: entry.history.average(entry.frame, output),
        half: entry.history.half(entry.frame, output),
        spread: entry.spread ? entry.history.spread(entry.frame, output) : null,
        past: isAlone(entries) ? entry.history.past(entry.frame, output) : null,
      })),
    ).filter((stroke) => stroke.average);
  }

  function hover(stroke, where, k) {
    const value = stroke.history.number(stroke.average[k]);
    const half = Number.isFinite(stroke.half[k]) ? ` ± ${stroke.history.number(stroke.half[k])}` : "";
    const note = stroke.thin && stroke.thin[k] ? "<br>few data here" : "";
    return `<b>${value}</b>${half}<br>at ${ipdp.plain(where)}<br>${ipdp.plain(stroke.text)}${note}`;
  }

  const band = (stroke) => ipdp.band(stroke.grid, stroke.average, stroke.half, stroke.colour, {
    meta: { part: "band", role: stroke.role, output: stroke.output },
  }, stroke.history.limits());

  /** The band of single observations: how much the effect differs between them. */
  const spread = (stroke, x) => {
    const meta = { part: "spread", role: stroke.role, output: stroke.output };
    const limits = stroke.history.limits();
    if (typeof stroke.grid[0] !== "string") {
      const fillcolor = ipdp.fade(stroke.colour, 0.09);
      return ipdp.band(x, stroke.average, stroke.spread, stroke.colour, { meta, fillcolor }, limits);
    }
    return {
      type: "scatter", mode: "markers", x, y: stroke.average, hoverinfo: "skip", meta,
      marker: { size: 0, opacity: 0 },
      error_y: { type: "data", array: Array.from(stroke.spread, (half) => half || 0),
        color: ipdp.fade(stroke.colour, 0.25), thickness: 12, width: 0 },
    };
  };

  function line(stroke) {
    const { grid, thin, colour, dash } = stroke;
    const opacity = thin ? Array.from(thin, (flag) => (flag ? 0.25 : 1)) : 1;
    return {
      type: "scatter", mode: grid.length > 60 ? "lines" : "lines+markers", x: grid,
      y: stroke.average, line: { color: colour, width: 2.5, dash },
      marker: { color: colour, size: 6, opacity },
      text: Array.from(grid, (x, k) => hover(stroke, stroke.history.dims[0].text(x, grid), k)), hoverinfo: "text",
      meta: { part: "line", role: stroke.role, output: stroke.output },
    };
  }

  /** What is left of the past in a smoothed curve: thin dashes; crosses at categories. */
  function past(stroke, x, several) {
    const colour = several ? stroke.colour : ipdp.token("muted");
    return {
      type: "scatter", mode: typeof stroke.grid[0] === "string" ? "markers" : "lines", x,
      y: stroke.past, line: { color: colour, width: 1.5, dash: "dash" },
      marker: { color: colour, size: 8, symbol: "x-thin-open" },
      text: Array.from(stroke.past, (y) => `<b>${ipdp.number(y)}</b><br>mean of past answers`),
      hoverinfo: "text", meta: { part: "past", role: stroke.role, output: stroke.output },
    };
  }

  /** The frames a while ago that are drawn as a trail. */
  function trailOf({ history, frame }) {
    const step = Math.max(1, Math.round(history.length / 40));
    return [1, 2, 3, 4, 5].map((k) => frame - k * step).filter((at) => at >= 0);
  }

  /** The curves a while ago, ever fainter: where this one comes from. */
  function trail(entry, outputs) {
    const { history } = entry;
    return trailOf(entry).map((at, k) => ({
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

  /** The point of missing values, beside the axis; null if nothing is known of it. */
  function missing(stroke) {
    const known = stroke.history.missingAt(stroke.frame, stroke.output);
    if (!known) return null;
    const { value, half } = known;
    return {
      type: "scatter", mode: "markers", x: [0], y: [value], xaxis: "x2",
      error_y: { type: "data", array: [half], color: stroke.colour, thickness: 1.5, width: 4 },
      marker: { color: stroke.colour, size: 8, symbol: "diamond" },
      text: [`<b>${ipdp.number(value)}</b> ± ${ipdp.number(half)}<br>where the value is ` +
        `missing<br>${ipdp.plain(stroke.text)}`],
      hoverinfo: "text", meta: { part: "missing", role: stroke.role, output: stroke.output },
    };
  }

  /** The frame around curves of one feature: axes, the strip under them, the missing values. */
  function frameOf(entries, outputs, titles, { strip, gaps, shaded }) {
    const { history } = entries[0];
    // What is shown decides, and no other time.
    const range = ipdp.rounded(ipdp.extent(entries.flatMap((entry) => [
      ...(entry.history.extent(outputs, [entry.frame]) || []),
      ...entry.history.bandExtent(outputs, entry.frame),
      ...(entry.spread ? entry.history.spreadExtent(outputs, entry.frame) : []),
    ])));
    const [end, start] = ipdp.isWide() ? [0.93, 0.95] : [0.8, 0.86];
    const shapes = shaded.map(([x0, x1]) => ({
      type: "rect", x0, x1, y0: 0, y1: 1, yref: "y domain", layer: "below", line: { width: 0 },
      fillcolor: ipdp.fade(ipdp.token("after"), 0.09),
    }));
    const layout = ipdp.layout({
      xaxis: ipdp.axis({
        title: { text: ipdp.label(titles.x, ipdp.isWide() ? 60 : 32) }, domain: [0, gaps ? end : 1],
      }),
      yaxis: ipdp.axis({
        title: { text: ipdp.label(titles.y, 44) }, tickformat: history.tickformat,
        domain: [strip ? 0.1 : 0, 1], range: ipdp.padded(range, 0.03),
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

  // Along numbers and along categories: what is drawn, how the axis is, the histogram of the values
  // at a time, and the stretches of the axis that are shaded.

  function alongNumbers(entries, outputs, lines, main, shade) {
    const withTrail = entries.length * outputs.length === 1 && main.role === "now";
    const edges = Array.from(main.history.dims[0].edges[main.frame]);
    const pairs = edges.slice(1).map((right, k) => [edges[k], right]);
    const range = ipdp.padded(ipdp.extent(entries.flatMap((entry) => entry.history.span(0, [entry.frame]) || [])), 0.03);
    const pasts = lines.filter((stroke) => stroke.past)
      .map((stroke) => past(stroke, stroke.grid, outputs.length > 1));
    const spreads = lines.filter((stroke) => stroke.spread).map((stroke) => spread(stroke, stroke.grid));
    return {
      data: [...(withTrail ? trail(main, outputs) : []), ...spreads, ...lines.map(band), ...pasts,
        ...lines.map(line)],
      axis: { range, ...main.history.dims[0].ticks(range, ipdp.isWide() ? 6 : 4) },
      bars: rug(main, pairs.map(([left, right]) => (left + right) / 2),
        pairs.map(([left, right]) => right - left)),
      shaded: shade,
    };
  }

  function alongCategories(entries, outputs, lines, main, shade) {
    const all = [...new Set(entries.flatMap((entry) => entry.history.dims[0].categories))];
    const position = new Map(all.map((category, k) => [category, k]));
    const width = Math.min(0.6 / Math.max(lines.length, 1), 0.2);
    const data = lines.flatMap((stroke, k) => {
      const shift = (k - (lines.length - 1) / 2) * width;
      const x = stroke.grid.map((name) => position.get(name) + shift);
      const own = {
        type: "scatter", mode: "markers", y: stroke.average, customdata: stroke.grid, x,
        error_y: { type: "data", array: Array.from(stroke.half, (half) => half || 0),
          color: stroke.colour, thickness: 1.8, width: 0 },
        marker: { color: stroke.colour, size: 10, symbol: stroke.dash ? "circle-open" : "circle" },
        text: stroke.grid.map((name, at) => hover(stroke, name, at)), hoverinfo: "text",
        meta: { part: "line", role: stroke.role, output: stroke.output },
      };
      const wide = stroke.spread ? [spread(stroke, x)] : [];
      return stroke.past ? [...wide, past(stroke, x, outputs.length > 1), own] : [...wide, own];
    });
    const names = main.history.dims[0].grid(main.frame);
    return {
      data,
      axis: {
        tickvals: [...all.keys()], range: [-0.6, all.length - 0.4],
        ticktext: all.map((name) => ipdp.label(name, all.length > 12 ? 8 : 16)),
      },
      bars: rug(main, names.map((name) => position.get(name)), 0.5),
      shaded: shade.filter((name) => position.has(name))
        .map((name) => [position.get(name) - 0.45, position.get(name) + 0.45]),
    };
  }

  /** A single feature: its curves, the histogram under them and the missing values beside them. */
  function single(entries, outputs, titles, shade) {
    const lines = strokes(entries, outputs);
    const main = entries[entries.length - 1];
    const [dimension] = main.history.dims;
    const along = dimension.categorical ? alongCategories : alongNumbers;
    const { data, axis, bars, shaded } = along(entries, outputs, lines, main, shade);
    const points = lines.map(missing).filter(Boolean);
    const strip = dimension.rugs[main.frame].some((count) => count > 0);
    const layout = frameOf(entries, outputs, titles, { strip, gaps: points.length > 0, shaded });
    Object.assign(layout.xaxis, axis);
    return { data: [...data, ...(strip ? [bars] : []), ...points], layout };
  }

  /** Where the values of an axis are drawn: categories one after the other. */
  function places(dimension, grid) {
    return Array.from(grid, (value, k) => (dimension.categorical ? k : value));
  }

  const placeText = (dimension, value, grid) => ipdp.plain(dimension.text(value, grid));

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
      text: Array.from(grids[1], (y, j) => Array.from(grids[0], (x, i) =>
        `${placeText(dims[0], x, grids[0])}, ${placeText(dims[1], y, grids[1])}<br>` +
        `<b>${entry.history.number(average[i * width + j])}</b>`)),
      hoverinfo: "text",
      colorbar: ipdp.colourKey(title),
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
      title: { text: ipdp.label(name, 30) },
      showgrid: false,
      ...(dimension.categorical
        ? { tickvals: places(dimension, grid), range: [-0.5, grid.length - 0.5],
          ticktext: grid.map((category) => ipdp.label(category, 12)) }
        : { range: ipdp.padded(entry.history.span(k), 0), nticks,
          ...dimension.ticks(entry.history.span(k), nticks) }),
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

  /** The plot of some entries, which are all of one feature. */
  ipdp.curveFigure = function (entries, outputs, names, shade) {
    const { history } = entries[0];
    const title = history.title(outputs);
    if (history.isPair) return pair(entries, outputs, names, title);
    return single(entries, outputs, { x: names[0], y: title }, shade);
  };
})(window.ipdp);
