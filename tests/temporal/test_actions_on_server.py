"""Tools and skills that agents ask for: each is a workflow of its own, and none is done twice."""

import asyncio
import json
import signal
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from forge_bot.temporal.workflows import ActionResult, ForgeActionWorkflow
from tests.cli.test_tools_in_a_run import CREATE, asks
from tests.fakes import script
from tests.fakes.script import Answer
from tests.fakes.tool_servers import configure, skill, unruly
from tests.temporal.conftest import TASK
from tests.temporal.scene import Clone, Server, at_server, clone, texts

ANALYST = ("situation-analyst-investigator", "phase-1")
LOOK_UP = ("mcp_tickets_look_up_it_all", {"kind": "bug"})
ECHO = ("mcp_tickets_echo", {"text": "an argument of the echo"})
NOTES = ("skill_release-notes", {"request": "the notes since the first commit"})
TOKEN = "token-of-the-tickets-4711"


@contextmanager
def equipped(folder: Path, server: Server, rounds: Mapping[str, Answer]) -> Generator[Clone]:
    """A clone with a server of tools, a skill, and an analyst that answers like this."""
    with clone(folder, server) as it:
        (it.path / ".forge").mkdir()
        # Without a sandbox the server can note its calls where the test reads them.
        (it.path / ".forge" / "config.yml").write_text("sandbox: off\n")
        tickets = unruly("well", str(notes(it)), env={"TICKETS_TOKEN": "${TICKETS_TOKEN}"})
        configure(it.path, {"tickets": tickets})
        front = "name: release-notes\ndescription: Write the notes of a release."
        skill(it.path / ".forge" / "skills", "release-notes", front)
        it.git("add", "-A")
        it.git("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "commit", "-qm", "tools")
        it.git("push", "-q", "origin", "main")
        answers = {(*ANALYST, round_): answer for round_, answer in rounds.items()}
        performed: Answer = {"artifact_markdown": "The notes of the skill."}
        model = script.write(
            it.folder / "script.jsonl", {**answers, ("skill", "phase-1", "*"): performed}
        )
        # A worker is told in its environment what servers may have.
        it.environ |= {"FORGE_BOT_SERVER_VARIABLES": "TICKETS_TOKEN"}
        it.environ |= {"FORGE_BOT_MODEL": model, "TICKETS_TOKEN": TOKEN}
        yield it


def notes(place: Clone) -> Path:
    return place.folder / "calls.txt"


def made(place: Clone) -> Counter[str]:
    """The calls that reached the server, by tool."""
    lines = notes(place).read_text().splitlines() if notes(place).exists() else ()
    return Counter(json.loads(line)[0] for line in lines)


def children(place: Clone) -> dict[str, ActionResult]:
    """The results of the workflows of actions, by the ends of their names."""

    async def asked() -> dict[str, ActionResult]:
        client = await at_server(place.server)
        found = dict[str, ActionResult]()
        for event in place_history.events:
            if event.HasField("child_workflow_execution_completed_event_attributes"):
                name = event.child_workflow_execution_completed_event_attributes
                id_ = name.workflow_execution.workflow_id
                handle = client.get_workflow_handle_for(ForgeActionWorkflow.run, id_)
                found[id_.removeprefix(f"{place.workflow()}/")] = await handle.result()
        return found

    place_history = place.history()
    return asyncio.run(asked())


@pytest.fixture(scope="module")
def read(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clone]:
    """A run whose analyst asks for tools that read, a skill and a file, up to the question."""
    first = asks(LOOK_UP, ECHO, ("mcp_tickets_echo", {"words": 1}), NOTES)
    first = {**first, "requests": script.look("rota/schedule.py")["requests"]}
    with equipped(tmp_path_factory.mktemp("actions"), server, {"1.1": first}) as it:
        it.start_worker()
        said = it.begin(TASK)
        assert said.code == 3, said.out + said.err
        yield it


def test_each_tool_and_each_skill_is_a_workflow_whose_name_ends_with_its_effect_key(
    read: Clone,
) -> None:
    found = children(read)
    assert Counter((each.capability, each.outcome) for each in found.values()) == {
        ("mcp_tickets_look_up_it_all", "ok"): 1,
        ("mcp_tickets_echo", "ok"): 1,
        ("mcp_tickets_echo", "invalid_params"): 1,
        ("skill_release-notes", "ok"): 1,
    }
    assert {key.rpartition("#")[2].partition("-")[0] for key in found} == {
        "1.2",
        "1.3",
        "1.4",
        "1.5",
    }
    assert made(read) == {"look up.it/all": 1, "echo": 1}


def test_payloads_have_neither_arguments_nor_results_nor_the_configuration(read: Clone) -> None:
    run = read.workflow()
    names = [f"{run}/{key}" for key in children(read)]
    whole = "\n".join(text for name in (run, *names) for text in texts(read, name))
    assert "mcp_tickets_echo" in whole
    hidden = (
        *(TOKEN, "an argument of the echo", "server.py", "the notes since"),
        *("The notes of the skill", "Write the notes of a release"),
    )
    for secret in hidden:
        assert secret not in whole, secret


def test_a_call_that_may_change_something_stands_at_its_checkpoint_and_is_made_once(
    server: Server, tmp_path: Path
) -> None:
    rounds = {"1.1": asks(CREATE), "2.1": asks(CREATE)}
    with equipped(tmp_path / "clone", server, rounds) as place:
        place.start_worker()
        said = place.begin(TASK)
        assert (said.code, "may change something" in said.out) == (3, True), said.out + said.err
        assert (made(place), children(place)) == ({}, {})
        done = place.forge("approve")
        assert (done.code, "Human Reviews Design" in done.out) == (3, True), done.out + done.err
        assert made(place) == {"create": 1}
        assert {key: each.outcome for key, each in children(place).items()} == {
            "calls-1.json/0": "done"
        }


def test_a_worker_that_dies_in_a_call_that_may_change_something_never_makes_it_again(
    server: Server, tmp_path: Path
) -> None:
    with equipped(tmp_path / "clone", server, {"1.1": asks(CREATE)}) as place:
        place.environ |= {"FORGE_BOT_TEMPORAL_SILENCE": "2"}
        worker = place.start_worker()
        assert place.begin(TASK).code == 3
        notes(place).with_suffix(".mode").write_text("kills")
        going = place.start("approve")
        worker.communicate()
        assert worker.returncode == -signal.SIGKILL
        notes(place).with_suffix(".mode").write_text("well")
        place.start_worker()
        out, _ = going.communicate()
        assert (going.returncode, "no answer came back" in out) == (3, True), out
        assert made(place) == {"create": 1}
        done = place.forge("approve")
        assert (done.code, "Human Reviews Design" in done.out) == (3, True), done.out + done.err
        assert made(place) == {"create": 1}


def test_two_calls_of_a_turn_are_made_side_by_side(server: Server, tmp_path: Path) -> None:
    with equipped(tmp_path / "clone", server, {"1.1": asks(LOOK_UP, ECHO)}) as place:
        # Each is answered when the other one has come, too.
        notes(place).with_suffix(".mode").write_text("meets")
        place.start_worker()
        said = place.begin(TASK)
        assert said.code == 3, said.out + said.err
        assert {each.outcome for each in children(place).values()} == {"ok"}
        assert made(place) == {"look up.it/all": 1, "echo": 1}
