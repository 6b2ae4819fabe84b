"""Things that go wrong on the way: the next requests that match are answered by an error, late, or
not at all.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.fakes.github.replies import DOCS, Reply

_SECONDARY = (
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
)
_PRIMARY = "API rate limit exceeded for installation ID 1."


@dataclass
class Fault:
    """What happens instead of an answer, `times` times, to requests whose `METHOD /path` the
    pattern is found in.

    `after` lets the request be carried out first: the answer is what gets lost. `first` is
    something that happens elsewhere while the request is on its way; the first `skip` requests are
    let through.
    """

    pattern: str
    reply: Reply | None = None
    times: int = 1
    hang: bool = False
    reset: bool = False
    after: bool = False
    first: Callable[[], object] | None = None
    skip: int = 0

    def meets(self, words: str) -> bool:
        """Whether it strikes now; it is used up by that."""
        if self.times <= 0 or not re.search(self.pattern, words):
            return False
        if self.skip > 0:
            self.skip -= 1
            return False
        self.times -= 1
        return True


@dataclass
class Faults:
    """The faults that wait for their requests."""

    waiting: list[Fault] = field(default_factory=list[Fault])

    def status(
        self,
        pattern: str,
        status: int,
        message: str = "Server Error",
        *,
        times: int = 1,
        **headers: str,
    ) -> None:
        """Answer with a status. Header names take underscores for dashes."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        body = {"message": message, "documentation_url": DOCS, "status": str(status)}
        self.waiting.append(Fault(pattern, Reply(status, body, named), times))

    def secondary(self, pattern: str, seconds: int, *, status: int = 403, times: int = 1) -> None:
        """The secondary limit, with the seconds to wait in retry-after."""
        self.status(pattern, status, _SECONDARY, times=times, retry_after=str(seconds))

    def exhausted(self, pattern: str, reset: int, *, times: int = 1) -> None:
        """The hourly limit is used up until `reset`, in seconds since 1970."""
        headers = {"x_ratelimit_remaining": "0", "x_ratelimit_reset": str(reset)}
        self.status(pattern, 403, _PRIMARY, times=times, **headers)

    def lost(self, pattern: str, *, times: int = 1, after: bool = False) -> None:
        """The connection breaks off."""
        self.waiting.append(Fault(pattern, times=times, reset=True, after=after))

    def meanwhile(self, pattern: str, first: Callable[[], object], *, skip: int = 0) -> None:
        """Something happens while the request is on its way; then it is answered as ever."""
        self.waiting.append(Fault(pattern, first=first, skip=skip))

    def silent(self, pattern: str, *, times: int = 1) -> None:
        """No answer comes until the server ends."""
        self.waiting.append(Fault(pattern, times=times, hang=True))

    def strange(
        self,
        pattern: str,
        text: str,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """An answer that is not GitHub's, byte for byte."""
        shown = {"Content-Type": "text/html", **(headers or {})}
        self.waiting.append(Fault(pattern, Reply(status, None, shown, raw=text.encode())))

    def striking(self, words: str) -> Fault | None:
        """The fault for a request, if one waits for it."""
        return next((fault for fault in self.waiting if fault.meets(words)), None)
