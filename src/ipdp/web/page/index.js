"use strict";
// The list of the runs in a directory.

(function (ipdp) {
  const { element, find, say } = ipdp;
  const cards = new Map();

  function card(run) {
    const pill = element("span", { class: "pill" });
    const facts = element("span", { class: "muted" });
    const headline = element("span", { class: "run-headline" });
    const link = element("a", { class: "run", href: run.address },
      element("span", { class: "run-title" }, run.name), pill, headline, facts);
    return { row: element("li", {}, link), pill, facts, headline };
  }

  function draw(runs) {
    find("none").hidden = runs.length > 0;
    for (const run of runs) {
      if (!cards.has(run.address)) cards.set(run.address, card(run));
      const { row, pill, facts, headline } = cards.get(run.address);
      ipdp.sayState(pill, run.state);
      const when = run.started === null ? "" : ipdp.date(run.started);
      const said = [ipdp.counted(run.n, "observation"), when && `began ${when}`].filter(Boolean);
      say(facts, run.state === "unreadable" ? "" : said.join(" · "));
      say(headline, run.headline);
      if (!row.parentNode) find("runs").append(row);
    }
    for (const [address, { row }] of cards) {
      if (!runs.some((run) => run.address === address)) { row.remove(); cards.delete(address); }
    }
  }

  async function look() {
    try {
      draw((await new ipdp.Server("").runs()).runs);
      find("banner").hidden = true;
    } catch {
      find("banner").hidden = false;
      say(find("banner"), "The server of this page does not answer; trying again.");
    }
    setTimeout(look, document.hidden ? 10000 : 2000);
  }

  ipdp.theme.start();
  look();
})(window.ipdp);
