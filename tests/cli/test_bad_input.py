"""Whatever goes wrong before or beside the work: a code, a way out, the right exit code, and
nothing lost.
"""

import json
from pathlib import Path

import pytest

from tests.fakes.rows import rows
from tests.fakes.sample import Said, Sample

ROWS = rows(__file__)

TASK = "Fix the rota before its start"


RUN = ("run", TASK)
MODEL = ("--model", "scripted:script.jsonl")
REFUSED = [
    *((("run", task), "REQUEST-001", "") for task in ("", "   ", "\n", "..", "?!", "🚀")),
    (("run", "x" * 100_001, *MODEL), "REQUEST-002", "100,001 characters"),
    *(
        (("run", url, *MODEL), "REQUEST-003", "GH_HOST")
        for url in (
            "https://evil.example/o/r/issues/1",
            "https://github.com@evil.example/o/r/issues/1",
            "https://github.com/o/r",
        )
    ),
    *(
        (("run", url), "REQUEST-003", said)
        for url, said in (
            ("https://gitlab.com/o/r/-/issues/3", "Paste the text of the issue"),
            ("https://github.com/o/r/pull/3/files", "is a pull request, not an issue"),
            ("http://example.com/x", "Paste the text of the issue"),
            ("https://github.com/o/r/issues/0", "no issue of github.com"),
            ("https://", "no issue of github.com"),
        )
    ),
    (("approve", "--run", "nothing"), "REQUEST-004", ""),
    (("run", ".specs/20200101-nothing", *MODEL), "REQUEST-004", ""),
    # What is mistyped is told before a missing key.
    *(((*RUN, "--effort", text), "REQUEST-007", "S, M") for text in ("Q", "sm", "", "1", "S M")),
    *(
        ((*RUN, f"--budget={text}"), "REQUEST-007", "--budget")
        for text in ("nan", "inf", "-inf", "1e999", "1e9", "0", "-1", "0.001", "five", "", "5,50")
    ),
    ((*RUN, "--until", "nope"), "REQUEST-007", "nope"),
    ((*RUN, "--in", "nope"), "REQUEST-007", "nope"),
    ((*RUN, "--in", "README.md", *MODEL), "REQUEST-007", "not a folder"),
    ((*RUN, "--here", "--branch", "mine"), "REQUEST-007", "--here"),
    ((*RUN, "--dev"), "REQUEST-007", "--on temporal"),
    *(
        ((*RUN, f"--branch={name}", *MODEL), "REQUEST-007", "")
        for name in ("-rf", "a..b", "a b", "ends.lock", "/x")
    ),
    (("continue", "plenty", *MODEL), "REQUEST-007", ""),
    (RUN, "MODEL-001", "Set ANTHROPIC_API_KEY"),
    (RUN, "MODEL-001", "`forge-bot demo` shows a whole run without a key"),
    *(
        ((*RUN, "--model", name), "MODEL-002", "")
        for name in ("gpt-5", "nobody:knows", "openai:", ":", "anthropic")
    ),
    ((*RUN, "--model", "scripted:nowhere.jsonl"), "MODEL-005", ""),
    ((*RUN, "--on", "mars"), "", "✗ Invalid value for '--on': 'mars' is not one of 'local', 'temp"),
    (("run", "--colour", TASK), "", "--help"),
]
EXIT_CODES = {"MODEL-001": 5, "MODEL-002": 5, "MODEL-005": 1}
"""Those that are not 2."""


def refused(said: Said, code: str, exit_code: int) -> str:
    assert said.code == exit_code, said
    assert code in said.err
    assert "→" in said.err, "every error has a way out"
    return said.err


def test_what_cannot_be_meant_is_refused_with_a_way_out_before_anything_begins(
    sample: Sample,
) -> None:
    sample.model()
    (sample.path / "script.jsonl").symlink_to(sample.scripts)
    for words, code, said in REFUSED:
        assert said in refused(sample.forge(*words), code, EXIT_CODES.get(code, 2)), words
    assert sample.git("branch", "--format=%(refname:short)") == "main"


def test_a_folder_that_is_no_repository_is_named(
    sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in ("list", "doctor"):
        assert f"{tmp_path} is not inside a git repository." in sample.forge(command).err


FILES: list[tuple[dict[str, str], tuple[str, ...], str, tuple[str, ...]]] = ROWS["files"]


@pytest.mark.parametrize(("files", "words", "code", "said"), FILES)
def test_files_and_options_that_cannot_be_used_are_told_before_anything_begins(
    sample: Sample,
    files: dict[str, str],
    words: tuple[str, ...],
    code: str,
    said: tuple[str, ...],
) -> None:
    for name, text in files.items():
        (sample.path / name).parent.mkdir(parents=True)
        (sample.path / name).write_text(text)
    told = refused(
        sample.forge("run", TASK, *words, "--model", sample.model()),
        code,
        2 if code.startswith("REQUEST") else 5,
    )
    assert [word for word in said if word not in told] == []
    assert sample.git("branch", "--format=%(refname:short)") == "main"


def test_invisible_characters_of_a_title_reach_no_document_and_ask_nothing_more(
    sample: Sample,
) -> None:
    title = "Guard\u200b the \u202estart\u202c"
    assert sample.forge("run", title, "--effort", "S", "--model", sample.model()).code == 3
    assert json.loads(sample.forge("status", "--json").out)["title"] == "Guard the start"


def test_a_repository_without_tests_says_how_to_go_on(sample: Sample) -> None:
    sample.git("rm", "-rq", "tests")
    (sample.path / "CONTRIBUTING.md").write_text("AI-generated code is not accepted.\n")
    sample.git("add", "CONTRIBUTING.md")
    sample.git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "no tests")
    assert "test: []" in refused(
        sample.forge("run", TASK, "--model", sample.model()), "CHECK-001", 5
    )
    (sample.path / ".forge").mkdir()
    (sample.path / ".forge" / "config.yml").write_text("commands: {test: []}\n")
    waiting = sample.forge("run", TASK, "--effort", "S", "--auto", "--model", sample.model())
    assert waiting.code == 3, "without tests, --auto does not pass a gate"
    assert "no tests to verify with" in waiting.out
    assert "CONTRIBUTING.md says: “AI-generated code is not accepted.”" in waiting.out


def test_here_refuses_the_default_branch_and_uncommitted_work(sample: Sample) -> None:
    refused(sample.forge("run", TASK, "--here", "--model", sample.model()), "REQUEST-007", 2)
    sample.git("switch", "-qc", "mine")
    (sample.path / "new.txt").write_text("mine")
    refused(sample.forge("run", TASK, "--here", "--model", sample.model()), "GIT-004", 5)


def test_an_artifact_that_is_not_there(asked_sample: Sample) -> None:
    said = refused(asked_sample.forge("show", "tasks.md"), "REQUEST-006", 2)
    assert "design.md" in said
    refused(asked_sample.forge("show", "../../../../etc/passwd"), "REQUEST-006", 2)


@pytest.mark.parametrize("text", ["- [ ] Guard the start", "-5"])
def test_a_text_that_begins_with_a_hyphen_is_told_where_it_goes(sample: Sample, text: str) -> None:
    said = sample.forge("run", text)
    assert (said.code, "forge-bot run -- " in said.err) == (2, True), said.err
    assert "No such option" not in sample.forge("run", "--", text).err


def test_a_record_that_differs_from_the_branch_is_written_anew(asked_sample: Sample) -> None:
    for file, text in (("state.json", "{ broken"), ("reports.jsonl", "")):
        (asked_sample.workspace / file).write_text(text)
    done = asked_sample.forge("approve", "--until", "tasks", "--model", asked_sample.model())
    assert "Implementation (phase-5) comes after" in done.out, done
    for file in ("state.json", "reports.jsonl"):
        record = f".specs/{asked_sample.workspace.name}/{file}"
        shown = asked_sample.git("show", f"{asked_sample.branch}:{record}")
        assert shown == (asked_sample.workspace / file).read_text().rstrip("\n")


@pytest.mark.parametrize(
    ("file", "old", "new", "code"),
    [
        ("state.json", '"schemaVersion": 1', '"schemaVersion": 7', "STATE-002"),
        ("reports.jsonl", '"type":"prepared"', '"type":"prepar', "STATE-001"),
    ],
)
def test_a_record_that_this_version_cannot_read_is_told_and_left_alone(
    asked_sample: Sample, file: str, old: str, new: str, code: str
) -> None:
    model, record = asked_sample.model(), asked_sample.workspace / file
    record.write_text(record.read_text().replace(old, new))
    name = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    asked_sample.git("-C", str(record.parent), *name, "commit", "-qam", "Damage")
    before = asked_sample.git("rev-parse", asked_sample.branch)
    refused(asked_sample.forge("approve", "--model", model), code, 1)
    assert asked_sample.git("rev-parse", asked_sample.branch) == before


def test_a_number_alone_is_no_task_and_the_issue_it_may_mean_is_named(sample: Sample) -> None:
    sample.git("remote", "add", "origin", "git@github.com:acme/rota.git")
    for task in ("42", "#42"):
        said = refused(sample.forge("run", task), "REQUEST-003", 2)
        assert "forge-bot run https://github.com/acme/rota/issues/42 begins" in said, task
    assert not sample.forge("list").out.startswith("20"), "no run began"


def test_show_without_a_name_lists_the_commands_that_show_each_document(
    asked_sample: Sample,
) -> None:
    said = asked_sample.forge("show")
    assert said.code == 0, said.err
    lines = said.out.splitlines()
    assert {"forge-bot show request.md", "forge-bot show design.md"} <= {*lines}
    for line in lines:
        assert asked_sample.forge(*line.split()[1:]).out
