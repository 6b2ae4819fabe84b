"""What becomes visible outside the run: the pull request's text, a push, the last commit."""

import re
from collections.abc import Callable
from typing import Literal

from forge_bot.engine.pipeline import ReviewPhase
from forge_bot.engine.post_to_source import can_be_posted, may_post
from forge_bot.engine.state import State
from forge_bot.prompts import escape
from forge_bot.prompts.documents import AnsweredCheckpoint, PullRequestBody, PullRequestFacts, Requirement, Review, pull_request
from forge_bot.runs.requirement_table import read_requirements
from forge_bot.runs.run import Run
from forge_bot.values import Verdict

PULL_REQUEST = "pull-request.md"
_PREFIXES = {"fix": "fix", "docs": "docs", "refactor": "refactor", "chore": "chore"}
_CONVENTIONAL = re.compile(r"[a-z]+(\([^)]*\))?!?: ", re.IGNORECASE)
_LONGEST_TITLE = 72
_LONGEST_WHY = 400
_LONGEST_COMMENT = 30_000
"""Characters of a summary in a comment; one argument of a command holds 128 KiB, and a character has up to four bytes."""

Post = Callable[[str, str], str]
"""Posts a text as a comment to the issue at an address, and returns the comment's own address."""


class Publisher:
    """Performs the publications that a local run can do. Nothing leaves the machine unless a push was asked for."""

    def __init__(self, run: Run, *, push: bool = False, post: Post | None = None) -> None:
        self.run = run
        self.push = push
        self.post = post

    def asks(self) -> bool:
        """Return whether a person is to be asked before the summary is posted."""
        return (
            self.post is not None and can_be_posted(self.run.pipeline, self.run.state) and not may_post(self.run.pipeline, self.run.state)
        )

    def publish(self, operation: Literal["pull-request", "post-to-source", "final-commit"]) -> tuple[str, str]:
        """Do it; a sentence on what was done, and the URL it can be seen at, if any. Raises GitFailed when a push fails."""
        match operation:
            case "pull-request":
                written = pull_request_text(self.run)
                self.run.workspace.write(PULL_REQUEST, f"# {written.title}\n\n{written.body}")
                if self.push:
                    self.run.tree.push()
                    return f"pushed {self.run.state.branch}; the pull request's text is {PULL_REQUEST}", ""
                return f"the pull request's text is {PULL_REQUEST}; nothing was pushed", ""
            case "post-to-source":
                if (
                    self.post is not None
                    and can_be_posted(self.run.pipeline, self.run.state)
                    and may_post(self.run.pipeline, self.run.state)
                ):
                    return "posted the summary to the issue", self.post(self.run.state.source.url, comment_text(self.run))
                return f"the summary was not posted to the issue: {self._why_not()}", ""
            case "final-commit":
                if self.push:
                    self.run.tree.push()
                    return f"the last commit of {self.run.state.branch} was pushed", ""
                return f"the work is on the branch {self.run.state.branch}", ""

    def _why_not(self) -> str:
        if self.run.state.flags.skip_pr:
            return "the run was begun with --nopr"
        return "it takes a person at a terminal, GITHUB_TOKEN and an issue on GitHub"


def comment_text(run: Run) -> str:
    """Return the summary as a comment: what would act in it is made harmless, and the marker keeps it from being read for commands."""
    summary = run.workspace.read(run.pipeline.summary)
    cut = f"\n\nThe rest is in `{run.workspace.relative}/{run.pipeline.summary}`." if len(summary) > _LONGEST_COMMENT else ""
    return f"<!-- forge-bot:summary run={run.name} -->\n{escape.document(summary[:_LONGEST_COMMENT]).text}{cut}"


def pull_request_text(run: Run) -> PullRequestBody:
    """Title and body of the pull request, from what the state knows."""
    state = run.state
    issue = int(state.source.id) if state.source.type == "github_issue" and state.source.id.isdigit() else None
    return pull_request(
        PullRequestFacts(
            title=title(state.title, state.branch),
            why=_why(run),
            issue=issue,
            warnings=_warnings(state),
            requirements=_requirements(run),
            requirements_in=next((name for name in run.pipeline.documents("requirements") if name in state.artifacts), ""),
            reviews=_reviews(run),
            commands=state.verification.results if state.verification is not None else (),
            answers=_answers(run),
            usage=state.usage,
            workspace=run.workspace.relative,
        )
    )


def title(words: str, branch: str) -> str:
    """A run's title as the title of a pull request and first line of a commit message (https://www.conventionalcommits.org/)."""
    words = words.strip()
    if not _CONVENTIONAL.match(words):
        # An acronym or a name keeps its capital.
        begin = words[:1].lower() if words[1:2].islower() else words[:1]
        words = f"{_PREFIXES.get(branch.split('/', maxsplit=1)[0], 'feat')}: {begin}{words[1:]}"
    return escape.heading(words, _LONGEST_TITLE)


def _why(run: Run) -> tuple[str, ...]:
    """The title, and the first paragraph of the request that says more."""
    paragraphs = (" ".join(paragraph.split()) for paragraph in run.request.text.split("\n\n"))
    more = next((text for text in paragraphs if text and text.strip("# ") != run.state.title), "")
    return tuple(line for line in (run.state.title, more[:_LONGEST_WHY]) if line)


def _warnings(state: State) -> tuple[str, ...]:
    verification = state.verification
    found: list[str] = []
    if verification is not None and verification.red:
        found.append("The verification is red and was accepted by a person: " + "; ".join(verification.reasons))
    if verification is not None and not verification.results:
        found.append("No project command is known, so nothing was verified.")
    accepted = [decision for decision in state.decisions if decision.reason is not None and decision.answer == "approve"]
    found += [f"{decision.by} accepted: {decision.reason.value.replace('_', ' ')}" for decision in accepted if decision.reason is not None]
    return (*found, *state.risks)


def _requirements(run: Run) -> tuple[Requirement, ...]:
    """What the verifier found for each demand; where it wrote no table, what each task changed."""
    for name in run.pipeline.documents("requirements"):
        if rows := read_requirements((run.workspace.read_bytes(name) or b"").decode("utf-8", "replace")):
            return rows
    return _tasks(run)


def _tasks(run: Run) -> tuple[Requirement, ...]:
    rows: list[Requirement] = []
    for task in run.state.tasks:
        mine = [commit for commit in run.tree.commits(run.state.base_commit) if ("Forge-Task", task.spec.id) in commit.trailers]
        changed = sorted(
            {path for commit in mine for path in run.tree.changed(f"{commit.id}^", commit.id) if not path.startswith(".specs/")}
        )
        tests = tuple(path for path in changed if "test" in path.lower())
        rows.append(
            Requirement(
                text=task.spec.title,
                files=tuple(path for path in changed if path not in tests),
                tests=tests,
                state=task.status.value,
            )
        )
    return tuple(rows)


def _reviews(run: Run) -> tuple[Review, ...]:
    state = run.state
    found: list[Review] = []
    for name, record in state.artifacts.items():
        if record.verdict is None or record.verdict is Verdict.UNREADABLE:
            continue
        phase = run.pipeline.phase(record.phase)
        label = phase.label if isinstance(phase, ReviewPhase) else f"{phase.label} ({name.removesuffix('.md')})"
        found.append(Review(label=label, verdict=record.verdict, rounds=record.round, findings=len(record.findings)))
    return tuple(found)


def _answers(run: Run) -> tuple[AnsweredCheckpoint, ...]:
    return tuple(
        AnsweredCheckpoint(
            label=run.pipeline.phase(decision.gate).label,
            answer=decision.answer,
            by=decision.by,
            via=decision.via,
            digest=decision.digest,
            notes=decision.notes,
        )
        for decision in run.state.decisions
    )
