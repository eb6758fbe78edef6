"use strict";
// The live page and the report begin here.

(function (ipdp) {
  const { element, find, say } = ipdp;
  const OFTEN = 1000; // milliseconds between two looks at a run that goes on
  const SELDOM = 5000; // ... at one that has ended, or from a page in the background

  /** Follow a run: look, draw, wait, look again. */
  class Follower {
    constructor(page, controls) {
      Object.assign(this, { page, controls, first: true, seen: null });
      document.addEventListener("visibilitychange", () => {
        if (!document.hidden) this.hurry();
      });
    }

    async look() {
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
        this.excuse(error);
        pause = error.status ? SELDOM : OFTEN;
      }
      if (this.page.source.live) this.timer = setTimeout(() => this.look(), pause);
    }

    hurry() {
      clearTimeout(this.timer);
      this.look();
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

    excuse(error) {
      const sentences = {
        401: "This page was opened without its token: use the whole link that was printed.",
        404: "This run is no longer there.",
      };
      const lost = "The server of this page does not answer; trying again.";
      const said = error.status ? sentences[error.status] || error.message : lost;
      if (!error.status && !(error instanceof TypeError)) console.error(error);
      document.body.classList.toggle("lost", !error.status);
      if (!this.page.run) {
        document.body.dataset.state = error.status === 422 ? "unreadable" : "empty";
        find("state").dataset.state = document.body.dataset.state;
        say(find("state"), error.status === 422 ? "not readable" : "no data yet");
        say(find("empty-title"), error.status === 422 ? "This log cannot be read" : "No data yet");
      }
      this.page.warn(said);
    }
  }

  /** The other runs of the directory, to go to. */
  async function offerRuns(source, current) {
    const { runs } = await source.runs().catch(() => ({ runs: [] }));
    const select = find("runs");
    find("runs-label").hidden = runs.length < 2;
    select.replaceChildren(...runs.map((run) => {
      const option = element("option", { value: run.address }, `${run.name} (${run.state})`);
      option.selected = run.address === current;
      return option;
    }));
    select.onchange = () => { location.href = select.value; };
  }

  function begin() {
    ipdp.theme.start();
    const embedded = find("payload");
    const address = location.pathname.replace(/\/$/, "");
    const source = embedded
      ? new ipdp.Embedded(JSON.parse(embedded.textContent))
      : new ipdp.Server(address);
    const page = new ipdp.Page(source);
    const controls = new ipdp.Controls(page);
    ipdp.page = page;
    ipdp.theme.changed(() => page.touch("all"));
    window.addEventListener("load", () => page.touch("all")); // by now plotly.js is there
    const follower = new Follower(page, controls);
    follower.look().then(() => {
      if (!page.run) return;
      document.title = `${page.run.name} · ipdp`;
      say(find("run-name"), page.run.name);
      find("settings").replaceChildren(...ipdp.facts(page.run.settings));
    });
    if (source.live) offerRuns(source, address);
  }

  begin();
})(window.ipdp);
