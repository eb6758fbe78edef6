"use strict";
// What is shown, and how it follows the run. All state is in one object; `show` changes it, and a
// frame later `render` draws whatever that touches.

(function (ipdp) {
  const { find, say } = ipdp;
  const MOST = 5000; // snapshots after which the page asks for a thinner run

  class Page {
    constructor(source) {
      this.source = source;
      this.run = null;
      this.state = {
        feature: null, at: 0, follow: true, a: null, b: null, change: null, output: null,
        explainer: null, by: null, // whose curves, and whose importances: null is the first
      };
      this.dirty = new Set();
      this.features = new ipdp.FeatureList(find("features"), {
        search: find("search"), count: find("found"), choose: (k) => this.choose(k) });
      this.changes = new ipdp.ChangeList(find("changes"), {
        count: find("changes-count"), choose: (id) => this.chooseChange(id) });
      const goTo = (point) => this.goTo(point.x);
      this.curve = new ipdp.Plot(find("curve"));
      this.carpet = new ipdp.Plot(find("carpet"), { click: goTo });
      this.timeline = new ipdp.Plot(find("timeline"), { click: (point) => this.clickTimeline(point) });
      for (const plot of [this.curve, this.carpet, this.timeline]) plot.reset = () => this.touch("all");
    }

    /** Take in an answer of the source. */
    take(payload) {
      const before = this.run;
      if (!before || payload.revision !== before.revision) {
        this.run = new ipdp.Run(payload);
        this.run.choose(this.state.explainer, this.state.by);
        if (before) this.changes.clear();
        this.touch("all");
        return true;
      }
      const news = before.append(payload);
      before.choose(this.state.explainer, this.state.by);
      this.touch(news || payload.changes.length ? "all" : "status");
      return news;
    }

    /** Ask for what is new; gives back the state of the run, or null if nobody answers. */
    async update() {
      let payload = await this.source.run(this.run && this.run.next);
      const stale = this.run && payload.revision !== this.run.revision;
      if (stale || (this.run && this.run.length > MOST)) {
        payload = await this.source.run();
        const known = this.run;
        this.run = null;
        this.take(payload);
        if (!stale) {
          for (const one of this.run.explainers) {
            one.histories = (known.explainer(one.name) || one).histories;
          }
        }
      } else {
        this.take(payload);
      }
      if (this.state.feature === null && this.run.length) {
        this.state.feature = this.first();
      }
      if (this.state.follow) this.state.at = Math.max(this.run.length - 1, 0);
      this.state.at = Math.min(this.state.at, Math.max(this.run.length - 1, 0));
      await this.load(this.state.feature);
      return this.run.status.state;
    }

    /** The feature to begin with: the one in the address, or the most important single one. */
    first() {
      const { run, wanted } = this;
      if (wanted < run.features.length) return wanted;
      const order = run.byImportance();
      const single = order.find((k) => run.features[k].parts.length === 1);
      return single === undefined ? order[0] : single;
    }

    /** Fetch what is shown of a feature, or what came since: its curves, and its importances. */
    async load(k) {
      const { run } = this;
      if (k === null || !run.length) return;
      const needed = [run.shown, run.by].filter((one, at, all) => one && all.indexOf(one) === at);
      await Promise.all(needed.map((one) => this.loadFrom(run, one, k)));
    }

    async loadFrom(run, explainer, k) {
      const known = explainer.histories.get(k);
      const last = known && known.length ? known.n[known.length - 1] : -1;
      if (last >= run.n[run.length - 1]) return;
      if (known && !explainer.importance[k]) return; // it says nothing of this feature
      const payload = await this.source.feature(k, last, explainer.name);
      if (this.run !== run) return; // it was replaced meanwhile
      explainer.take(k, payload);
      this.touch("all");
    }

    get now() {
      return this.run && this.run.length ? this.run.n[this.state.at] : 0;
    }

    get history() {
      return this.run && this.run.histories.get(this.state.feature);
    }

    get change() {
      return this.run && this.run.changes.find((change) => change.id === this.state.change);
    }

    /** The outputs that are drawn: the chosen one, or, unless chosen, as in the figures. */
    outputs(history) {
      const all = history.outputs;
      const { output } = this.state;
      if (output === "*" && !history.isPair) return all;
      return all.includes(output) ? [output] : history.shown;
    }

    /** Change what is shown. */
    show(change) {
      Object.assign(this.state, change);
      if (this.run) this.run.choose(this.state.explainer, this.state.by);
      this.touch(Object.keys(change).every((key) => key === "at") ? "time" : "all");
    }

    goTo(n) {
      const at = Math.max(0, ipdp.last(this.run.n, n + 0.5));
      this.show({ at, follow: false, change: null });
    }

    step(by) {
      const at = Math.min(Math.max(this.state.at + by, 0), this.run.length - 1);
      this.show({ at, follow: false, change: null });
    }

    /** Another explainer's curves, or importances. */
    async chooseExplainer(change) {
      this.show(change);
      await this.load(this.state.feature).catch(() => {}); // the next look at the run tries again
    }

    async choose(k) {
      this.show({ feature: k, change: null });
      document.body.classList.remove("choosing");
      await this.load(k).catch(() => {}); // the next look at the run tries again
    }

    async chooseChange(id) {
      const change = this.run.changes.find((one) => one.id === id);
      if (!change || id === this.state.change) return this.show({ change: null });
      const feature = change.feature === null ? this.state.feature : change.feature;
      const at = Math.max(0, ipdp.last(this.run.n, change.n));
      this.show({ change: id, feature, at, follow: false });
      const card = find("curve-card");
      if (card.getBoundingClientRect().top < 0) card.scrollIntoView({ behavior: "smooth" });
      return this.load(feature).catch(() => {});
    }

    clickTimeline(point) {
      if (point.data.meta.part === "changes") this.chooseChange(point.customdata);
      else this.goTo(point.x);
    }

    pin(name) {
      this.show({ [name]: this.state[name] === this.now ? null : this.now, change: null });
    }

    touch(what) {
      if (!this.dirty.size) requestAnimationFrame(() => this.render());
      this.dirty.add(what);
    }

    render() {
      const { dirty, run } = this;
      this.dirty = new Set();
      if (!run) return;
      this.renderStatus();
      if (this.onRender) this.onRender();
      if (!run.length || this.state.feature === null) return;
      if (!dirty.has("all") && !dirty.has("time")) return;
      this.features.draw(run, this.state.feature, this.state.at);
      this.changes.draw(run.changes, this.state.change);
      this.renderCurve();
      // The curve is what is waited for: the rest is drawn once it is on the screen.
      if (dirty.has("all")) setTimeout(() => this.renderTime());
      else for (const plot of [this.carpet, this.timeline]) plot.mark(this.now);
    }

    renderStatus() {
      const { status, changes, features } = this.run;
      document.body.dataset.state = this.run.length ? status.state : "empty";
      const words = { empty: "no data yet", died: "no sign of life" };
      const state = find("state");
      state.dataset.state = status.state;
      say(state, words[status.state] || status.state);
      const facts = [ipdp.counted(status.n, "observation")];
      if (features.length) facts.push(ipdp.counted(features.length, "feature"));
      if (changes.length) facts.push(ipdp.counted(changes.length, "change"));
      if (this.rate && status.state === "running") facts.push(`${ipdp.count(this.rate)} a second`);
      say(find("facts"), facts.join(" · "));
      this.warn(this.trouble());
    }

    trouble() {
      const { status } = this.run;
      if (status.state === "failed") {
        return `The run failed${status.message ? `: ${status.message}` : "."}`;
      }
      if (status.state === "died") {
        const last = status.silence === null ? "" : `, last seen ${ipdp.ago(status.silence)}`;
        return `The run gives no sign of life${last}. All that it logged until then is here.`;
      }
      return "";
    }

    warn(sentence) {
      find("banner").hidden = !sentence;
      say(find("banner"), sentence);
    }

    /** What the curve's plot shows: two sides of a change, or the time and the pinned ones. */
    entries() {
      const { change, history } = this;
      if (change) {
        return ["before", "after"].map((role, frame) => ({
          history: change.history, frame, role, colour: ipdp.token(role),
          text: frame ? `after, at ${ipdp.count(change.n)}` : `before ${ipdp.count(change.began)}`,
        }));
      }
      const times = [["a", this.state.a], ["b", this.state.b], ["now", this.now]];
      return times.filter(([, n]) => n !== null).map(([role, n]) => ({
        history, frame: history.at(n), role, colour: ipdp.token(role),
        dash: role === "a" ? "dot" : role === "b" ? "dash" : undefined, faint: false,
        text: `${role === "now" ? "" : `${role.toUpperCase()}, `}at ${ipdp.count(n)}`,
      })).filter((entry) => entry.frame >= 0);
    }

    renderCurve() {
      const { run, state, change } = this;
      const feature = run.features[state.feature];
      const { history } = this;
      const card = find("curve-card");
      const none = run.length > 0 && (!run.shown || Boolean(history && !history.length));
      card.setAttribute("aria-busy", String(!history && !none));
      document.body.classList.toggle("no-curve", none);
      say(find("feature-name"), change ? change.name : feature.name);
      ipdp.offerExplainers(this);
      if (none) say(find("caption"), `${ipdp.importanceText(this)} There is no curve of it.`);
      if (!history || !history.length) return;
      const entries = this.entries();
      const outputs = this.outputs(change ? change.history : history);
      ipdp.describe(this, entries, outputs);
      if (!entries.length) {
        say(find("caption"), "This feature has no curve yet at this time.");
        return;
      }
      const shade = change && change.where;
      const title = entries[0].history.title(outputs);
      const figure = ipdp.curveFigure(entries, outputs, feature.parts, title, shade);
      const subject = [state.feature, run.shown.name, change ? change.id : "", outputs];
      this.curve.draw(subject.join("/"), figure);
    }

    renderTime() {
      const { run, state, history } = this;
      const drawn = history && history.length && !history.isPair;
      find("carpet-card").classList.toggle("of-pair", Boolean(history && history.isPair));
      if (drawn) {
        const shown = this.outputs(history);
        const output = shown.length > 1 ? history.main : shown[0];
        const subject = `${state.feature}/${run.shown.name}/${output}`;
        this.carpet.draw(subject, ipdp.carpetFigure(history, output, {
          name: run.features[state.feature].name, now: this.now, until: run.until,
          changes: run.changes.filter((change) => change.feature === state.feature),
        }));
      }
      // Room for one more row with each metric.
      const rows = Math.min(run.metrics.size, 3);
      find("timeline").style.height = `${220 + 70 * rows}px`;
      this.timeline.draw(run.by.name, ipdp.timelineFigure(run, state.feature, this.now));
    }
  }
  ipdp.Page = Page;
})(window.ipdp);
