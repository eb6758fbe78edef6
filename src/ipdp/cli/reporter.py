"""What `ipdp run` says on its way, above the progress bar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ipdp.cli.printing import line, when_text

if TYPE_CHECKING:
    from rich.console import Console


class Reporter:
    """Prints changes and skipped records as they come, above the progress bar."""

    def __init__(self, errors: Console | None, against: Any = None) -> None:
        self.errors = errors  # where to print; None: nowhere
        self.against = against  # what compares the run; None: nothing
        self.skipped = ""  # what was skipped, as the end of a sentence
        self.loop: Any = None
        self._is_understood = errors is None

    def _understood(self, event: Any) -> None:
        """Say what was understood, as soon as enough observations were seen."""
        from ipdp.runs import Ended
        from ipdp.runs.understood import understood
        from ipdp.sources.base import AHEAD

        if len(self.loop.stream.first) < AHEAD and not isinstance(event, Ended):
            return
        self._is_understood = True
        made, loop = self._fitting(), self.loop
        for text in understood(loop.stream, loop.model, made, loop.time):
            self._say(text)

    def __call__(self, event: Any) -> None:
        from ipdp.runs import Changed, Skipped

        if not self._is_understood:
            self._understood(event)
        said = None
        if isinstance(event, Changed):
            said = f"{when_text(event.n, event.change.t)}  {event.change.summary()}"
        elif isinstance(event, Skipped):
            self.skipped = f": {event.count:,} skipped, the last: {event.last}"
            if event.count == 1:
                said = f"Skipped: {event.last} (further ones are counted)"
        if said:
            self._say(said)

    def end(self, came: Any) -> None:
        """Say what smells at the end."""
        from ipdp.runs.understood import divergence
        from ipdp.sources.profile import Profile

        stream = self.loop.stream
        said = divergence(Profile(stream.first, stream.target), came.scores)
        if said:
            self._say(said)

    def not_said_yet(self, warning: Warning | str) -> Warning | str:
        """A warning in the words of the command, without the columns that it has spoken of."""
        from ipdp.explainers.state.targets import LeftOutWarning

        if not isinstance(warning, LeftOutWarning):
            return warning
        without = self._fitting().without
        looks = {name: look for name, look in warning.looks.items() if name not in without}
        said = str(LeftOutWarning(looks)) if looks else ""
        return said.replace("features=[...]", "--features")

    def _fitting(self) -> Any:
        """What was put around the model."""
        from ipdp.runs.fitting import Fitting

        return Fitting.from_dict(self.loop.settings.get("fitting"))

    def _say(self, text: str) -> None:
        if self.errors is not None:
            line(self.errors, text)
