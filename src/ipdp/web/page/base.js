"use strict";
// Text, numbers, the bytes of the payload, light and dark. Everything is in one object, `ipdp`,
// because the report is opened from disk, where modules do not load.

window.ipdp = {};

(function (ipdp) {
  const KINDS = { f: Float32Array, d: Float64Array, b: Uint8Array };

  /** The numbers that `pack` in payload.py wrote. */
  ipdp.unpack = function (text) {
    const letters = atob(text.slice(1));
    const bytes = new Uint8Array(letters.length);
    for (let k = 0; k < letters.length; k++) bytes[k] = letters.charCodeAt(k);
    return new KINDS[text[0]](bytes.buffer);
  };

  /** Two arrays of numbers as one. */
  ipdp.join = function (first, second) {
    const joined = new Float64Array(first.length + second.length);
    joined.set(first);
    joined.set(second, first.length);
    return joined;
  };

  /** A text that plotly shows letter by letter: markup, entities and templates are undone. */
  ipdp.plain = function (text) {
    const entities = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "{": "&#123;" };
    return String(text).replace(/[&<>{]/g, (letter) => entities[letter]);
  };

  /** A text of at most so many letters, the middle left out. */
  ipdp.shorten = function (text, width) {
    const letters = Array.from(String(text));
    if (letters.length <= width) return letters.join("");
    const half = Math.floor((width - 1) / 2);
    return letters.slice(0, half).join("") + "…" + letters.slice(-half).join("");
  };

  // One set of rules for numbers, those of core/words.py; tests/web holds the two to one table.
  const rules = (more) => new Intl.NumberFormat("en", { roundingMode: "halfEven", ...more });
  const whole = rules({ maximumFractionDigits: 0 });
  const tenth = rules({ minimumFractionDigits: 1, maximumFractionDigits: 1 });
  const plain = rules({ maximumFractionDigits: 6 });
  const rounded = [2, 3].map((digits) => rules({ maximumSignificantDigits: digits, useGrouping: false }));
  const decimalsOf = Array.from({ length: 10 }, (_, digits) => rules({ maximumFractionDigits: digits }));
  const minus = (text) => text.replace(/^-0$/, "0").replace(/-/g, "−");

  /** A text of at most so many letters for a plot. */
  ipdp.label = (text, width) => ipdp.plain(ipdp.shorten(text, width));

  /** A count: 12,400. */
  ipdp.count = (value) => whole.format(Math.round(value));

  /** A share in per cent, as `percent` writes it. */
  ipdp.percent = function (value) {
    if (!Number.isFinite(value)) return "unknown";
    const nearAnEnd = (value > 0 && value < 0.0095) || (value > 0.9905 && value < 1);
    return `${minus((nearAnEnd ? tenth : whole).format(100 * value))} %`.replace("100.0", "99.9");
  };

  function exponential(value) {
    const [digits, power] = value.toExponential().split("e");
    return `${digits}e${power[0]}${power.slice(1).padStart(2, "0")}`;
  }

  /** A number for people, as `few_digits` writes it: three digits, those of a whole number below
   * 10,000 all; of a range that is `span` wide, to a thousandth of it, or to one. */
  ipdp.number = function (value, span) {
    if (value === null || !Number.isFinite(value)) return "unknown";
    if (span && Math.abs(span) >= 1e-6 && Math.abs(span) < 1e12 && Math.abs(value) < 1e12) {
      const decimals = Math.max(3 - Math.ceil(Math.log10(Math.abs(span))), 0);
      return minus(decimalsOf[decimals].format(value));
    }
    const size = Math.abs(value);
    if (size >= 1e-3 && size < 99 && Number(value.toPrecision(4)) !== value) { // most, in a tenth of the time
      return minus(String(Number(value.toPrecision(3))));
    }
    const short = size >= 100 && size < 1e4 ? value : Number(rounded[1].format(value));
    if (short && (Math.abs(short) < 1e-4 || Math.abs(short) >= 1e9)) return minus(exponential(short));
    return minus((size >= 100 ? whole : plain).format(short));
  };

  /** A number where room is scarce, as `brief` writes it: two digits. */
  ipdp.brief = (value) =>
    Number.isFinite(value) ? ipdp.number(Number(rounded[0].format(value))) : "–";

  /** A count with its noun: "1 change", "2 changes". */
  /** A text in which no line ends between a number and its percent sign. */
  ipdp.unbroken = (text) => text && text.replaceAll(" %", "\u00a0%");
  ipdp.counted = (n, noun) => `${ipdp.count(n)} ${noun}${n === 1 ? "" : "s"}`;

  const clock = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

  /** A moment, from unix seconds: 16 Nov 2026, 01:02. */
  ipdp.date = (seconds) => clock.format(new Date(seconds * 1000));

  const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });

  /** A time of the data, from unix seconds: 16 Nov 2026, 01:02. */
  ipdp.dateOf = (seconds) => day.format(new Date(seconds * 1000));

  const [MINUTE, HOUR, DAY] = [60, 3600, 86400];
  const STEPS = [
    ...[1, 2, 5, 10, 30].map((k) => k * MINUTE), ...[1, 2, 3, 6, 12].map((k) => k * HOUR),
    ...[1, 2, 7, 14, 30, 91, 182, 365, 730, 1826, 3652].map((k) => k * DAY),
  ];
  const form = (parts) => new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", ...parts });
  const HOURS = form({ hour: "2-digit", minute: "2-digit" });
  const DAYS = form({ day: "2-digit", month: "short" });
  const MONTHS = form({ month: "short", year: "numeric" });

  /** Where to write times on an axis of unix seconds, and what, as `clock_ticks` in plot/shown. */
  ipdp.clockTicks = function ([first, last], most = 6) {
    const span = Math.max(last - first, 1);
    const step = STEPS.find((size) => span / size <= most) || STEPS[STEPS.length - 1];
    const say = (t) => {
      const date = new Date(t * 1000);
      if (step < DAY && (t % DAY || span <= HOUR)) return HOURS.format(date);
      return (span < 300 * DAY ? DAYS : MONTHS).format(date);
    };
    const tickvals = [];
    for (let t = Math.ceil(first / step) * step; t <= last; t += step) tickvals.push(t);
    if (!tickvals.length) tickvals.push(first);
    return { tickvals, ticktext: tickvals.map(say) };
  };

  /** The value at x of a line through points; that of the nearest end outside of them. */
  ipdp.between = function (xs, ys, x) {
    const right = Math.min(Math.max(ipdp.last(xs, x) + 1, 1), xs.length - 1);
    const share = (x - xs[right - 1]) / (xs[right] - xs[right - 1] || 1);
    return ys[right - 1] + Math.min(Math.max(share, 0), 1) * (ys[right] - ys[right - 1]);
  };

  /** How long ago, in words. */
  ipdp.ago = function (seconds) {
    const steps = [[86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]];
    const [size, noun] = steps.find(([least]) => seconds >= least) || steps[3];
    return `${ipdp.counted(Math.max(0, Math.floor(seconds / size)), noun)} ago`;
  };

  /** An element with attributes and children; strings become text, never markup. */
  ipdp.element = function (name, attributes = {}, ...children) {
    const isDrawing = ["svg", "path", "line", "rect", "circle"].includes(name);
    const node = isDrawing
      ? document.createElementNS("http://www.w3.org/2000/svg", name)
      : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== undefined && value !== null) node.setAttribute(key, value);
    }
    node.append(...children);
    return node;
  };

  /** Whether the columns are side by side, as in style.css. */
  ipdp.isWide = () => window.innerWidth > 760;

  ipdp.find = (id) => document.getElementById(id);

  /** Set a text only where it differs: screen readers are told of real news only. */
  ipdp.say = function (node, text) {
    if (node.textContent !== text) node.textContent = text;
  };

  const STATES = { empty: "no data yet", died: "no sign of life", unreadable: "not readable" };

  /** Say how a run is doing. */
  ipdp.sayState = function (node, state) {
    node.dataset.state = state;
    ipdp.say(node, STATES[state] || state);
  };

  /** Position of the last of ascending values that is at most x; -1 before the first. */
  ipdp.last = function (values, x) {
    let low = 0;
    let high = values.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[middle] <= x) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  };

  /** Smallest and largest of the finite values, as [low, high]; null if there is none. */
  ipdp.extent = function (values) {
    let low = Infinity;
    let high = -Infinity;
    for (const value of values) {
      if (!Number.isFinite(value)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    return low <= high ? [low, high] : null;
  };

  /** An extent with a margin around it. */
  ipdp.padded = function (extent, share) {
    if (!extent) return undefined;
    const [low, high] = extent;
    const width = high - low || Math.abs(high) * 0.1 || 1;
    return [low - share * width, high + share * width];
  };

  /** An extent that ends at round numbers, so that an axis moves in steps. */
  ipdp.rounded = function (extent) {
    if (!extent || extent[0] === extent[1]) return ipdp.padded(extent, 0.08);
    const step = 10 ** Math.floor(Math.log10((extent[1] - extent[0]) / 2));
    return [Math.floor(extent[0] / step) * step, Math.ceil(extent[1] / step) * step];
  };

  // Light and dark.

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
    /** Once the page is there: its button, and the choice of the system. */
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
})(window.ipdp);
