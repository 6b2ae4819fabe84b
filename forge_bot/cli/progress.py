"""Show the progress of a run: one line for each thing done, and a last line that is rewritten while
something is under way.
"""

import threading
import time
from typing import TYPE_CHECKING

from rich.live import Live
from rich.markup import escape
from rich.text import Text

from forge_bot.agent.assignment import (
    AnswerRejected,
    CallLost,
    ModelAnswered,
    ModelAsked,
    RequestStarted,
)
from forge_bot.agent.assignment import Notice as ModelNotice
from forge_bot.cli.console import Console
from forge_bot.cli.show_runs import print_head
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
    Thinking,
)
from forge_bot.sentences import say
from forge_bot.text_format import command_line, cut, money, several
from forge_bot.values import CommandResult, Usage

if TYPE_CHECKING:
    from forge_bot.runs.create_run import RunPlan
    from forge_bot.runs.find_runs import RunInfo

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
                self._begin_phase(notice)
            case PhaseEnded():
                self._end_phase(notice)
            case PromptSent():
                self._show_prompt(notice)
            case CommandBegan():
                self._show_step(f"running {command_line(notice.argv)}")
            case CommandEnded():
                self._print_command(notice.result, notice.red)
                self._show_step(f"reading what {command_line(notice.result.argv)} printed")
            case Message():
                mark = "[yellow]![/]" if notice.kind == "warning" else "[dim]·[/]"
                self.print_line(f"  {mark} {escape(notice.text)}")
            case Explained():
                self._print_answer(notice.answer)
            case Thinking():
                self._show_model(notice.notice, notice.task)

    # -- notices
    # ----------------------------------------------------------------------------------------------

    def _begin_phase(self, notice: PhaseBegan) -> None:
        again = f", round {notice.round}" if notice.round > 1 else ""
        self._several = len(notice.tasks) > 1
        word = "tasks" if self._several else "task"
        task = f" · {word} {', '.join(notice.tasks)}" if notice.tasks else ""
        self._label, self._doing = f"{notice.label}{task}{again}", notice.agent
        self._began, self._usage = time.monotonic(), Usage()
        self._show_line()

    def _show_prompt(self, notice: PromptSent) -> None:
        self._show_step(
            f"reading {', '.join(notice.inputs)} ({notice.tokens:,} tokens)",
            notice.task,
        )
        for sentence in (*notice.dropped, notice.removed):
            if sentence:
                self.print_line(f"  [dim]· {escape(sentence)}[/]")

    def _show_model(self, notice: ModelNotice, task: str | None) -> None:
        match notice:
            case ModelAsked():
                self._show_step(f"turn {notice.turn}: waiting for {notice.model}", task)
            case ModelAnswered():
                self._usage = self._usage + notice.usage
            case RequestStarted():
                self._show_step(f"looking: {notice.capability} {notice.params}", task)
            case AnswerRejected():
                self._show_step(f"sent back: {notice.text}", task)
            case CallLost():
                self.print_line(f"  [yellow]![/] {may_be_billed(notice.usage)}")

    def _end_phase(self, notice: PhaseEnded) -> None:
        mark = "[green]✓[/]" if notice.good else "[yellow]↻[/]"
        task = f" task {notice.task}" if notice.task is not None else ""
        verdict = f" [bold]{notice.verdict.value}[/]" if notice.verdict is not None else ""
        took = format_clock(notice.usage.duration_ms / 1000)
        cost = f"{_describe_usage(notice.usage)} · {took}" if notice.usage.calls else ""
        self.print_line(
            f"{mark} {escape(notice.label)}{escape(task)}{verdict} [dim]→"
            f" {escape(notice.result)}{cost}[/]"
        )

    def _print_command(self, result: CommandResult, red: RedMeaning) -> None:
        """Print a command with one of three marks: as it should be, red as before, newly red."""
        good = result.exit_code == 0
        marks = {"wanted": "[green]✓[/]", "before": "[dim]○[/]", "new": "[red]✗[/]"}
        mark = "[green]✓[/]" if good else marks[red]
        count = f", {several(result.tests, 'test')}" if result.tests is not None else ""
        ended = (
            "did not end in time"
            if result.timed_out
            else say("words.exit_code", code=result.exit_code)
        )
        exit_ = "" if good else f" {ended}{', as it should' if red == 'wanted' else ''}"
        command = escape(cut(command_line(result.argv), _COMMAND))
        self.print_line(
            f"  {mark} [dim]{command}[/]{exit_}[dim]{count} ·"
            f" {format_clock(result.duration_ms / 1000)}[/]"
        )

    def _print_answer(self, answer: str) -> None:
        self.stop()
        self.print_line("")
        if self.console.is_terminal:
            self.console.print_markdown(answer)
        else:
            self.console.print(answer, markup=False)
        self.print_line("")

    # -- lines
    # ----------------------------------------------------------------------------------------------

    def print_line(self, markup: str) -> None:
        """Print a line above the living one."""
        self._restart_heartbeat()
        self.console.print(markup)

    def print_beginning(self, info: "RunInfo", plan: "RunPlan", outlook: str = "") -> None:
        """Print the beginning of a run, its place, and what it will probably cost."""
        print_head(info, plan, self.console)
        if outlook:
            self.print_line(f"[dim]{escape(outlook)}[/]")
        self.print_line("")

    def _show_step(self, what: str, task: str | None = None) -> None:
        self._doing = f"task {task}: {what}" if self._several and task is not None else what
        self._show_line()

    def _restart_heartbeat(self, *, begin: bool = False) -> None:
        """Wait anew for the moment in which nothing has been printed for a while."""
        if self._heartbeat is not None or begin:
            self._stop_heartbeat()
            self._heartbeat = threading.Timer(self.every, self._print_heartbeat)
            self._heartbeat.daemon = True
            self._heartbeat.start()

    def _stop_heartbeat(self) -> None:
        if self._heartbeat is not None:
            self._heartbeat.cancel()
            self._heartbeat = None

    def _print_heartbeat(self) -> None:
        elapsed = format_clock(time.monotonic() - self._began)
        self.print_line(f"  [dim]… {elapsed} {escape(self._label)} · {escape(self._doing)}[/]")

    def _show_line(self) -> None:
        if not self.console.is_terminal:
            if self._heartbeat is None:
                self._restart_heartbeat(begin=True)
            return
        if self._live is None:
            self._live = Live(
                get_renderable=self._render_line,
                console=self.console,
                transient=True,
                refresh_per_second=8,
            )
            self._live.start()

    def _render_line(self) -> Text:
        elapsed = time.monotonic() - self._began
        spin = _SPINNER[int(elapsed * 8) % len(_SPINNER)]
        spent = _describe_usage(self._usage)
        text = Text(f"{spin} {self._label} ", style="bold", no_wrap=True, overflow="ellipsis")
        return text.append(f"{format_clock(elapsed)}{spent} · {self._doing}", style="dim not bold")

    def stop(self) -> None:
        """Take the living line away: a person is asked, or it is over."""
        if self._live is not None:
            self._live.stop()
            self._live = None
        self._stop_heartbeat()


def _describe_usage(usage: Usage) -> str:
    return f" · {usage.tokens:,} tokens · {money(usage.cost)}" if usage.calls else ""


def format_clock(seconds: float) -> str:
    """Minutes and seconds; seconds alone when there are few."""
    whole = int(seconds)
    # A minute.
    return f"{whole // 60}:{whole % 60:02d}" if whole >= 60 else f"{seconds:.1f} s"  # noqa: PLR2004
