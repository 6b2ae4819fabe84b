"""What programs outside read of forge-bot, word for word. A row changes when the contract does, and
never to make a test pass.
"""

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from mcp.types import (
    EmbeddedResource,
    PromptReference,
    ResourceTemplateReference,
    TextContent,
    TextResourceContents,
)

from forge_bot.agent.model_answers import Explore
from forge_bot.cli.app import run
from forge_bot.engine import actions
from forge_bot.engine.state import State
from forge_bot.engine.steps import Step, StepKind
from forge_bot.gate.grammar import NAMED
from forge_bot.interaction import markers
from forge_bot.mcp_server.tool_schemas import Hint
from forge_bot.settings.capability_file import parse_capability_file
from forge_bot.settings.config import Config
from forge_bot.temporal.workflows import ACTIVITY_OF_ACTION, ForgeActionWorkflow
from forge_bot.values import Effort, Verdict
from tests.fakes import script
from tests.fakes.bench import SHIPPED
from tests.fakes.sample import Sample
from tests.mcp_server.host import Host, Json, Refusal, hosting, tools_of_ours

ROOT = Path(__file__).parent.parent
TASK = "Nobody is on call before the start"
ISSUE = "https://github.com/owner/repo/issues/42"
MOST_TOOLS, MOST_TOKENS = 12, 1500

# -- tools and their answers
# --------------------------------------------------------------------------------------------------

TAKES = {
    "pipeline_init": "arguments current_branch",
    "pipeline_init_with_context": (
        "workspace source_id source_url external_context flags task_text user_confirmation"
        " discussion_answers"
    ),
    "pipeline_next_action": (
        "workspace previous_action_complete previous_tokens previous_duration_ms previous_model"
        " previous_setup_only user_response"
    ),
    "pipeline_report_result": "workspace phase tokens_used duration_ms model setup_only",
}
REQUIRED = {
    "pipeline_init": ["arguments"],
    "pipeline_init_with_context": ["workspace"],
    "pipeline_next_action": ["workspace"],
    "pipeline_report_result": ["workspace", "phase"],
}
GIVES = {
    "new": "workspace spec_name source_type source_url source_id core_text flags fetch_needed",
    "flags": "auto skip_pr debug discuss effort_override current_branch",
    "fetch_needed": "type fields instruction",
    "resumed": "resume_mode workspace instruction",
    "confirm": (
        "detected_effort effort_options current_branch is_main_branch enriched_request_body message"
    ),
    "ready": (
        "ready workspace effort flow_template skipped_phases request_md_content branch"
        " create_branch"
    ),
    "reported": (
        "state_updated artifact_written verdict_parsed findings next_action_hint warning"
        " display_message"
    ),
    "report_result": "next_action_hint verdict_parsed findings warning display_message",
}
ACTIONS = {
    "spawn_agent": "agent prompt model phase input_files output_file parallel_task_ids",
    "checkpoint": "name present_to_user options",
    "exec": "phase commands setup_only",
    "write_file": "phase path content",
    "human_gate": "phase name present_to_user options",
    "done": "summary summary_path",
}
EVERY_ACTION = "type warning display_message report_result"
CONTEXT = {
    "github_labels": ["bug", "priority-high"],
    "github_title": "Fix auth timeout in middleware",
    "github_body": "requests timeout after 30s",
    "jira_issue_type": "Bug",
    "jira_story_points": 3,
    "jira_summary": "Skip minutes job without integration",
    "jira_description": "...",
}
BY_HAND = "\n## Task 2: Merge the other\nmode: human_gate\ndepends_on: [1]\n"
PLAN = f"{script.TASKS}{BY_HAND}\nAcceptance criteria:\n- [ ] AC-1: merged\n"


def has(answer: Json, names: str) -> Json:
    """Return an answer that has these fields."""
    assert set(names.split()) <= set(answer), answer
    return answer


async def test_a_tool_takes_what_hosts_send_and_the_list_is_short(sample: Sample) -> None:
    known = await tools_of_ours()
    for tool, names in TAKES.items():
        assert set(names.split()) <= set(known[tool]["arguments"]), tool
        assert known[tool]["required"] == REQUIRED[tool]
    async with hosting(sample) as host:
        tools = (await host.client.list_tools()).tools
    shown = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
        for tool in tools
    ]
    assert len(tools) <= MOST_TOOLS
    # Four characters a token is within a twentieth of what tokenizers count for such lists.
    assert len(json.dumps(shown, separators=(",", ":"))) / 4 <= MOST_TOKENS


async def test_an_issue_becomes_a_run_in_three_calls(sample: Sample) -> None:
    async with hosting(sample) as host:
        assert await host.call("pipeline_init", arguments="ab") == {
            "errors": ["input too short: minimum 3 characters required"]
        }
        new = has(await host.call("pipeline_init", arguments=f"{ISSUE} --auto"), GIVES["new"])
        assert new["workspace"].endswith("-https-github-com-owner-repo-issues-42")
        assert (new["source_type"], new["source_id"]) == ("github_issue", "42")
        assert has(new["flags"], GIVES["flags"])["auto"] is True
        needed = has(new["fetch_needed"], GIVES["fetch_needed"])
        assert (needed["type"], needed["fields"]) == ("github", ["labels", "title", "body"])
        handed = {name: new[name] for name in ("workspace", "source_id", "source_url", "flags")}
        asked = await host.call("pipeline_init_with_context", **handed, external_context=CONTEXT)
        needs = has(asked["needs_user_confirmation"], GIVES["confirm"])
        assert list(needs["effort_options"]) == ["S", "M", "L"]
        assert needs["effort_options"]["M"]["skipped_phases"] == [
            {"phase_id": "phase-4b", "label": "Tasks Review"},
            {"phase_id": "checkpoint-b", "label": "Human Reviews Tasks"},
        ]
        confirmed = {
            "effort": "M",
            "workspace_slug": "fix-auth-timeout",
            "use_current_branch": False,
            "enriched_request_body": needs["enriched_request_body"],
        }
        ready = has(
            await host.call("pipeline_init_with_context", **handed, user_confirmation=confirmed),
            GIVES["ready"],
        )
        assert (ready["ready"], ready["flow_template"], ready["create_branch"]) == (
            True,
            "standard",
            True,
        )
        assert ready["skipped_phases"] == ["phase-4b", "checkpoint-b"]
        assert (ready["branch"], ready["workspace"][-20:]) == (
            "feature/42-fix-auth-timeout",
            "-42-fix-auth-timeout",
        )
        assert ready["request_md_content"].startswith("---\nsource_type: github_issue\n")
        again = await host.call("pipeline_init", arguments=ready["workspace"])
        assert has(again, GIVES["resumed"])["resume_mode"] == "auto"


async def test_a_discussion_asks_before_it_confirms(sample: Sample) -> None:
    handed: Json = {"workspace": ".specs/x", "task_text": TASK, "flags": {"discuss": True}}
    async with hosting(sample) as host:
        asked = await host.call("pipeline_init_with_context", **handed)
        assert len(has(asked["needs_discussion"], "questions message")["questions"]) == 3
        handed["discussion_answers"] = "Nobody may be called"
        assert "needs_user_confirmation" in await host.call("pipeline_init_with_context", **handed)
        with pytest.raises(Refusal, match="together"):
            await host.call(
                "pipeline_init_with_context", **handed, user_confirmation={"effort": "S"}
            )


class KnowsOnlyTheContract:
    """A host that sends none but the fields of the contract, numbers with fractions among them."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.met: dict[str, Json] = {}

    async def run(self) -> None:
        """Lead the run to its end."""
        action = await self.host.next()
        while action["type"] != "done":
            action = await self._after(action)
        self._look(action)

    def _look(self, action: Json) -> None:
        has(action, f"{EVERY_ACTION} {ACTIONS[action['type']]}")
        if action["report_result"]:
            has(action["report_result"], GIVES["report_result"])
        self.met.setdefault(action["type"], action)

    async def _after(self, action: Json) -> Json:
        self._look(action)
        if action["type"] in {"checkpoint", "human_gate"}:
            first = "done" if action["type"] == "human_gate" else "approve"
            return await self.host.next(user_response=first)
        if action["type"] == "exec":
            if action["commands"][0] == "git":
                self.host.git(*action["commands"][1:])
            return await self.host.next(
                previous_action_complete=True, previous_setup_only=action["setup_only"]
            )
        self.host.perform(action)
        return await self.host.next(
            previous_action_complete=True,
            previous_tokens=1500.5,
            previous_duration_ms=45000.25,
            previous_model="sonnet",
        )


async def test_a_host_that_knows_only_the_contract_gets_through_a_whole_run(
    sample: Sample, tmp_path: Path
) -> None:
    sample.git("init", "-q", "--bare", str(tmp_path / "remote.git"))
    sample.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    sample.git("push", "-q", "origin", "main")
    async with hosting(sample) as host:
        host.answers = {
            **script.usual(),
            ("task-decomposer", "*", "*"): {"artifact_markdown": PLAN},
        }
        await host.begin(TASK, "M")
        led = KnowsOnlyTheContract(host)
        await led.run()
    assert set(led.met) == set(ACTIONS)
    assert led.met["checkpoint"]["options"] == ["approve", "reject"]
    assert led.met["human_gate"]["options"] == ["done", "skip", "abandon"]
    assert led.met["done"]["summary"].startswith("Pipeline completed: ")
    state = json.loads((sample.path / host.workspace / "state.json").read_text())
    assert set(STATE.split()) - {*state} == set()


async def test_a_report_of_its_own_says_verdict_findings_and_what_is_next(sample: Sample) -> None:
    async with hosting(sample) as host:
        host.answers = {
            **script.usual(),
            ("design-reviewer", "*", "1"): script.review("REVISE", "[CRITICAL] No error handling"),
        }
        await host.begin(TASK, "M")
        host.perform(await host.drive(await host.next(), "design-reviewer"))
        report: dict[str, Any] = {"workspace": host.workspace, "phase": "phase-3b"}
        answer = await host.call(
            "pipeline_report_result", **report, tokens_used=15000, duration_ms=45000, model="opus"
        )
    assert has(answer, GIVES["reported"]) == {
        "state_updated": True,
        "artifact_written": "review-design.md",
        "verdict_parsed": "REVISE",
        "findings": [{"severity": "CRITICAL", "description": "No error handling"}],
        "next_action_hint": "revision_required",
        "warning": "",
        "display_message": "Design Review: REVISE",
    }


HEADINGS = ("## Input Files", "## Output File", "## Repository Context")
PROFILE = ("Languages", "Build command", "Test command", "Linter")
RECALLED = ("## Similar Past Pipelines", "## Past Review Patterns", "## AI Friction Points")


async def test_a_prompt_has_its_layers_in_order_and_lists_paths_only(sample: Sample) -> None:
    settings = sample.path / ".forge" / "config.yml"
    settings.parent.mkdir()
    settings.write_text("commands: {build: 'true', test: python3 -m unittest, lint: 'true'}\n")
    sample.git("add", ".forge")
    sample.git("commit", "-qm", "Settings")
    async with hosting(sample) as host:
        ready = await host.begin(f"{TASK}: WORDS-OF-THE-REQUEST", "M")
        prompt: str = (await host.drive(await host.next(), "architect"))["prompt"]
    places = [prompt.index(f"\n{heading}\n") for heading in HEADINGS]
    assert places == sorted(places)
    assert f"## Output File\n\n- {ready['workspace']}/design.md\n" in prompt
    files, profile = prompt[places[0] : places[1]], prompt[places[2] :].replace("**", "")
    assert f"\n- {ready['workspace']}/request.md\n" in files
    assert "WORDS-OF-THE-REQUEST" not in files
    assert [name for name in PROFILE if f"{name}: " not in profile] == []
    shared = (ROOT / "templates" / "prompts" / "_recall.md.j2").read_text(encoding="utf-8")
    assert [heading for heading in RECALLED if heading not in shared] == []


# -- words of the pipeline
# --------------------------------------------------------------------------------------------------

STATE = (
    "schemaVersion run pipeline title source flags effort effortReason flowTemplate branch"
    " baseBranch baseCommit requestHash startedAt updatedAt currentPhase currentPhaseStatus"
    " completedPhases skippedPhases step attempts visits rounds artifacts tasks wave calls"
    " capabilities notes gate decisions risks baseline unusable verification nothingToDo budget"
    " firstCap firstTokenCap usage pullRequest pullRequestBranch log seen"
)
CONFIGURED = (
    "model models pipeline budget budget_tokens commands projects command_seconds run_seconds"
    " environment carry services setup_credentials sign_off sign sandbox agent"
    " capabilities tries protected protected_branches"
)
REVIEWED, CHECKED = "APPROVE APPROVE_WITH_NOTES REVISE", "PASS PASS_WITH_NOTES FAIL"
PHASES = [
    ("setup", "setup", "Setup", "request.md", "", ""),
    ("phase-1", "agent", "Situation Analysis", "analysis.md", "", ""),
    ("phase-2", "agent", "Investigation", "investigation.md", "", "S"),
    ("phase-3", "agent", "Design", "design.md", "", ""),
    ("phase-3b", "review", "Design Review", "review-design.md", REVIEWED, "S"),
    (
        "checkpoint-a",
        "gate",
        "Human Reviews Design",
        "design.md review-design.md draft.patch",
        "",
        "",
    ),
    ("phase-4", "agent", "Task Decomposition", "tasks.md", "", "S"),
    ("phase-4b", "review", "Tasks Review", "review-tasks.md", REVIEWED, "S M"),
    ("checkpoint-b", "gate", "Human Reviews Tasks", "tasks.md review-tasks.md", "", "S M"),
    ("phase-5", "tasks", "Implementation", "impl-{task}.md", "", ""),
    ("phase-6", "task-review", "Code Review", "review-{task}.md", CHECKED, "S"),
    ("phase-7", "review", "Comprehensive Review", "comprehensive-review.md", CHECKED, ""),
    ("final-verification", "verify", "Final Verification", "final-verification.md", "", ""),
    ("pr-creation", "publish", "PR Creation", "", "", ""),
    ("final-summary", "agent", "Final Summary", "summary.md", "", ""),
    ("post-to-source", "publish", "Post to Source", "", "", ""),
    ("final-commit", "publish", "Final Commit", "", "", ""),
    ("completed", "end", "Completed", "", "", ""),
    ("checkpoint-c", "decision", "Human Decides", "", "", ""),
]


def test_the_pipeline_is_the_one_that_was_agreed_on() -> None:
    assert [
        (
            phase.id,
            phase.kind,
            phase.label,
            getattr(phase, "writes", " ".join(getattr(phase, "shows", ()))),
            " ".join(getattr(phase, "verdicts", ())),
            " ".join(getattr(phase, "skip", ())),
        )
        for phase in SHIPPED.phases
    ] == PHASES
    assert SHIPPED.flows == {Effort.S: "light", Effort.M: "standard", Effort.L: "full"}


def fields(model: Any) -> set[str]:
    return set(model.model_json_schema(by_alias=True, mode="serialization")["properties"])


def defined_actions() -> str:
    kinds = (each.model_fields["type"].default for each in get_args(get_args(actions.Action)[0]))
    return " ".join(kinds)


@pytest.mark.parametrize(
    ("known", "names"),
    [
        (defined_actions().split(), "spawn_agent checkpoint exec write_file human_gate done"),
        (get_args(Hint), "proceed revision_required setup_continue"),
        (map(str, Verdict), f"{REVIEWED} {CHECKED}"),
        (fields(State), STATE),
        (get_args(StepKind), "resource tool fs_write llm elicitation human"),
        (Step.model_fields, "step kind resource tool required gate elicitation_schema input_map"),
        (Explore.model_fields, "requests actions"),
        (ACTIVITY_OF_ACTION.values(), "execute_mcp_tool execute_skill"),
        ([ForgeActionWorkflow.__name__], "ForgeActionWorkflow"),
        (
            NAMED,
            "approve reject answer ask retry status continue refresh update done skip effort",
        ),
        (
            Config.model_fields,
            CONFIGURED,
        ),
    ],
)
def test_words_that_others_read_are_there(known: Any, names: str) -> None:
    assert set(names.split()) - set(known) == set()


def test_servers_and_skills_are_configured_as_for_other_hosts() -> None:
    server = {"command": "npx", "args": ["-y", "server"], "env": {"TOKEN": "${GITHUB_TOKEN}"}}
    text = json.dumps({"mcpServers": {"github": server}, "skillsDirs": ["./skills"]})
    config = parse_capability_file(text)
    assert (set(config.mcp_servers), config.skills_dirs) == ({"github"}, ("./skills",))


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--version"], 0),
        (["run", "x", "--effort", "XS"], 2),
        (["show", "no-such-run"], 2),
        (["graph", "verify"], 0),
        (["graph", "wrong"], 64),
        (["mcp", "--repo"], 2),
    ],
)
def test_a_command_ends_with_its_code(sample: Sample, words: list[str], code: int) -> None:
    assert sample.forge(*words).code == code


def test_a_rule_of_the_graph_that_is_broken_ends_a_command_with_two(sample: Sample) -> None:
    manifest = sample.path / ".forge" / "manifest.yaml"
    manifest.parent.mkdir()
    manifest.write_text("nodes: {gone.py: {domain: SHOP}}\n", encoding="utf-8")
    shown = sample.forge("graph", "verify")
    assert (shown.code, "VERIFY-001" in shown.out) == (2, True)


def test_a_run_ends_with_the_code_of_its_outcome(sample: Sample) -> None:
    model = sample.model()
    begin = ("run", TASK, "--model", model, "--effort", "S")
    assert sample.forge(*begin, "--budget", "1000tokens", "--auto").code == 4
    assert sample.forge("abandon").code == 6
    assert sample.forge(*begin).code == 3
    assert sample.forge("approve", "0000000").code == 5
    assert sample.forge("approve").code == 0


def test_options_for_servers_and_skills_have_their_names(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["run", "--help"]) == 0
    shown = capsys.readouterr().out
    assert [name for name in ("--mcp-config", "--skills-dir") if name not in shown] == []


# -- what a server tells of itself
# --------------------------------------------------------------------------------------------------

ADDRESSES = """
forge://project/{id}/context forge://project/{id}/manifest forge://project/{id}/annotations
forge://glove/{kind}/{stack} forge://schema/manifest/v1 forge://schema/errors
forge://schema/taxonomy forge://pipeline/{id} forge://mcp/surface forge://mcp/roots
"""
TIERS = {
    "surface": "", "worker": "", "glove": "worker", "gate": "worker", "schema": "",
    "registry": "schema", "pipeline": "",
}  # fmt: skip
ERROR = "code domain message node_id dependency_ids source_tool check_class context"
UI = "kind title data actions requires_response"


async def read(host: Host, uri: str) -> Any:
    first = (await host.client.read_resource(uri)).contents[0]
    assert isinstance(first, TextResourceContents)
    return json.loads(first.text)


async def test_a_server_is_described_by_its_addresses(sample: Sample) -> None:
    async with hosting(sample) as host:
        plain = {each.uri for each in (await host.client.list_resources()).resources}
        patterns = (await host.client.list_resource_templates()).resource_templates
        assert set(ADDRESSES.split()) <= plain | {each.uri_template for each in patterns}
        tiers = (await read(host, "forge://schema/taxonomy"))["tiers"]
        assert {tier["tier"]: tier["subtype_of"] or "" for tier in tiers} == TIERS
        codes = {error["code"] for error in await read(host, "forge://schema/errors")}
        assert {"VERIFY-001", "VERIFY-002", "VERIFY-003"} <= codes
        asked = await host.client.call_tool("forge_orient", {})
        words = asked.content[0]
        assert isinstance(words, TextContent)
        assert len(words.text) / 4 <= 30
        assert json.loads(words.text)["context_link"] == "forge://project/rota/context"
        assert "hints" in (asked.meta or {})


async def test_both_prompts_declare_a_contract_and_point_at_data(sample: Sample) -> None:
    async with hosting(sample) as host:
        place = {"project_path": str(sample.path)}
        start = (await host.client.get_prompt("forge/start", place)).messages
        audit = (await host.client.get_prompt("forge/audit", {})).messages
    contract, context = start[0].content, start[1].content
    assert isinstance(contract, TextContent)
    assert "response_tier=L0, policy_mode=enforced, dry_run=false" in contract.text
    assert "_meta: hints, resource_links, annotations, ui, error." in contract.text
    assert "forge://pipeline/develop" in contract.text
    assert isinstance(context, EmbeddedResource)
    assert context.resource.uri == "forge://project/rota/context"
    texts = [each.content.text for each in audit if isinstance(each.content, TextContent)]
    assert "response_tier=L1, policy_mode=read-only" in texts[0]
    assert "forge://pipeline/audit" in texts[0]


async def test_an_answer_brings_links_hints_and_questions_beside_it(sample: Sample) -> None:
    heard: list[str] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        del progress, total
        heard.append(message or "")

    async with hosting(sample) as host:
        handed = {"workspace": ".specs/x", "task_text": TASK}
        asked = await host.client.call_tool("pipeline_init_with_context", handed)
        assert set((asked.meta or {})["ui"]) == set(UI.split())
        await host.begin(TASK)
        call = {"workspace": host.workspace}
        first = await host.client.call_tool("pipeline_next_action", call, progress_callback=hear)
        name = host.workspace.removeprefix(".specs/")
        assert f"forge://run/{name}/state" in (first.meta or {})["resource_links"]
        assert len(heard) > 1
        with pytest.raises(Refusal) as caught:
            await host.call("state_resume_info", workspace="nowhere")
        assert set(caught.value.error) == set(ERROR.split())
        assert not caught.value.error["context"]
        await host.client.get_prompt("forge/start", {"debug": "true"})
        with pytest.raises(Refusal) as caught:
            await host.call("state_resume_info", workspace="nowhere")
        assert caught.value.error["context"]
        pattern = ResourceTemplateReference(type="ref/resource", uri="forge://pipeline/{id}")
        typed = {"name": "id", "value": "dev"}
        assert (await host.client.complete(pattern, typed)).completion.values == ["develop"]
        prompt = PromptReference(type="ref/prompt", name="forge/start")
        typed = {"name": "project_path", "value": ""}
        assert (await host.client.complete(prompt, typed)).completion.values == [str(sample.path)]


# -- what stands in threads, commits and workflows
# --------------------------------------------------------------------------------------------------


def test_marks_in_comments_are_read_by_older_and_newer_jobs() -> None:
    assert markers.tracking("r", issue="42") == "<!-- forge-bot:tracking issue=42 -->"
    assert markers.tracking("r") == "<!-- forge-bot:tracking run=r -->"
    assert markers.checkpoint("r", "checkpoint-a", 1, "3f9c") == (
        "<!-- forge-bot:checkpoint run=r gate=checkpoint-a round=1 digest=3f9c -->"
    )
    assert markers.pull_request("r") == "<!-- forge-bot:pull-request run=r -->"
    assert markers.reply("x", to="7") == "<!-- forge-bot:reply occasion=x to=7 -->"


def test_commits_of_a_run_have_their_trailers(ended_sample: Sample) -> None:
    log = ended_sample.git("log", "--all", "--format=%(trailers:only,unfold)")
    names = {line.partition(":")[0] for line in log.splitlines() if line}
    assert {"Forge-Run", "Forge-Phase", "Forge-Task", "Forge-Action"} <= names


def test_the_action_has_its_inputs_and_outputs() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    inputs = (
        "github-token prefix bare label role login model budget trust-local extras"
        " server-variables signing-key temporal-address temporal-namespace python part wake handed"
    )
    assert set(inputs.split()) - set(action["inputs"]) == set()
    assert action["inputs"]["label"]["default"] == "forge"
    assert {"outcome", "issue", "branch", "pull-request", "wake", "handed"} <= {*action["outputs"]}
    table = (ROOT / "templates" / "sentences" / "en" / "commands.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `/(\w+)", table, re.MULTILINE)[:2] == ["forge", "approve"]
