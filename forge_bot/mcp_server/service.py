"""The tools as plain functions, independent of the protocol."""

import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import JsonValue

from forge_bot.engine import Checkpoint, HumanGate
from forge_bot.engine.reports import Answer
from forge_bot.errors import AskedElsewhere, NotServed, UnknownRun, WrongAction
from forge_bot.mcp_server.client_runs.action_cache import MOMENT, ActionCache
from forge_bot.mcp_server.client_runs.check_worktree import CheckWorktree, ClientTries
from forge_bot.mcp_server.client_runs.client_actions import ClientAction, next_for_client
from forge_bot.mcp_server.client_runs.client_reports import report
from forge_bot.mcp_server.client_runs.client_run import Turns, client_run
from forge_bot.mcp_server.client_runs.person_answers import given_to_client, is_answered, passed_on
from forge_bot.mcp_server.client_runs.pipeline_init import handle_init
from forge_bot.mcp_server.client_runs.pipeline_init_with_context import Call, Confirmations
from forge_bot.mcp_server.client_runs.preferences import preferences
from forge_bot.mcp_server.client_runs.render_question import beforehand
from forge_bot.mcp_server.queries import Queries
from forge_bot.mcp_server.run_management import RunManagement
from forge_bot.mcp_server.served_folders import RunLocation, ServedFolder, ServedFolders
from forge_bot.mcp_server.tool_schemas import (
    CheckpointAction,
    ExecAction,
    HumanGateAction,
    InitErrors,
    NeedsConfirmation,
    NeedsDiscussion,
    NewRunProposal,
    PhaseReport,
    Previous,
    Ready,
    Resumed,
    SpawnAgentAction,
    WireAction,
    WriteFileAction,
)
from forge_bot.runs.notifications import Notice, Notify
from forge_bot.runs.run import Run
from forge_bot.runs.typed_answer import PersonAnswer
from forge_bot.sentences import say
from forge_bot.store import SPECS

Begun = TypeVar("Begun", bound=NewRunProposal | Resumed | Ready)


class Service:
    """Serves the runs of some folders to clients. Its functions may be called from several threads
    at once.
    """

    def __init__(
        self,
        folders: Sequence[Path],
        moment: float = MOMENT,
        *,
        named: bool = True,
    ) -> None:
        self.roots = ServedFolders(folders, named=named)
        self.turns = Turns()
        self.check_tree = CheckWorktree()
        self.standing = ActionCache(moment)
        self.confirming = Confirmations()
        self.looking = Queries(self.roots)
        self.managing = RunManagement(self.roots, self.turns, self.check_tree, self.looking)

    # -- beginning
    # ----------------------------------------------------------------------------------------------

    def init(
        self, arguments: str, current_branch: str, project: str = "", opened: Sequence[Path] = ()
    ) -> NewRunProposal | Resumed | InitErrors:
        """Carry out `pipeline_init`; `opened` are the client's open folders, if requested."""
        self.roots.welcome(opened)
        root = self._meant(arguments, project or self.roots.open_one(opened))
        found = handle_init(
            root, arguments, current_branch, preferences(root.repository), os.environ
        )
        return found if isinstance(found, InitErrors) else self._placed(root, found)

    def _meant(self, arguments: str, project: str) -> ServedFolder:
        """Return the root that is named, else the root of the run that the words name, else the
        default one.
        """
        if not project and f"{SPECS}/" in arguments:
            with contextlib.suppress(UnknownRun, NotServed):
                return self.looking.run(arguments).root
        return self.roots.root(project)

    def _placed(self, root: ServedFolder, found: Begun) -> Begun:
        return found.replace(
            workspace=self.roots.workspace(root, found.workspace.removeprefix(f"{SPECS}/"))
        )

    def init_with_context(
        self, given: Mapping[str, Any]
    ) -> NeedsConfirmation | NeedsDiscussion | Ready:
        """`pipeline_init_with_context`, with its arguments by name. Raises ValidationError for
        those that do not fit.
        """
        call = Call.model_validate(given)
        root = self.roots.around(call.workspace)
        answer = self.confirming.answer(root, call)
        return self._placed(root, answer) if isinstance(answer, Ready) else answer

    def beforehand(
        self, answer: NeedsConfirmation | NeedsDiscussion | Ready
    ) -> dict[str, JsonValue]:
        """Return the `_meta` of an answer of `init_with_context`."""
        return beforehand(answer)

    # -- going on
    # ----------------------------------------------------------------------------------------------

    def asked_again(self, workspace: str, given: Mapping[str, Any]) -> ClientAction | None:
        """Return the outstanding action if the call reports nothing and nothing has changed; fast
        enough for any thread.
        """
        return self.standing.again(workspace) if not any(given.values()) else None

    def next_action(
        self,
        workspace: str,
        given: Mapping[str, Any],
        client: str,
        tell: Notify,
        *,
        asks_itself: bool = False,
    ) -> ClientAction:
        """`pipeline_next_action`: record the report, perform our own actions, return the next."""
        said = Previous.model_validate(given)
        location = self.roots.location(workspace)
        with client_run(location, self.turns) as run:
            told = self._told(run, location, said, tell) if said.is_report else None
            warning = ""
            if said.user_response.strip():
                if asks_itself and isinstance(run.action, Checkpoint | HumanGate):
                    raise AskedElsewhere(say("client.service.client_asks_its_person"))
                warning = passed_on(run, said.user_response, said.digest, said.action_id, client)
            found = self._next(run, location, tell)
            self.standing.note(workspace, run, found)
            return _with_result(found, told, said, (*run.notices, *filter(None, (warning,))))

    def person_said(
        self,
        workspace: str,
        action_id: str,
        digest: str,
        answer: str,
        notes: str,
        tell: Notify,
        *,
        cut: bool,
    ) -> ClientAction:
        """Return the next action after an answer of the client's person, which counts for the
        question that was asked.
        """
        location = self.roots.location(workspace)
        with client_run(location, self.turns) as run:
            warning = given_to_client(
                run, action_id, PersonAnswer(answer=Answer(answer), notes=notes), digest, cut=cut
            )
            return _with_result(
                self._next(run, location, tell),
                None,
                Previous(),
                (*run.notices, *filter(None, (warning,))),
            )

    def _next(self, run: Run, location: RunLocation, tell: Notify) -> ClientAction:
        found = next_for_client(run, location, self.check_tree, tell)
        return found if location.root is self.roots.all[0] else placed(found, location.root.path)

    def report_result(self, workspace: str, phase: str, given: Mapping[str, Any]) -> PhaseReport:
        """`pipeline_report_result`: record the report without returning the next action."""
        said = Previous.model_validate(given)
        location = self.roots.location(workspace)
        with client_run(location, self.turns) as run:
            action = run.action
            if action.phase != phase and not said.action_id:
                if phase in run.state.completed_phases:
                    return PhaseReport(
                        state_updated=False,
                        warning=say(
                            "client.service.complete_already",
                            phase=phase,
                            action_id=action.action_id,
                        ),
                    )
                raise WrongAction(
                    say(
                        "client.service.another_is_outstanding",
                        phase=phase,
                        action_id=action.action_id,
                    )
                )
            told = self._told(run, location, said, _show_nothing)
            return told or PhaseReport(
                state_updated=False, warning=say("client.service.recorded_before")
            )

    def _told(
        self, run: Run, location: RunLocation, said: Previous, tell: Notify
    ) -> PhaseReport | None:
        if isinstance(run.action, Checkpoint | HumanGate) and not said.action_id:
            return None
        if said.action_id and is_answered(run, said.action_id):
            return None
        return report(run, said, ClientTries(location, self.check_tree, tell))


def _show_nothing(_notice: Notice) -> None:
    """Ignore progress, for calls that cannot show it."""


def _with_result(
    found: ClientAction, told: PhaseReport | None, said: Previous, notices: tuple[str, ...]
) -> ClientAction:
    """Return the next action together with the effect of the report."""
    warnings = [*notices]
    result = None
    if told is not None:
        result = told.result
    elif said.is_report and not said.user_response.strip():
        warnings.append(say("client.service.nothing_new"))
    elif said.unread:
        warnings.append(say("client.service.no_report", unread=", ".join(said.unread)))
    return found._replace(
        action=found.action.replace(report_result=result, warning="; ".join(warnings))
    )


_THERE = (
    "The repository is in {root}. All paths below count from that folder, and commands run in"
    " it.\n\n{prompt}"
)
_IN_FOLDER = 'cd "$0" && exec "$@"'


def placed(found: ClientAction, root: Path) -> ClientAction:
    """Return the action with the folder's name."""
    return found._replace(action=_placed(found.action, root))


def _placed(action: WireAction, root: Path) -> WireAction:
    match action:
        case SpawnAgentAction():
            return action.replace(prompt=_THERE.format(root=root, prompt=action.prompt))
        case WriteFileAction():
            return action.replace(path=f"{root}/{action.path}")
        case ExecAction(commands=("git", *words)):
            return action.replace(commands=("git", "-C", str(root), *words))
        case ExecAction():
            # As arguments of the shell and not in its script: nothing in them can end a word.
            return action.replace(commands=("sh", "-c", _IN_FOLDER, str(root), *action.commands))
        case CheckpointAction() | HumanGateAction():
            return action.replace(
                present_to_user=f"In the repository `{root}`:\n\n{action.present_to_user}"
            )
        case _:
            return action
