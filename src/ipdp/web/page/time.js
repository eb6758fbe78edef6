"use strict";
// What happened over time: the carpet of one feature, and the timeline of the run.

(function (ipdp) {
  const COLUMNS = 400; // snapshots in the carpet
  const POINTS = 500; // ... in a line of the timeline
  const ROWS = 80;
  const LABELS = 12; // names of categories that have room beside the carpet
  const LINES = 8;
  // The same for both, so that their times are one above the other.
  const MARGIN = { l: 64, r: 82, t: 8, b: 8 };

  /** Positions of at most so many items, evenly, the last one always among them. */
  const within = (shown) => (n) => !shown || (n >= shown[0] && n <= shown[1]);

  function evenly(length, limit) {
    if (length <= limit) return Array.from({ length }, (_, k) => k);
    return Array.from({ length: limit }, (_, k) => Math.round((k * (length - 1)) / (limit - 1)));
  }
  ipdp.evenly = evenly;

  /** Where the cells of a carpet are; of a single one its borders, or it would be a hair's width. */
  const borders = (middles) =>
    (middles.length === 1 ? ipdp.padded([middles[0], middles[0]], 0.5) : middles);

  /** The axis of time: from the start to now; around the only snapshot where there is one. */
  function timeAxis(n, until, { shown, clock, ...more } = {}) {
    const range = shown || (n.length === 1 ? borders(n) : [0, Math.max(until, 1)]);
    const most = ipdp.isWide() ? 4 : 2; // dates that have room
    const place = (_, k) => range[0] + ((k + 0.5) / most) * (range[1] - range[0]);
    const ticks = clock && n.length > 1 ? Array.from({ length: most }, place) : null;
    return ipdp.axis({
      title: { text: ticks ? "time of the data (UTC)" : "observations" }, tickformat: ",", range,
      ...(ticks && { tickvals: ticks, ticktext: ticks.map(clock) }),
      ...(n.length === 1 && { tickvals: [n[0]] }), ...more,
    });
  }

  /** A time in words: the count of observations, and the date where the data have a clock. */
  const timeOf = (n, clock) => `${clock ? `${clock(n)}, ` : ""}${ipdp.count(n)} observations`;

  /** What a curve is above and below its own mean: a level that moves is no other effect. */
  function centred(values) {
    const known = values ? Array.from(values).filter(Number.isFinite) : [];
    if (!known.length) return null;
    const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
    return Array.from(values, (value) => value - mean);
  }

  function numericCarpet(history, output, frames) {
    const dimension = history.dims[0];
    const span = history.usualSpan(0, frames) || [0, 1];
    const grids = new Set(frames.map((frame) => dimension.grid(frame)));
    // One grid for all: its own points (a constant has one value several times); otherwise each
    // curve is read off on common ones.
    const y = grids.size === 1 || span[0] === span[1]
      ? [...new Set([...grids][0])]
      : Array.from({ length: ROWS }, (_, k) => span[0] + ((span[1] - span[0]) * k) / (ROWS - 1));
    const z = y.map(() => new Array(frames.length));
    frames.forEach((frame, column) => {
      const grid = dimension.grid(frame);
      const effect = centred(history.average(frame, output));
      y.forEach((value, row) => {
        z[row][column] = effect ? ipdp.interpolate(grid, effect, value) : NaN;
      });
    });
    return { y: borders(y), z, axis: dimension.ticks(span), names: y.map((value) => dimension.text(value, y)) };
  }

  function categoricalCarpet(history, output, frames) {
    const names = history.dims[0].categories;
    const row = new Map(names.map((name, k) => [name, k]));
    const z = names.map(() => new Array(frames.length).fill(NaN));
    frames.forEach((frame, column) => {
      const effect = centred(history.average(frame, output));
      if (!effect) return;
      history.dims[0].grid(frame).forEach((name, k) => { z[row.get(name)][column] = effect[k]; });
    });
    const shown = evenly(names.length, LABELS);
    const axis = { tickvals: shown, ticktext: shown.map((k) => ipdp.label(names[k], 12)) };
    return { y: names.map((_, k) => k), z, axis, names };
  }

  /** The effect over time: time along x, the feature's value along y, colour the effect. */
  ipdp.carpetFigure = function (history, output, { name, now, until, changes, shown, clock }) {
    const inside = history.frames.filter((frame) => within(shown)(history.n[frame]));
    const frames = evenly(inside.length, COLUMNS).map((k) => inside[k]);
    const build = history.dims[0].categorical ? categoricalCarpet : numericCarpet;
    const { y, z, axis, names } = build(history, output, frames);
    const reach = Math.max(...(ipdp.extent(z.flat()) || [0]).map(Math.abs)) || 1;
    const against = (value) => `${value > 0 ? "+" : ""}${(history.chances ? ipdp.percent : ipdp.number)(value)}`;
    const times = frames.map((frame) => timeOf(history.n[frame], clock));
    const places = names.map((name) => `<br>at ${ipdp.label(name, 40)}<br><b>`);
    const text = z.map((row, k) => Array.from(row, (value, column) =>
      `${times[column]}${places[k]}${against(value)}</b> against its mean`));
    const sign = history.chances ? "+.0%" : "+.3";
    return {
      data: [{
        type: "heatmap", x: borders(frames.map((frame) => history.n[frame])), y, z,
        text, zmin: -reach, zmax: reach, zauto: false, hoverongaps: false,
        colorscale: [[0, ipdp.token("c1")], [0.5, ipdp.token("surface")], [1, ipdp.token("kind-real")]],
        hoverinfo: "text",
        colorbar: { ...ipdp.colourKey(""), tickformat: sign, nticks: 5 },
        meta: { part: "carpet", output },
      }],
      layout: ipdp.layout({
        xaxis: timeAxis(history.n, until, { showgrid: false, shown, clock }),
        plot_bgcolor: ipdp.token("wash"),
        yaxis: ipdp.axis({ title: { text: ipdp.label(name, 30) }, showgrid: false, ...axis }),
        shapes: [ipdp.moment(now, ipdp.token("ink")), ...changes.flatMap(({ n, kind }) => [
          ipdp.moment(n, ipdp.fade(ipdp.token("surface"), 0.75), { width: 3 }),
          ipdp.moment(n, ipdp.token(`kind-${kind}`), { dash: "dot" }),
        ])],
        margin: MARGIN,
      }),
    };
  };

  /** A line of the timeline: numbers at some times, with what is said of each before its value. */
  function line(n, value, text, { shown, clock, ...more }) {
    const inside = n.map((_, k) => k).filter((k) => within(shown)(n[k]));
    const kept = evenly(inside.length, POINTS).map((k) => inside[k]);
    const x = kept.map((k) => n[k]);
    return {
      // A line has nothing to show of a single point, so that gets a mark.
      type: "scatter", mode: x.length === 1 ? "markers" : "lines", x,
      y: kept.map((k) => value[k]),
      text: kept.map((k) => `${text} ${ipdp.number(value[k])}<br>${timeOf(n[k], clock)}`),
      hoverinfo: "text", ...more,
    };
  }

  /** Importance of the features that matter most, the chosen one before all others. */
  function importanceLines(run, chosen, { yaxis, shown }) {
    const { by, clock } = run;
    const others = run.byImportance().slice(0, LINES).filter((k) => k !== chosen);
    const lines = [...others.reverse(), chosen].filter((k) => run.importance[k]).map((k) => {
      const own = k === chosen;
      const text = `<b>${ipdp.label(run.features[k].name, 40)}</b><br>${ipdp.plain(by.measure)}`;
      return line(run.n, run.importance[k], text, {
        yaxis, shown, clock, line: { color: ipdp.token(own ? "now" : "quiet"), width: own ? 2.5 : 1.2 },
        marker: { size: own ? 8 : 6 }, meta: { part: "importance", feature: k },
      });
    });
    const series = by.curves ? undefined : by.histories.get(chosen);
    if (!series) return lines;
    const kept = evenly(series.length, POINTS);
    const [n, value, half] = [series.n, series.value, series.half].map((all) => kept.map((k) => all[k]));
    const meta = { part: "importance band", feature: chosen };
    return [ipdp.band(n, value, half, ipdp.token("now"), { yaxis, meta }), ...lines];
  }

  /** One mark for each change, under the lines, with its sentence. */
  function marks(changes) {
    return {
      type: "scatter", mode: "markers", x: changes.map((change) => change.n),
      y: changes.map(() => 0), yaxis: "y",
      marker: { symbol: "triangle-up", size: 11, line: { width: 0 },
        color: changes.map((change) => ipdp.token(`kind-${change.kind}`)) },
      text: changes.map((change) => wrapped(change.sentence)), hoverinfo: "text",
      customdata: changes.map((change) => change.id), cliponaxis: false,
      meta: { part: "changes" },
    };
  }

  function wrapped(sentence, width = 56) {
    const lines = [""];
    for (const word of ipdp.shorten(sentence, 240).split(" ")) {
      if (`${lines[lines.length - 1]} ${word}`.trim().length > width) lines.push("");
      lines.push(`${lines.pop()} ${word}`.trim());
    }
    return lines.filter(Boolean).map(ipdp.plain).join("<br>");
  }

  /** Metrics above, importance below, the changes at the foot. */
  ipdp.timelineFigure = function (run, chosen, { now, shown }) {
    const names = [...run.metrics.keys()].filter((name) => run.metrics.get(name).n.length).slice(0, 3);
    const share = names.length ? 0.92 / (names.length + 1.6) : 0;
    const foot = run.changes.length ? 0.07 : 0;
    const top = 1 - share * names.length - (names.length ? 0.02 : 0);
    const layout = ipdp.layout({
      margin: MARGIN,
      xaxis: timeAxis(run.n, run.until, { shown, clock: run.clock }),
      yaxis: ipdp.axis({ domain: [0, Math.max(foot, 0.01)], visible: false, range: [-1, 1],
        fixedrange: true }),
      // Zero is always in sight: below it the model does better without the feature.
      yaxis2: ipdp.axis({ domain: [foot, top], nticks: 5, rangemode: "tozero",
        title: { text: wrapped(ipdp.shorten(run.by.measure, 36), 14) },
        zeroline: true, zerolinecolor: ipdp.token("line") }),
      shapes: [ipdp.moment(now, ipdp.token("ink")), ...run.changes.map(({ n, kind }) =>
        ipdp.moment(n, ipdp.token(`kind-${kind}`), { width: 1, dash: "dot", layer: "below" }))],
    });
    layout.xaxis.anchor = "y";
    const data = importanceLines(run, chosen, { yaxis: "y2", shown });
    names.forEach((name, k) => {
      const low = top + 0.06 + k * share;
      layout[`yaxis${k + 3}`] = ipdp.axis({
        domain: [low, Math.min(low + share - 0.05, 1)], nticks: 3,
        title: { text: wrapped(ipdp.shorten(name.replace(/_(\d+)$/, ", last $1"), 24), 10) },
      });
      const { n, value } = run.metrics.get(name);
      data.push(line(n, value, `<b>${ipdp.label(name, 40)}</b>`, { yaxis: `y${k + 3}`, shown, clock: run.clock,
        line: { color: ipdp.token("metric"), width: 1.8 }, meta: { part: "metric", name } }));
    });
    data.push(marks(run.changes));
    return { data, layout };
  };
})(window.ipdp);
