"""What the live page costs: the run that it watches, and the reader who waits for it.

    python benchmarks/page_load.py            both parts
    python benchmarks/page_load.py polling    50 pages follow a run; 100 seconds
    python benchmarks/page_load.py paint      a run of 100 features x 2,000 snapshots; about as long

The run is timed in turns with and without the pages, all in one go, so that whatever else the
machine does hits both alike; the result is the median of the ratios of neighbouring turns.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlparse

import numpy as np
from river import tree

import ipdp
from ipdp.log import Log, LogReader
from ipdp.web import background, write_report

CLIENTS, TURNS, SECONDS, PAUSE = 50, 12, 2.5, 1.2
FEATURES, SNAPSHOTS, POINTS = 100, 2000, 20


# 50 pages.


class Page:
    """One page: asks for what is new as often as it may, and for the curves if there are any."""

    def __init__(self, address: str, name: str, told: dict[str, int]) -> None:
        parts = urlparse(address)
        self.place, self.name, self.told = (parts.hostname, parts.port), name, told
        self.after, self.last, self.pause = "", -1, 1.0
        self.line: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def follow(self, on: asyncio.Event) -> None:
        await asyncio.sleep(np.random.default_rng().uniform(0, 1))
        while True:
            await on.wait()
            try:
                await self.look()
            except (OSError, ValueError, EOFError):
                self.told["errors"] += 1
                self.line = None
            await asyncio.sleep(self.pause)

    async def look(self) -> None:
        run = await self.ask(f"/runs/{self.name}.json{self.after and f'?after={self.after}'}")
        self.after = run["next"]
        if run["n"]:
            curves = await self.ask(f"/runs/{self.name}/features/0.json?after={self.last}")
            self.last = curves["n"][-1] if curves["n"] else self.last

    async def ask(self, path: str) -> dict:
        if self.line is None or self.line[0].at_eof():  # the server hangs up after a while
            self.line = await asyncio.open_connection(*self.place)
        reader, writer = self.line
        writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        body = await reader.readexactly(int(head.split("content-length: ")[1].split("\r\n")[0]))
        if "x-ipdp-pause: " in head:
            self.pause = float(head.split("x-ipdp-pause: ")[1].split("\r\n")[0])
        self.told["requests"] += 1
        if " 200 " not in head.split("\r\n")[0]:
            raise ValueError(head)
        return json.loads(body)


async def clients(address: str, name: str) -> None:
    """Pages that follow while stdin says so: a line "on" or "off" at a time."""
    on, told = asyncio.Event(), {"requests": 0, "errors": 0}
    pages = [Page(address, name, told) for _ in range(CLIENTS)]
    tasks = [asyncio.create_task(page.follow(on)) for page in pages]
    while line := await asyncio.to_thread(sys.stdin.readline):
        (on.set if line.strip() == "on" else on.clear)()
    told["errors"] += sum(task.done() for task in tasks)
    print(json.dumps(told))
    for task in tasks:
        task.cancel()


# The run they watch.


class Run:
    """Explains and learns for so many seconds at a time, and logs as a run does."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.rng = np.random.default_rng(42)
        self.model = tree.HoeffdingTreeRegressor()
        names = [f"x{k}" for k in range(10)]
        self.pdp = ipdp.IncrementalPDP(self.model, names, alpha=0.01, seed=42)
        self.names, self.n = names, 0
        log.begin({}, names)

    def turn(self, seconds: float) -> tuple[float, float]:
        """Observations for each second of the clock, and for each second of the processor."""
        first, began, cpu = self.n, time.perf_counter(), time.thread_time()
        while time.perf_counter() - began < seconds:
            self.step()
        n = self.n - first
        return n / (time.perf_counter() - began), n / (time.thread_time() - cpu)

    def step(self) -> None:
        x = dict(zip(self.names, self.rng.normal(size=10).tolist(), strict=True))
        self.n += 1
        self.pdp.explain_one(x)
        self.model.learn_one(x, sum(x.values()))
        if self.n % 100 == 0:
            self.log.snapshot(self.pdp.curves, self.n)
            self.log.metric({"MAE": float(self.rng.random())}, self.n)
        self.log.beat(self.n)


def polling() -> None:
    """The rate of a run with and without pages that follow it."""
    directory = Path(tempfile.mkdtemp())
    with Log(directory / "run") as log, background(directory) as address:
        run = Run(log)
        run.turn(SECONDS)
        command = [sys.executable, __file__, "clients", address, "run"]
        pages = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        time.sleep(2)
        rates: dict[str, list[tuple[float, float]]] = {"on": [], "off": []}
        for k in range(TURNS):
            for word in ("on", "off") if k % 2 else ("off", "on"):
                pages.stdin.write(f"{word}\n")
                pages.stdin.flush()
                time.sleep(PAUSE)  # what was under way ends
                rates[word].append(run.turn(SECONDS))
        told = json.loads(pages.communicate()[0])
    for k, name in enumerate(("clock", "processor")):
        ratios = [on[k] / off[k] for on, off in zip(rates["on"], rates["off"], strict=True)]
        low, middle, high = np.percentile(ratios, [25, 50, 75])
        rate = statistics.median(off[k] for off in rates["off"])
        print(
            f"  by the {name:9}: {rate:6,.0f} observations/s alone; with {CLIENTS} pages "
            f"{middle:.3f} times that (quartiles {low:.3f} to {high:.3f})"
        )
    print(f"  {told['requests']:,} requests, {told['errors']} errors")
    shutil.rmtree(directory)


# A large run.


def large(directory: Path) -> Path:
    """A run of 100 features and 2,000 snapshots."""
    rng = np.random.default_rng(42)
    names = [f"x{k}" for k in range(FEATURES)]
    path = directory / "large"
    with Log(path) as log:
        log.begin({}, names)
        for n in range(100, 100 * SNAPSHOTS + 1, 100):
            noise = rng.normal(size=(FEATURES, 1, POINTS)) / np.sqrt(n)
            log.snapshot({name: curve(name, n, noise[k]) for k, name in enumerate(names)}, n)
        log.end(n)
    return path


def curve(name: str, n: int, noise: np.ndarray) -> ipdp.Curve:
    """A line with its noise, on a grid that moves a little all the time."""
    k = int(name[1:]) + 1
    grid = np.linspace(-1 + noise[0, 0], 1 + noise[0, 1], POINTS)
    return ipdp.Curve(
        feature=name,
        outputs=("prediction",),
        grid_values=[grid],
        average=grid / k + noise,
        std_error=np.abs(noise),
        n_samples=n,
        n_effective_points=np.full(POINTS, float(n)),
        t=n,
        rug=[noise[0]],
    )


def paint() -> None:
    """Size and time of the report, and how long a browser takes to draw the live page."""
    directory = Path(tempfile.mkdtemp())
    path = large(directory)
    began = time.perf_counter()
    report = write_report(path, directory / "report.html")
    seconds = time.perf_counter() - began
    payload = report.read_text().split('id="payload">')[1].split("</script>")[0]
    with LogReader(path) as reader:
        kept = len(json.loads(payload)["run"]["n"])
        print(
            f"  report: {len(payload.encode()) / 1e6:.1f} MB of payload, {kept} of "
            f"{len(reader.snapshots())} snapshots, written in {seconds:.1f} s"
        )
    with background(path) as address:
        plot = "#curve .main-svg .scatterlayer .trace path"
        for name, target, part in (
            ("live page", address, plot),
            ("report", report.as_uri(), ".feature-card svg"),
            ("report, explored", f"{report.as_uri()}#explore", plot),
            ("page without scripts", f"{address}runs/large.html", ".feature-card svg"),
        ):
            found = [painted(target, part) for _ in range(3)]
            clock, drawing = (sorted(column)[1] for column in zip(*found, strict=True))
            print(
                f"  first paint of the {name}: {clock:.2f} s by the clock, "
                f"{drawing:.2f} s of the processor in the page's main thread"
            )
    shutil.rmtree(directory)


def painted(address: str, part: str) -> tuple[float, float]:
    """Seconds until a part is drawn, in a browser that has kept nothing.

    By the clock, and of the processor in the page's main thread: on a busy machine the clock
    says how busy it is.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page()
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        began = time.perf_counter()
        page.goto(address, wait_until="commit")
        page.wait_for_selector(part, state="attached")
        seconds = time.perf_counter() - began
        metrics = session.send("Performance.getMetrics")["metrics"]
        drawing = next(m["value"] for m in metrics if m["name"] == "TaskDuration")
        browser.close()
    return seconds, drawing


if __name__ == "__main__":
    if sys.argv[1:2] == ["clients"]:
        asyncio.run(clients(*sys.argv[2:4]))
    else:
        wanted = sys.argv[1:] or ["polling", "paint"]
        for part in (polling, paint):
            if part.__name__ in wanted:
                print(f"{part.__name__}: {part.__doc__}")
                part()
