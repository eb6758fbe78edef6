"use strict";
// What is shown, and how it follows the run. All state is in one object; `show` changes it, and a
// frame later `render` draws whatever that touches.

(function (ipdp) {
  const { find, say } = ipdp;
  const MOST = 5000; // snapshots after which the page asks for a thinner run

  /** The time of the last frame of a history that is known. */
  const lastOf = (history) => (history && history.length ? history.n[history.length - 1] : -1);

  ipdp.Page = class {
    constructor(source) {
      this.source = source;
      this.run = null;
      this.state = {
        feature: null, at: 0, follow: true, a: null, b: null, change: null, output: null,
        shown: null, // the part of the time that is shown: null is all of it
        versus: null, // what is compared: null is A and B, or the first challenger
        spread: null, // whether single observations are drawn: null is beside local effects only
        explainer: null, by: null, // whose curves, and whose importances: null is the first
      };
      this.dirty = new Set();
      this.features = new ipdp.FeatureList((k) => this.choose(k));
      this.changes = new ipdp.ChangeList((id) => this.chooseChange(id));
      this.compare = new ipdp.CompareCard(this);
      const redraw = () => this.touch("all");
      this.curve = new ipdp.Plot(find("curve"), redraw);
      const zoomTime = (shown) => this.show({ shown });
      this.carpet = new ipdp.Plot(find("carpet"), redraw, { zoomTime, click: (point) => this.goTo(point.x) });
      this.timeline = new ipdp.Plot(find("timeline"), redraw, {
        zoomTime, click: (point) => this.clickTimeline(point) });
    }

    /** Ask for what is new; gives back the state of the run. */
    async update() {
      const { run, state } = this;
      const payload = await this.source.run(run && run.next);
      const stale = run !== null && payload.revision !== run.revision;
      let news = true;
      if (run && !stale && run.length <= MOST) {
        news = run.append(payload) || payload.changes.length > 0;
      } else {
        this.run = new ipdp.Run(run ? await this.source.run() : payload);
        if (stale) this.changes.clear();
        else if (run) this.run.takeHistories(run);
      }
      this.run.choose(state.explainer, state.by);
      this.touch(news ? "all" : "status");
      if (state.feature === null && this.run.length) state.feature = this.first();
      const last = Math.max(this.run.length - 1, 0);
      state.at = state.follow ? last : Math.min(state.at, last);
      await this.load(state.feature);
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
      const last = lastOf(known);
      if (last >= run.n[run.length - 1]) return;
      if (known && !explainer.importance[k]) return; // it says nothing of this feature
      const payload = await this.source.feature(k, last, explainer.name);
      // The run was replaced meanwhile, or the same was asked for twice.
      if (this.run !== run || lastOf(explainer.histories.get(k)) !== last) return;
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

    /** Whether what is drawn is what is drawn unless another output is chosen. */
    chosenAsMain(outputs) {
      return String(outputs) === String(this.history.shown);
    }

    /** Change what is shown, and fetch what that needs. */
    async show(change) {
      const { run, state } = this;
      const changed = Object.keys(change).filter((key) => change[key] !== state[key]);
      Object.assign(state, change);
      if (!run) return;
      run.choose(state.explainer, state.by);
      const isTime = changed.every((key) => key === "at");
      this.touch(isTime ? "time" : "all");
      // The next look at the run tries again.
      if (!isTime) await this.load(state.feature).catch(() => {});
    }

    /** Go to a snapshot, and stay there. */
    move(at) {
      this.show({ at, follow: false, change: null });
    }

    goTo(n) {
      this.move(Math.max(0, ipdp.last(this.run.n, n + 0.5)));
    }

    step(by) {
      this.move(Math.min(Math.max(this.state.at + by, 0), this.run.length - 1));
    }

    choose(k) {
      document.body.classList.remove("choosing");
      return this.show({ feature: k, change: null });
    }

    chooseChange(id) {
      const change = this.run.changes.find((one) => one.id === id);
      if (!change || id === this.state.change) return this.show({ change: null });
      const feature = change.feature === null ? this.state.feature : change.feature;
      const at = Math.max(0, ipdp.last(this.run.n, change.n));
      const card = find("curve-card");
      if (card.getBoundingClientRect().top < 0) card.scrollIntoView({ behavior: "smooth" });
      return this.show({ change: id, feature, at, follow: false });
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
      ipdp.drawPairs(run);
      this.features.draw(run, this.state.feature, this.state.at);
      this.changes.draw(run, this.state.change);
      this.renderCurve();
      this.compare.draw();
      // The curve is what is waited for: the rest is drawn once it is on the screen.
      if (dirty.has("all")) setTimeout(() => this.renderTime());
      else for (const plot of [this.carpet, this.timeline]) plot.mark(this.now);
    }

    renderStatus() {
      const { status, changes, nFeatures } = this.run;
      document.body.dataset.state = this.run.length ? status.state : "empty";
      ipdp.sayState(find("state"), status.state);
      const facts = [ipdp.counted(status.n, "observation")];
      if (nFeatures) facts.push(ipdp.counted(nFeatures, "feature"));
      if (changes.length) facts.push(ipdp.counted(changes.length, "change"));
      if (this.rate && status.state === "running") facts.push(`${ipdp.count(this.rate)} a second`);
      say(find("facts"), facts.join(" · "));
      const { headline } = this.run;
      for (const name of ["quality", "changes", "belief"]) {
        const answer = find(`answer-${name}`);
        say(answer, ipdp.unbroken(headline[name]));
        answer.parentNode.hidden = !headline[name];
      }
      const isEmpty = !this.run.length;
      if (isEmpty) say(find("empty-title"), headline.state);
      find("empty-hint").hidden = !["empty", "running"].includes(status.state);
      const seen = status.silence === null ? "" : ` It was last seen ${ipdp.ago(status.silence)}.`;
      this.warn(isEmpty ? "" : headline.state + (status.state === "died" ? seen : ""));
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
          text: frame ? `after, at ${this.run.when(change.n)}` : `before ${this.run.when(change.began)}`,
        }));
      }
      const times = [["a", this.state.a], ["b", this.state.b], ["now", this.now]];
      const entries = times.filter(([, n]) => n !== null).map(([role, n]) => ({
        history, frame: history.at(n), role, colour: ipdp.token(role),
        dash: { a: "dot", b: "dash" }[role],
        text: `${role === "now" ? "" : `${role.toUpperCase()}, `}at ${this.run.when(n)}`,
      })).filter((entry) => entry.frame >= 0);
      if (entries.length !== 1 || history.isPair) return entries;
      const [one] = entries;
      Object.assign(one, { spread: this.showsSpread });
      if (!history.beside) return entries;
      const [pdp, ale] = history.names;
      return [{ ...one, history: history.beside, role: "ale", colour: ipdp.token("c2"), spread: false,
        text: ale }, { ...one, text: pdp, role: "pdp" }];
    }

    /** Whether the band of single observations is drawn. */
    get showsSpread() {
      const { spread } = this.state;
      return spread === null ? Boolean(this.history && this.history.beside) : spread;
    }

    /** What is shaded: where a change is, or where partial dependence and local effects part. */
    shaded(entries, outputs) {
      const { change, history } = this;
      if (change && change.where) return change.history.dims[0].categorical ? change.where : [change.where];
      if (change || !history.beside || entries.length !== 2 || outputs.length !== 1) return [];
      return history.parts[entries[0].frame][outputs[0]] || [];
    }

    renderCurve() {
      const { run, state, change, history } = this;
      const feature = run.features[state.feature];
      const none = !run.shown || Boolean(history && !history.length);
      find("curve-card").setAttribute("aria-busy", String(!history && !none));
      document.body.classList.toggle("no-curve", none);
      say(find("feature-name"), change ? change.name : feature.name);
      ipdp.offerExplainers(this);
      say(find("explained"), change || none ? "" : run.explained);
      if (none) say(find("caption"), `${ipdp.importanceText(this)} There is no curve of it.`);
      const pictures = history && !change ? history.pictures || [] : [];
      find("parts-card").hidden = !pictures.length;
      ipdp.picture(find("parts"), pictures);
      if (!history || !history.length) return;
      const entries = this.entries();
      const outputs = this.outputs(change ? change.history : history);
      ipdp.describe(this, entries, outputs);
      if (!entries.length) return;
      const subject = [state.feature, run.shown.name, change ? change.id : "", outputs];
      this.curve.draw(subject.join("/"), ipdp.curveFigure(entries, outputs, feature.parts,
        this.shaded(entries, outputs)));
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
          name: run.features[state.feature].name, now: this.now, until: run.until, shown: state.shown,
          clock: run.clock,
          changes: run.changes.filter((change) => change.feature === state.feature),
        }));
      }
      // Room for one more row with each metric.
      find("timeline").style.height = `${220 + 70 * Math.min(run.metrics.size, 3)}px`;
      this.timeline.draw(run.by.name, ipdp.timelineFigure(run, state.feature, { now: this.now, shown: state.shown }));
    }
  };
})(window.ipdp);
