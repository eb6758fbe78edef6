"""Handlers of changes: a log line, a webhook, or any function of a `Change`.

Handlers run where the stream runs and must not stop it: what a handler raises is logged, and what
takes long (a webhook) is done by a thread of its own.
"""

from __future__ import annotations

import atexit
import html
import json
import logging
import math
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ipdp.core.hosts import problem_of_url
from ipdp.core.redaction import redacted_url
from ipdp.core.times import moment, time_text
from ipdp.core.typing import Feature
from ipdp.core.validation import as_number, whole_number
from ipdp.core.words import harmless
from ipdp.monitor.change import Change

if TYPE_CHECKING:
    from urllib.request import OpenerDirector

__all__ = ["LogLine", "Only", "Webhook"]

Handler = Callable[[Change], object]
"""Anything that takes a change."""

logger = logging.getLogger("ipdp.monitor")


class LogLine:
    """Writes one line for each change, with the standard library's logging.

    Parameters
    ----------
    level
        Level of the line.
    name
        Name of the logger.

    Examples
    --------
    >>> LogLine(name="drift")
    LogLine(level=30, name='drift')
    """

    def __init__(self, *, level: int = logging.WARNING, name: str = "ipdp.monitor") -> None:
        self.level = level
        self.name = name

    def __call__(self, change: Change) -> None:
        """Write the line."""
        said = time_text(change.t), _one_line(change.summary())
        logging.getLogger(self.name).log(self.level, "t = %s: %s", *said)

    def __repr__(self) -> str:
        return f"LogLine(level={self.level}, name={self.name!r})"


class Webhook:
    """Posts each change as JSON, in the background.

    The body has a `text` with the run, the time, the summary and a link to the page, which is what
    Slack and its like show (&, < and > are written as they want it, `&lt;`), and a `change` with
    everything (`Change.to_dict`). A failed post is tried again with growing pauses; a redirect is a
    failure, so that headers go to the host of `url` only. At most `queue_size` changes wait;
    further ones are dropped, with a warning in the log.

    Parameters
    ----------
    url
        Where to post.
    run
        What the run is called.
    page
        The address of a page about it.
    headers
        Further headers, for instance a token.
    timeout
        Seconds to wait for an answer.
    retries
        How often a failed post is tried again.
    backoff
        Seconds before the first retry; twice as long before each further one.
    queue_size
        How many changes may wait.
    at_exit
        Seconds that the end of the program may be delayed to post what waits; what is left then is
        lost, with a warning in the log.

    Examples
    --------
    >>> hook = Webhook("https://hooks.example.com/T000/B000", retries=2)
    >>> hook
    Webhook('https://hooks.example.com/...', timeout=5.0, retries=2)
    """

    def __init__(
        self,
        url: str,
        *,
        run: str = "",
        page: str = "",
        headers: Mapping[str, str] | None = None,
        timeout: float = 5.0,
        retries: int = 4,
        backoff: float = 1.0,
        queue_size: int = 100,
        at_exit: float = 5.0,
    ) -> None:
        if not isinstance(url, str):
            raise TypeError("url must be a text")  # what it is may be secret
        if (problem := problem_of_url(url)) is not None:
            raise ValueError(f"url {problem}, got {redacted_url(url)}")
        if "@" in url.split("/")[2]:
            raise ValueError("url must not hold a user name or a password: give them in headers")
        whole_number("queue_size", queue_size)
        whole_number("retries", retries, least=0)
        if not 0 < as_number(timeout) < math.inf:
            raise ValueError("timeout must be positive")
        if not all(0 <= as_number(each) < math.inf for each in (backoff, at_exit)):
            raise ValueError("backoff and at_exit must not be negative")
        if headers is not None and not isinstance(headers, Mapping):
            raise TypeError("headers must be a dict")  # of what may be secret
        self.url = url
        self.run, self.page = run, page
        self.headers = {name: _header(name, text) for name, text in (headers or {}).items()}
        self.timeout = timeout
        self.retries = retries
        self.backoff = backoff
        self.queue_size = queue_size
        self.at_exit = at_exit
        self._waiting: queue.Queue[dict[str, Any]] = queue.Queue(queue_size)
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def __call__(self, change: Change) -> None:
        """Put the change into the queue; returns at once."""
        body = {"text": self._text(change), "change": change.to_dict()}
        try:
            self._waiting.put_nowait(body)
        except queue.Full:
            message = "webhook: %s changes are waiting, this one is dropped: %s"
            logger.warning(message, self.queue_size, _one_line(body["text"]))
            return
        with self._starting:
            if self._thread is None:
                atexit.register(self._drain)
            if self._thread is None or not self._thread.is_alive():
                # A daemon: a server that does not answer must not keep the program from ending.
                self._thread = threading.Thread(target=self._work, name="ipdp-webhook", daemon=True)
                self._thread.start()

    def _text(self, change: Change) -> str:
        # "at" a count of observations needs a word; a date speaks for itself.
        is_moment = moment(change.t) is not None
        when = time_text(change.t) if is_moment else f"t = {time_text(change.t)}"
        parts = [part for part in (self.run, when) if part]
        # On one line: a column with a line break in its name would write one of its own.
        text = _one_line(f"{', '.join(parts)}: {change.summary()}")
        text += f"\n{self.page}" if self.page else ""
        # As Slack wants it: a category called <!channel> would else call everybody.
        return html.escape(text, quote=False)

    def join(self, timeout: float) -> bool:
        """Wait until all changes are posted or given up, at most so long; whether they are."""
        deadline = time.monotonic() + timeout
        while self._waiting.unfinished_tasks and time.monotonic() < deadline:
            time.sleep(0.01)
        return not self._waiting.unfinished_tasks

    def _drain(self) -> None:
        """Let what waits be posted before the program ends."""
        if not self.join(self.at_exit):
            n_left = self._waiting.unfinished_tasks
            logger.warning("webhook: %s changes were not posted before the program ended", n_left)

    def _work(self) -> None:
        while True:
            body = self._waiting.get()
            try:
                self._post(body)
            except Exception as error:  # the thread has to live on for the next change
                # Its kind only: what it says may quote a header.
                said = _one_line(body["text"]), type(error).__name__
                logger.error("webhook: could not post %s: %s", *said)
            finally:
                self._waiting.task_done()

    def _post(self, body: dict[str, Any]) -> None:
        # They bring ssl and email along: not before they are needed.
        from http.client import HTTPException
        from urllib.request import Request

        data = json.dumps(body).encode()
        headers = {"Content-Type": "application/json", **self.headers}
        opener = _opener_without_redirects()
        for attempt in range(self.retries + 1):
            request = Request(self.url, data, headers, method="POST")
            try:
                with opener.open(request, timeout=self.timeout):
                    return
            except (OSError, HTTPException) as error:  # URLError, HTTPError and time-outs are, too
                code = getattr(error, "code", 0)  # of an HTTPError
                # Of no use to try again: the server understood, and refused or redirects.
                is_final = 300 <= code < 500 and code not in (408, 429)
                if is_final or attempt == self.retries:
                    hint = " (redirects are not followed)" if 300 <= code < 400 else ""
                    said = _one_line(body["text"]), _one_line(error), hint
                    logger.warning("webhook: gave up on %s: %s%s", *said)
                    return
            time.sleep(self.backoff * 2**attempt)

    def __repr__(self) -> str:
        # Without the path, which is a secret with many services.
        place = "://".join(urlsplit(self.url)[:2])
        return f"Webhook('{place}/...', timeout={self.timeout}, retries={self.retries})"


def _header(name: str, text: str) -> str:
    """The text of a header, or an error without it: it may be a secret.

    A token that was read from a file ends in a line break, which http.client refuses and quotes.
    """
    text, given = str(text), f"{name}{text}"
    if not (given.isprintable() and name.isascii() and name and not set(name) & set(": ")):
        raise ValueError(
            f"the header {_one_line(name)!r} has characters that no header can hold, such as a "
            "line break at its end"
        )
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        raise ValueError(f"the header {name!r} has letters beyond latin-1") from None
    return text


def _one_line(said: object) -> str:
    """On one line: names come with the data, and the reason of an error from whoever answers."""
    return harmless(said, but="")


def _opener_without_redirects() -> OpenerDirector:
    from urllib.request import HTTPRedirectHandler, build_opener

    class NoRedirects(HTTPRedirectHandler):
        """Takes a redirect for a failure: urllib would send a GET, with all headers, anywhere."""

        def redirect_request(self, *_: Any) -> None:
            return None

    return build_opener(NoRedirects)


class Only:
    """Passes some changes on to a handler, and keeps the others from it.

    Parameters
    ----------
    handler
        Gets the changes.
    about
        Kinds of changes ("real", "virtual", "both"; "both" is real and virtual, too) and ways in
        which data move (`ipdp.monitor.data.move.Aspect`: "missing", "stuck", ...); None: all.
    features
        Of these features only; None: of all.

    Examples
    --------
    >>> Only(print, about=["real", "missing"], features=["salary"])
    Only(<built-in function print>, about=['real', 'missing'], features=['salary'])
    """

    def __init__(
        self,
        handler: Handler,
        *,
        about: Sequence[str] | None = None,
        features: Sequence[Feature] | None = None,
    ) -> None:
        self.handler = handler
        self.about = about
        self.features = features

    def __call__(self, change: Change) -> None:
        """Pass the change on, if it is one of those."""
        is_named = self.features is None or change.feature in self.features
        if is_named and (self.about is None or is_about(change, self.about)):
            self.handler(change)

    def __repr__(self) -> str:
        return f"Only({self.handler!r}, about={self.about}, features={self.features})"


def is_about(change: Change, about: Sequence[str]) -> bool:
    """Whether a change is of one of these kinds, or its data moved in one of these ways."""
    kinds = {change.kind, *(("real", "virtual") if change.kind == "both" else ())}
    return not kinds.isdisjoint(about) or (change.move is not None and change.move.aspect in about)


def notify(handlers: list[Handler], change: Change) -> None:
    """Call all handlers with a change; none of them can stop the stream."""
    for handler in handlers:
        try:
            handler(change)
        except Exception:  # whatever a handler does wrong
            logger.exception("the handler %r failed on: %s", handler, _one_line(change.summary()))
