"""Drafts of requests: words, or an issue on GitHub, made storable and not too long; and the effort
that one gets, with the reason that decided it.
"""

import math
import os
import re
from collections.abc import Callable, Mapping, Sequence

from pydantic import Field

from forge_bot.errors import BadOption, EmptyTask, IssueUnavailable, TaskTooLarge
from forge_bot.forge import HOST, PULL_PAGE, hosts_of, token_of
from forge_bot.prompts.untrusted import clean_plain
from forge_bot.store.run_folder import RequestWords
from forge_bot.values import Effort, Frozen, Source, source_of_issue

LONGEST_TASK = 100_000
"""Characters of a request. What is longer belongs into a file of the repository."""


LONGEST_TITLE = 120


class RequestDraft(RequestWords):
    """A request, before anything is decided about it."""

    files: Mapping[str, bytes] = Field(
        default={}, repr=False, description="the copies of attachments, by name"
    )

    @property
    def words(self) -> str:
        """Title and text, each word once: the title of words is their first line."""
        begins = self.text.startswith(self.title.rstrip(" …"))
        return self.text if begins else f"{self.title}\n{self.text}"


def draft_from_words(task: str, environ: Mapping[str, str] | None = None) -> RequestDraft:
    """The draft for a task in words, or for an issue by its URL. Raises EmptyTask, TaskTooLarge,
    IssueUnavailable.
    """
    text = _storable(task)
    is_address = text.startswith(("http://", "https://"))
    if is_address and (draft := _of_issue(text, environ or {})) is not None:
        return draft
    if len(re.sub(r"\W", "", text)) < len("fix"):
        raise EmptyTask("The task is empty, or too short to mean anything.")
    return checked(RequestDraft(title=_title(text), text=text))


def draft_from(
    title: str, text: str, source: Source, labels: tuple[str, ...], issue_type: str = ""
) -> RequestDraft:
    """The draft for an issue that somebody else has read. Raises EmptyTask, TaskTooLarge."""
    words = _storable(text)
    if not title.strip() and not words:
        raise EmptyTask("The issue has neither a title nor a text.")
    return checked(
        RequestDraft(
            title=title.strip() or _title(words),
            text=words,
            source=source,
            labels=labels,
            issue_type=issue_type.strip(),
        )
    )


def _of_issue(url: str, environ: Mapping[str, str]) -> RequestDraft | None:
    from forge_bot.forge import fetch_issue, parse_issue_url, rendered_issue

    ref = parse_issue_url(url, hosts_of(os.environ))
    if ref is None and not re.search(r"\s", url):
        raise _no_issue(url)
    if ref is None:
        return None
    issue = fetch_issue(ref, environ)
    source = source_of_issue(issue.number, issue.url, issue.author.login)
    title = issue.title.strip() or f"Issue {issue.number}"
    draft = draft_from(title, issue.body, source, issue.labels, issue.type)
    server = issue.url.partition(f"/{ref.owner}/")[0]
    return with_attachments(draft, server, lambda: rendered_issue(ref, environ))


def poster(environ: Mapping[str, str]) -> Callable[[str, str], str] | None:
    """Return a function that posts a comment to the issue at an address, once, and returns the
    comment's address; None without a GitHub token. It raises IssueUnavailable, GitHubError.
    """

    def post(url: str, text: str) -> str:
        from forge_bot.forge import comment_once, parse_issue_url

        if (ref := parse_issue_url(url, hosts_of(os.environ))) is None:
            raise _no_issue(url)
        return comment_once(ref, text, environ)

    return post if token_of(environ) else None


def _no_issue(url: str) -> IssueUnavailable:
    if re.match(rf"{PULL_PAGE}\d", url):
        return IssueUnavailable(
            f"{url} is a pull request, not an issue.",
            hint="Name an issue, or say in words what is to be done.",
        )
    return IssueUnavailable(
        f"{url} is no issue of {HOST}.",
        hint=(
            "Paste the text of the issue as the task. For an issue on GitHub Enterprise set "
            "GH_HOST to its host."
        ),
    )


def checked(draft: RequestDraft) -> RequestDraft:
    """The draft, made storable, if it is not too long. Raises TaskTooLarge."""
    draft = draft.replace(title=_storable(draft.title), text=_storable(draft.text))
    if len(draft.text) > LONGEST_TASK:
        raise TaskTooLarge(
            f"The task has {len(draft.text):,} characters; {LONGEST_TASK:,} are the most."
        )
    return draft


def with_attachments(draft: RequestDraft, server: str, rendered: Callable[[], str]) -> RequestDraft:
    """The draft with what its text attaches, fetched from GitHub, whose address is `server`."""
    from forge_bot.runs.frozen_attachments import freeze_attachments

    frozen = freeze_attachments(draft.text, server, rendered)
    return draft.replace(attachments=frozen.attachments, files=frozen.files)


def title_of_run(title: str) -> str:
    """Return the title that a run has from that of its request: without invisible characters, which
    documents of a run may not hold.
    """
    return clean_plain(title).text.strip() or title


def _storable(text: str) -> str:
    """The text without what no file can hold: JSON, in which issues come, can spell NUL and halves
    of characters.
    """
    text = text.replace("\r\n", "\n").replace("\0", "").strip()
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def _title(text: str) -> str:
    line = next(line.strip("# ").strip() for line in text.splitlines() if line.strip("# ").strip())
    if len(line) <= LONGEST_TITLE:
        return line
    return line[:LONGEST_TITLE].rsplit(" ", 1)[0].rstrip(",;:") + " …"


_LABEL = re.compile(
    r"(?:forge|effort|size|estimate|t-?shirt|complexity)\s*(?:[:/=_-]|\s)\s*(?P<size>[a-z-]+)",
    re.IGNORECASE,
)
_SIZES = {
    **dict.fromkeys(("xs", "s", "small"), Effort.S),
    **dict.fromkeys(("m", "medium"), Effort.M),
    **dict.fromkeys(("l", "large", "xl", "xxl"), Effort.L),
}
_TYPES = {"epic": Effort.L, "initiative": Effort.L, "sub-task": Effort.S, "subtask": Effort.S}
"""Issue types that imply a size. A bug or a task may have any size."""

_MOST_S, _MOST_M = 4, 12
"""Story points of the two smaller efforts."""

_ORDER = [Effort.S, Effort.M, Effort.L]
# The limits of the signs of scope, tuned to the hand labels in tests/fixtures/effort_requests.yaml.
LARGE_ITEMS = 7
LARGE_FILES = 6
LARGE_WORDS = 350
SMALL_ITEMS = 1
SMALL_FILES = 2
SMALL_WORDS = 40

_ENDINGS = (
    "md|rst|txt|py|pyi|js|jsx|ts|tsx|mjs|go|rs|rb|java|kt|cs|php|c|h|cpp|sh|sql|css|html|po"
    "|ya?ml|json|toml|ini|cfg|lock"
)
# Each alternative is bounded, so that a hostile text takes linear time.
_ASKS_NOTHING = re.compile(
    r"(?P<fence>`{3,}|~{3,}).*?(?:(?P=fence)|\Z)|<!--.*?(?:-->|\Z)|https?://\S+"
    r"|^[ \t]{0,6}[-*+][ \t]+\[[xX]\][ \t][^\n]*$",
    re.DOTALL | re.MULTILINE,
)
"""Code blocks, comments, addresses, and ticked boxes: what is done, or what a form has people agree
to.
"""
_PATH = re.compile(
    r"(?<![\w./\\@~-])[A-Za-z0-9_.@~-]*(?:[/\\][A-Za-z0-9_.@-]+)+"
    rf"|(?<![A-Za-z0-9_.-])[A-Za-z0-9_.-]+\.(?:{_ENDINGS})(?![A-Za-z0-9_])"
)
_CODE = re.compile(r"`[^`\n]+`|(?<!\w)--[a-z][\w-]*")
_ITEM = re.compile(r"^[ \t]{0,6}(?:[-*+]|\d{1,3}[.)])[ \t]+\S", re.MULTILINE)
_TRACEBACK = re.compile(
    r"Traceback \(most recent call last\)|^[^\S\n]+at [\w$.<>]+ ?\(|^panic: |^thread '.*'"
    r" panicked|^[^\S\n]*File \".+\", line \d+",
    re.MULTILINE,
)
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[{_UNSPACED}]{{1,2}}|[^\W\d_{_UNSPACED}]+")
"""A word. Chinese and Japanese put no blanks between words; two of their characters count as one.
"""


class EffortGuess(Frozen):
    """A guess and a short reason for it."""

    effort: Effort
    reason: str


def guess_effort(
    text: str,
    *,
    flag: str | None = None,
    labels: Sequence[str] = (),
    story_points: float | None = None,
    issue_type: str = "",
    mark: str = "forge",
) -> EffortGuess:
    """Guess the effort from the first source that gives one: flag, label, issue type, story points,
    signs of scope.

    Labels look like `forge:S`, `effort: M`, `size/XL`. A label that begins with `mark` takes
    precedence; of two labels the larger counts. Story points up to 4 mean
    S, up to 12 M; 0 or less are ignored. Raises BadOption if the flag is none of S, M, L.
    """
    if flag is not None:
        return EffortGuess(effort=_flag(flag), reason="the effort that was asked for")
    if (label := _label(labels, mark)) is not None:
        return label
    if (size := _TYPES.get(issue_type.strip().lower())) is not None:
        return EffortGuess(effort=size, reason=f"the issue type “{issue_type.strip()}”")
    if story_points is not None and math.isfinite(story_points) and story_points > 0:
        effort = Effort.S if story_points <= _MOST_S else Effort.M
        effort = effort if story_points <= _MOST_M else Effort.L
        return EffortGuess(effort=effort, reason=f"story points: {story_points:g}")
    return _by_scope(text.replace("\r\n", "\n"))


def _by_scope(text: str) -> EffortGuess:
    """Guess the effort from signs that do not depend on the language: words of prose, list items,
    named files and other places, and a traceback.
    """
    outside = _ASKS_NOTHING.sub("\n", text)
    named = {path.strip("`") for path in _PATH.findall(outside)}
    words, items, files = len(_WORD.findall(outside)), len(_ITEM.findall(outside)), len(named)
    signs = (
        (items, LARGE_ITEMS, f"a list of {items:,} items"),
        (files, LARGE_FILES, f"{files:,} files named"),
        (words, LARGE_WORDS, f"a long request of about {words:,} words"),
    )
    if large := next((reason for count, least, reason in signs if count >= least), ""):
        return EffortGuess(effort=Effort.L, reason=large)
    short = words <= SMALL_WORDS and items <= SMALL_ITEMS and files <= SMALL_FILES
    if short and _TRACEBACK.search(text):
        return EffortGuess(effort=Effort.S, reason="a short request with a traceback")
    if short and (named or _CODE.search(outside)):
        return EffortGuess(effort=Effort.S, reason="a short request that names its place")
    return EffortGuess(effort=Effort.M, reason="no sign that the request is small or large")


def _label(labels: Sequence[str], mark: str) -> EffortGuess | None:
    """Return the largest of the efforts that labels name; those that begin with `mark` go first."""
    guesses: list[tuple[bool, int, str]] = []
    for label in labels:
        plain = label.strip()
        own = plain.casefold().startswith(f"{mark.casefold()}:")
        match = _LABEL.fullmatch(plain)
        size = plain[len(mark) + 1 :].strip() if own else match["size"] if match else ""
        if (effort := _SIZES.get(size.lower())) is not None:
            guesses.append((own, _ORDER.index(effort), label.strip()))
    if not guesses:
        return None
    _, rank, label = max(guesses)
    return EffortGuess(effort=_ORDER[rank], reason=f"the label “{label}”")


def _flag(flag: str) -> Effort:
    try:
        return Effort(flag.strip().upper())
    except ValueError:
        raise BadOption(
            f"Effort “{flag}” does not exist; it is one of {', '.join(Effort)}."
        ) from None
