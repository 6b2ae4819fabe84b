"""Show the progress of a run: one line for each thing done, and a last line that is rewritten while
something is under way.
"""

import threading
import time
from typing import TYPE_CHECKING, Literal, assert_never

from rich.live import Live
from rich.markup import escape
from rich.text import Text

from forge_bot.agent.progress_events import (
    AnswerRejected,
    CallLost,
    ModelAnswered,
    ModelAsked,
    RequestStarted,
)
from forge_bot.agent.progress_events import Notice as ModelNotice
from forge_bot.cli.amounts import tokens
from forge_bot.cli.console import Console
from forge_bot.interaction.number_format import may_be_billed
from forge_bot.runs.notifications import (
    CommandBegan,
    CommandEnded,
    Explained,
    Message,
    Notice,
    PhaseBegan,
    PhaseEnded,
    PromptSent,
    RedMeaning,
    StoppedBefore,
    Thinking,
)
from forge_bot.sentences import say
from forge_bot.text_format import command_line, cut, money
from forge_bot.values import CommandResult, Usage

if TYPE_CHECKING:
    from forge_bot.gate.arguments import Amount
    from forge_bot.runs.create_run import RunPlan
    from forge_bot.runs.finding_runs.find_runs import RunInfo
    from forge_bot.runs.past_runs.estimate import Estimate

_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
HEARTBEAT_SECONDS = 60.0

_COMMAND = 160
"""Characters of a command that are shown."""


class Progress:
    """Call it with notices.

    At a terminal the present step is one line that changes. Elsewhere each finished step is
    printed, and the present step after `every` seconds without a line.
    """

    def __init__(self, console: Console, every: float = HEARTBEAT_SECONDS) -> None:
        self.console = console
        self.every = every
        self._heartbeat: threading.Timer | None = None
        self._live: Live | None = None
        self._label = ""
        self._doing = ""
        self._began = time.monotonic()
        self._usage = Usage()
        self._several = False

    def __call__(self, notice: Notice) -> None:
        match notice:
            case PhaseBegan():
                self._start(notice)
            case PhaseEnded():
                self._ended(notice)
            case PromptSent():
                self._sent(notice)
            case CommandBegan():
                self._do(f"running {command_line(notice.argv)}")
            case CommandEnded():
                if notice.needs_line:
                    self._ran(notice.result, notice.red)
                self._do(f"reading what {command_line(notice.result.argv)} printed")
            case Message():
                mark = "[yellow]![/]" if notice.kind == "warning" else "[dim]·[/]"
                self.line(f"  {mark} {escape(notice.text)}")
            case StoppedBefore():
                self._stopped(notice)
            case Explained():
                self._explained(notice.answer)
            case Thinking():
                self._thinking(notice.notice, notice.task)
            case _:
                assert_never(notice)

    # -- notices
    # ----------------------------------------------------------------------------------------------

    def _start(self, notice: PhaseBegan) -> None:
        again = f", round {notice.round}" if notice.round > 1 else ""
        names = ", ".join(notice.tasks)
        task = (
            (f" · task {names}" if len(notice.tasks) == 1 else f" · tasks {names}") if names else ""
        )
        self._several = len(notice.tasks) > 1
        self._label, self._doing, self._began, self._usage = (
            f"{notice.label}{task}{again}",
            notice.agent,
            time.monotonic(),
            Usage(),
        )
        self._lively()

    def _sent(self, notice: PromptSent) -> None:
        self._do(
            "reading {documents} ({tokens:,} tokens)".format(
                documents=", ".join(notice.inputs), tokens=notice.tokens
            ),
            notice.task,
        )
        for sentence in (*notice.dropped, notice.removed):
            if sentence:
                self.line(f"  [dim]· {escape(sentence)}[/]")

    def _thinking(self, notice: ModelNotice, task: str | None) -> None:
        match notice:
            case ModelAsked():
                self._do(f"turn {notice.turn}: waiting for {notice.model}", task)
            case ModelAnswered():
                self._usage = self._usage + notice.usage
            case RequestStarted():
                self._do(
                    f"looking: {notice.capability} {notice.params}",
                    task,
                )
            case AnswerRejected():
                self._do(f"sent back: {notice.text}", task)
            case CallLost():
                self.line(f"  [yellow]![/] {may_be_billed(notice.usage)}")
            case _:
                assert_never(notice)

    def _ended(self, notice: PhaseEnded) -> None:
        mark = "[green]✓[/]" if notice.good else "[yellow]↻[/]"
        task = f" task {notice.task}" if notice.task is not None else ""
        verdict = f" [bold]{notice.verdict.value}[/]" if notice.verdict is not None else ""
        cost = (
            f" · {tokens(notice.usage)} · {money(notice.usage.cost)} ·"
            f" {clock(notice.usage.duration_ms / 1000)}"
            if notice.usage.calls
            else ""
        )
        self.line(
            f"{mark} {escape(notice.label)}{escape(task)}{verdict} [dim]→"
            f" {escape(notice.result)}{cost}[/]"
        )

    def _ran(self, result: CommandResult, red: RedMeaning) -> None:
        """Print a command with one of three marks: as it should be, red as before, newly red."""
        good = result.exit_code == 0
        marks = {"wanted": "[green]✓[/]", "before": "[dim]○[/]", "new": "[red]✗[/]"}
        mark = "[green]✓[/]" if good else marks[red]
        count = (
            (f", {result.tests:,} test" if result.tests == 1 else f", {result.tests:,} tests")
            if result.tests is not None
            else ""
        )
        ended = (
            "did not end in time"
            if result.timed_out
            else say("words.exit_code", code=result.exit_code)
        )
        exit_ = "" if good else f" {ended}{', as it should' if red == 'wanted' else ''}"
        command = escape(cut(command_line(result.argv), _COMMAND))
        self.line(
            f"  {mark} [dim]{command}[/]{exit_}[dim]{count} · {clock(result.duration_ms / 1000)}[/]"
        )

    def _stopped(self, notice: StoppedBefore) -> None:
        self.stop()
        following, last = escape(notice.following), escape(notice.last)
        before = f"[bold]Stopped[/], as --until says: {following} comes after {last}."
        self.line(f"\n{before}")
        self.line("Go on with: [bold]forge-bot resume[/] [dim](--until PHASE stops it again)[/]")

    def _explained(self, answer: str) -> None:
        self.stop()
        self.line("")
        if self.console.is_terminal:
            self.console.print_markdown(answer)
        else:
            self.console.print(answer, markup=False)
        self.line("")

    # -- lines
    # ----------------------------------------------------------------------------------------------

    def line(self, markup: str) -> None:
        """Print a line above the living one."""
        self._beat()
        self.console.print(markup)

    def began(self, info: "RunInfo", plan: "RunPlan", outlook: str = "") -> None:
        """Print the beginning of a run, its place, and what it will probably cost."""
        self.line(f"[bold]{escape(info.title)}[/]")
        effort = f"run {escape(info.name)} · effort {plan.effort} ({escape(plan.effort_reason)})"
        self.line(f"[dim]{effort}[/]")
        branch, tree = escape(info.branch), escape(str(info.tree))
        self.line(f"[dim]branch {branch} · work tree {tree}[/]")
        if outlook:
            self.line(f"[dim]{escape(outlook)}[/]")
        self.line("")

    def _do(self, what: str, task: str | None = None) -> None:
        self._doing = f"task {task}: {what}" if self._several and task is not None else what
        self._lively()

    def _beat(self, *, begin: bool = False) -> None:
        """Wait anew for the moment in which nothing has been printed for a while."""
        if self._heartbeat is not None or begin:
            self._quiet()
            self._heartbeat = threading.Timer(self.every, self._alive)
            self._heartbeat.daemon = True
            self._heartbeat.start()

    def _quiet(self) -> None:
        if self._heartbeat is not None:
            self._heartbeat.cancel()
            self._heartbeat = None

    def _alive(self) -> None:
        elapsed = clock(time.monotonic() - self._began)
        self.line(f"  [dim]… {elapsed} {escape(self._label)} · {escape(self._doing)}[/]")

    def _lively(self) -> None:
        if not self.console.is_terminal:
            if self._heartbeat is None:
                self._beat(begin=True)
            return
        if self._live is None:
            self._live = Live(
                get_renderable=self._now, console=self.console, transient=True, refresh_per_second=8
            )
            self._live.start()

    def _now(self) -> Text:
        elapsed = time.monotonic() - self._began
        spin = _SPINNER[int(elapsed * 8) % len(_SPINNER)]
        spent = f" · {tokens(self._usage)} · {money(self._usage.cost)}" if self._usage.calls else ""
        text = Text(f"{spin} {self._label} ", style="bold", no_wrap=True, overflow="ellipsis")
        return text.append(f"{clock(elapsed)}{spent} · {self._doing}", style="dim not bold")

    def stop(self) -> None:
        """Take the living line away: a person is asked, or it is over."""
        if self._live is not None:
            self._live.stop()
            self._live = None
        self._quiet()


def expected(estimate: "Estimate", budget: "Amount") -> str:
    """Return the estimate of a run in words: half of such runs stay below the first figures,
    nine in ten below the second; then the limit.
    """
    from forge_bot.runs.past_runs.estimate import at_most

    half, most = (_figures(estimate, share) for share in ("p50", "p90"))
    spread = f"about {half}" if half == most else f"about {half}; nine in ten below {most}"
    return f"expected: {spread} ({estimate.rests_on}){at_most(estimate, budget)}"


def _figures(estimate: "Estimate", share: Literal["p50", "p90"]) -> str:
    parts = [say("words.tokens", tokens=getattr(estimate.tokens, share))]
    if estimate.cost is not None:
        parts.append(money(getattr(estimate.cost, share)))
    if estimate.minutes is not None:
        parts.append(f"{getattr(estimate.minutes, share)} min")
    return " · ".join(parts)


def clock(seconds: float) -> str:
    """Minutes and seconds; seconds alone when there are few."""
    whole = int(seconds)
    # A minute.
    return f"{whole // 60}:{whole % 60:02d}" if whole >= 60 else f"{seconds:.1f} s"  # noqa: PLR2004
