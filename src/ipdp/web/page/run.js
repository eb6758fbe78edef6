"use strict";
// A run as it is known so far, and where the news of it come from: the server of the live page, or
// the report itself.

(function (ipdp) {
  class Run {
    constructor(payload) {
      this.revision = payload.revision;
      this.n = [];
      this.importance = [];
      this.metrics = {};
      this.changes = [];
      this.histories = new Map();
      this.append(payload);
    }

    /** Take in an answer; gives back whether it held new snapshots. */
    append(payload) {
      Object.assign(this, { name: payload.name, status: payload.status, next: payload.next });
      this.settings = payload.settings;
      this.features = payload.features;
      payload.importance.forEach((text, k) => {
        const before = this.importance[k] || new Float32Array(this.n.length).fill(NaN);
        this.importance[k] = ipdp.join(before, ipdp.unpack(text));
      });
      for (const [name, series] of Object.entries(payload.metrics)) {
        const before = this.metrics[name] || { n: [], value: new Float32Array(0) };
        this.metrics[name] = {
          n: before.n.concat(series.n), value: ipdp.join(before.value, ipdp.unpack(series.value)),
        };
      }
      this.changes = this.changes.concat(payload.changes.map((change) => ({
        ...change, history: new ipdp.History(change.curves) })));
      this.n = this.n.concat(payload.n);
      return payload.n.length > 0;
    }

    get length() {
      return this.n.length;
    }

    /** How far the axes of time reach. */
    get until() {
      return Math.max(this.status.n || 0, this.n.length ? this.n[this.n.length - 1] : 0);
    }

    /** Importance of a feature at a snapshot, or the last one known before it. */
    importanceAt(k, at) {
      const row = this.importance[k];
      for (let place = Math.min(at, row.length - 1); place >= 0; place--) {
        if (Number.isFinite(row[place])) return row[place];
      }
      return NaN;
    }

    /** The features, the most important first, at a snapshot or at the last one. */
    byImportance(at = this.length - 1) {
      const value = this.features.map((_, k) => this.importanceAt(k, at));
      const size = (k) => (Number.isFinite(value[k]) ? value[k] : -1);
      return this.features.map((_, k) => k).sort((a, b) => size(b) - size(a) || a - b);
    }
  }
  ipdp.Run = Run;

  /** The report: everything is in the file. */
  class Embedded {
    constructor(payload) {
      this.payload = payload;
      this.live = false;
    }

    async run() {
      return this.payload.run;
    }

    async feature(k) {
      return this.payload.features[k];
    }
  }
  ipdp.Embedded = Embedded;

  /** The live page: asks the server for what is new. */
  class Server {
    constructor(address) {
      this.address = address;
      this.live = true;
      this.pause = 1; // seconds; the server asks for more patience where there are many pages
    }

    async ask(path) {
      const answer = await fetch(path, { headers: { accept: "application/json" } });
      if (!answer.ok) {
        const said = await answer.json().catch(() => ({}));
        throw Object.assign(new Error(said.error || answer.statusText), { status: answer.status });
      }
      this.pause = Number(answer.headers.get("x-ipdp-pause")) || this.pause;
      return answer.json();
    }

    run(after) {
      return this.ask(`${this.address}.json${after ? `?after=${after}` : ""}`);
    }

    feature(k, after) {
      return this.ask(`${this.address}/features/${k}.json${after >= 0 ? `?after=${after}` : ""}`);
    }

    runs() {
      return this.ask("/runs.json");
    }
  }
  ipdp.Server = Server;
})(window.ipdp);
