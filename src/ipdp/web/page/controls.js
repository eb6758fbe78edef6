"use strict";
// Slider, buttons, keys and the address: what a reader does, and where it is kept. At the end the
// live page and the report start.

(function (ipdp) {
  const { element, find, say } = ipdp;
  const PLAY_SECONDS = 12;
  const OFTEN = 1000; // milliseconds between two looks at a run that goes on
  const SELDOM = 5000; // ... at one that has ended, or from a page in the background

  class Controls {
    constructor(page) {
      this.page = page;
      this.slider = find("slider");
      this.readAddress();
      this.slider.addEventListener("input", () => page.move(Number(this.slider.value)));
      for (const button of document.querySelectorAll("[data-key]")) {
        button.addEventListener("click", () => this.act(button.dataset.key));
      }
      find("choose").addEventListener("click", () => document.body.classList.toggle("choosing"));
      for (const [name, lists] of [["output", "#output"], ["explainer", "#explainer"], ["by", ".by select"]]) {
        for (const select of document.querySelectorAll(lists)) {
          select.addEventListener("change", () => page.show({ [name]: select.value }));
        }
      }
      document.addEventListener("keydown", (event) => this.key(event));
      page.onRender = () => this.draw();
    }

    follow(on) {
      this.play(false);
      const { page } = this;
      page.show({ follow: on, ...(on && { at: Math.max(page.run.length - 1, 0), change: null }) });
    }

    /** From here to the end, in about a dozen seconds for the whole run. */
    play(on) {
      clearInterval(this.timer);
      this.timer = null;
      find("play").setAttribute("aria-pressed", String(on));
      const { page } = this;
      if (!on || !page.run || !page.run.length) return;
      if (page.state.at >= page.run.length - 1) page.move(0);
      const stride = Math.max(1, Math.round(page.run.length / (PLAY_SECONDS * 12)));
      const pause = Math.max(80, (PLAY_SECONDS * 1000) / Math.max(page.run.length, 1));
      this.timer = setInterval(() => {
        if (page.state.at >= page.run.length - 1) this.play(false);
        else page.step(stride);
      }, Math.min(pause, 400));
    }

    help() {
      const dialog = find("help");
      if (dialog.open) dialog.close();
      else dialog.showModal();
    }

    /** The next or the one before of the features that the list shows. */
    neighbour(by) {
      const { visible } = this.page.features;
      const place = visible.indexOf(this.page.state.feature);
      const next = visible[Math.min(Math.max(place + by, 0), visible.length - 1)];
      if (next === undefined) return;
      this.page.choose(next);
      this.page.features.reveal(next);
    }

    /** The next or the one before of the changes. */
    nextChange(by) {
      const { run, state } = this.page;
      const place = run.changes.findIndex((change) => change.id === state.change);
      const from = place < 0 && by < 0 ? run.changes.length : place;
      const next = run.changes[from + by];
      if (next) this.page.chooseChange(next.id);
    }

    key(event) {
      const { run } = this.page;
      const typing = event.target.closest("input[type=search], select, dialog");
      if (event.ctrlKey || event.metaKey || event.altKey || !run || !run.length || typing) return;
      // A focused button answers to space itself, the slider to the arrows.
      if (event.key === " " && event.target.closest("button, summary")) return;
      const far = event.shiftKey ? Math.max(10, Math.round(run.length / 20)) : 1;
      if (this.act(event.key, far)) event.preventDefault();
    }

    /** Do what a key stands for, and the button that bears its name; says whether it is one. */
    act(key, far = 1) {
      const { page } = this;
      const acts = {
        ArrowLeft: () => page.step(-far),
        ArrowRight: () => page.step(far),
        Home: () => page.step(-Infinity),
        End: () => page.step(Infinity),
        ArrowUp: () => this.neighbour(-1),
        ArrowDown: () => this.neighbour(1),
        " ": () => this.play(!this.timer),
        f: () => this.follow(!page.state.follow),
        a: () => page.pin("a"),
        b: () => page.pin("b"),
        s: () => page.show({ spread: !page.showsSpread }),
        x: () => page.show({ a: null, b: null }),
        n: () => this.nextChange(1),
        p: () => this.nextChange(-1),
        t: () => ipdp.theme.toggle(),
        "/": () => { document.body.classList.add("choosing"); find("search").focus(); },
        "?": () => this.help(),
        Escape: () => { document.body.classList.remove("choosing"); page.show({ change: null }); },
      };
      if (!Object.hasOwn(acts, key)) return false;
      acts[key]();
      return true;
    }

    draw() {
      const { run, state, now } = this.page;
      this.slider.max = Math.max(run.length - 1, 0);
      if (Number(this.slider.value) !== state.at) this.slider.value = state.at;
      this.slider.setAttribute("aria-valuetext", ipdp.counted(now, "observation"));
      this.slider.style.setProperty("--done", run.length > 1 ? state.at / (run.length - 1) : 1);
      say(find("time"), run.when(now));
      say(find("until"), run.hasClock ? "" : `of ${ipdp.count(run.until)}`);
      find("follow").setAttribute("aria-checked", String(state.follow));
      for (const name of ["a", "b"]) {
        find(`pin-${name}`).setAttribute("aria-pressed", String(state[name] !== null));
      }
      this.drawTicks(run);
      this.writeAddress();
    }

    /** A mark on the slider for each change. */
    drawTicks(run) {
      const ticks = find("ticks");
      const key = `${run.length}/${run.changes.length}`;
      if (ticks.dataset.key === key) return;
      ticks.dataset.key = key;
      ticks.replaceChildren(...run.changes.map((change) => {
        const at = Math.max(0, ipdp.last(run.n, change.n)) / Math.max(run.length - 1, 1);
        const tick = element("i", { "data-kind": change.kind });
        tick.style.setProperty("--at", at);
        return tick;
      }));
    }

    // The address says what is shown, so that a link to it shows the same.

    readAddress() {
      const given = new URLSearchParams(location.hash.slice(1));
      const whole = (name) => (/^\d{1,15}$/.test(given.get(name) || "") ? Number(given.get(name)) : null);
      this.page.wanted = whole("feature") === null ? undefined : whole("feature");
      Object.assign(this.page.state, {
        a: whole("a"), b: whole("b"), output: given.get("output"),
        spread: { 0: false, 1: true }[given.get("spread")] ?? null,
        explainer: given.get("explainer"), by: given.get("by"), versus: given.get("versus"),
      });
      this.start = whole("n");
      if (this.start !== null) this.page.state.follow = false;
    }

    /** Go to the time that the address names, once the run is known. */
    begin() {
      if (this.start !== null && this.page.run.length) this.page.goTo(this.start);
    }

    writeAddress() {
      const { state, now, run } = this.page;
      if (state.feature === null || !run.length) return;
      const said = new URLSearchParams({ feature: state.feature });
      if (!state.follow) said.set("n", now);
      for (const name of ["a", "b", "output", "explainer", "by", "versus"]) {
        if (state[name] !== null) said.set(name, state[name]);
      }
      if (state.spread !== null) said.set("spread", Number(state.spread));
      const address = `#${said}`;
      clearTimeout(this.writing); // browsers refuse more than a few of these a second
      this.writing = setTimeout(() => {
        if (location.hash !== address) history.replaceState(null, "", address);
      }, 250);
    }
  }

  /** Follow a run: look, draw, wait, look again. */
  class Follower {
    constructor(page, controls) {
      Object.assign(this, { page, controls, first: true, seen: null });
      document.addEventListener("visibilitychange", () => {
        if (!document.hidden && this.timer) this.look(); // not while it looks, nor in a report
      });
    }

    async look() {
      clearTimeout(this.timer);
      this.timer = null;
      let pause = OFTEN;
      try {
        const state = await this.page.update();
        document.body.classList.remove("lost");
        if (this.first) this.controls.begin();
        this.first = false;
        this.measure(this.page.run.status.n);
        pause = Math.max(pause, 1000 * (this.page.source.pause || 0));
        if (document.hidden || !["running", "empty"].includes(state)) pause = SELDOM;
      } catch (error) {
        this.showError(error);
        pause = error.status ? SELDOM : OFTEN;
      }
      if (this.page.source.live) this.timer = setTimeout(() => this.look(), pause);
    }

    /** How fast the run is, smoothed over some seconds. */
    measure(n) {
      const now = performance.now();
      if (this.seen && now > this.seen.now) {
        const rate = ((n - this.seen.n) * 1000) / (now - this.seen.now);
        this.page.rate = this.page.rate ? 0.8 * this.page.rate + 0.2 * rate : rate;
      }
      this.seen = { n, now };
    }

    showError(error) {
      const sentences = {
        401: "This page was opened without its token: use the whole link that was printed.",
        404: "This run is no longer there.",
      };
      const lost = "The server of this page does not answer; trying again.";
      const said = error.status ? sentences[error.status] || error.message : lost;
      if (!error.status && !(error instanceof TypeError)) console.error(error);
      document.body.classList.toggle("lost", !error.status);
      if (!this.page.run) {
        const unreadable = error.status === 422;
        document.body.dataset.state = unreadable ? "unreadable" : "empty";
        ipdp.sayState(find("state"), document.body.dataset.state);
        say(find("empty-title"), unreadable ? "This log cannot be read" : "No data yet");
      }
      this.page.warn(said);
    }
  }

  /** The other runs of the directory, to go to. */
  async function offerRuns(source, current) {
    const { runs } = await source.runs().catch(() => ({ runs: [] }));
    const select = find("runs");
    const isCurrent = (run) => run.address.replace(/\/$/, "") === current;
    find("runs-label").hidden = runs.length < 2;
    select.replaceChildren(...runs.map((run) => {
      const option = element("option", { value: run.address }, `${run.name} (${run.state})`);
      option.selected = isCurrent(run);
      return option;
    }));
    select.onchange = () => { location.href = select.value; };
    return runs.filter((run) => !isCurrent(run)).map((run) => run.name);
  }

  /** The report opens as a document; what is explored is drawn when it is asked for. */
  function beginReport() {
    ipdp.theme.start();
    const open = () => {
      document.body.dataset.view = "explorer";
      if (!ipdp.page) begin();
      window.scrollTo(0, 0);
    };
    const close = (event) => {
      event.preventDefault();
      document.body.dataset.view = "document";
      history.replaceState(null, "", location.pathname + location.search);
      window.scrollTo(0, 0);
    };
    const button = element("button", { type: "button", class: "button", id: "explore" }, "Explore it over time");
    button.addEventListener("click", open);
    document.querySelector(".document header").append(element("p", { class: "explore" }, button));
    find("to-document").addEventListener("click", close);
    if (location.hash.length > 1) open(); // a link to a place in it
  }

  function begin() {
    const embedded = find("payload");
    const address = location.pathname.replace(/\/$/, "");
    const source = embedded
      ? new ipdp.Embedded(JSON.parse(embedded.textContent))
      : new ipdp.Server(address);
    const page = new ipdp.Page(source);
    const controls = new Controls(page);
    ipdp.page = page;
    if (source.live) find("to-document").href = `${address}.html`;
    ipdp.theme.changed(() => page.touch("all"));
    if (!window.Plotly) window.addEventListener("load", () => page.touch("all")); // by then it is there
    const follower = new Follower(page, controls);
    follower.look().then(() => {
      if (!page.run) return;
      document.title = `${page.run.name} · ipdp`;
      say(find("run-name"), page.run.name);
      find("settings").replaceChildren(...ipdp.facts(page.run.settings));
    });
    if (source.live) {
      offerRuns(source, address).then((others) => {
        page.compare.runs = others;
        page.touch("all");
      });
    }
  }

  if (find("payload")) {
    beginReport();
  } else {
    ipdp.theme.start();
    begin();
  }
})(window.ipdp);
