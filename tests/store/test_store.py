"""reports.jsonl is the truth; state.json is its fold and can always be made anew."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge_bot.engine import REPORT, fold
from forge_bot.errors import OtherSchema, ReportsDamaged
from forge_bot.store.run_folder import (
    Request,
    Workspace,
    read_request,
    refuse_other_schema,
    render_request,
    state_file,
)
from forge_bot.values import Effort, Source
from tests.fakes.bench import DEVELOP, Bench

ON_DISK = settings(max_examples=15, deadline=None)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A workspace with a run that waits at its design gate."""
    bench = Bench(Effort.S).until("checkpoint-a")
    workspace = Workspace(tmp_path, "20261121-fix-login")
    workspace.store(
        {
            "reports.jsonl": b"".join(REPORT.dump_json(each) + b"\n" for each in bench.reports),
            "state.json": state_file(bench.state),
        }
    )
    return workspace


def read_again(workspace: Workspace) -> Workspace:
    return Workspace(workspace.tree, workspace.name)


def test_a_state_of_another_schema_is_refused(workspace: Workspace) -> None:
    raw = (workspace.path / "state.json").read_bytes()
    refuse_other_schema(raw, workspace.name)
    with pytest.raises(OtherSchema, match="99"):
        refuse_other_schema(
            raw.replace(b'"schemaVersion": 1', b'"schemaVersion": 99'), workspace.name
        )


def test_a_torn_last_report_was_never_recorded(workspace: Workspace) -> None:
    with (workspace.path / "reports.jsonl").open("ab") as file:
        file.write(b'{"type": "answered", "key"')
    assert read_again(workspace).state(DEVELOP).gate is not None


@pytest.fixture(scope="module")
def whole() -> bytes:
    """The reports of a run that waits at its second gate."""
    bench = Bench(Effort.L).until("checkpoint-b")
    return b"".join(REPORT.dump_json(report) + b"\n" for report in bench.reports)


@ON_DISK
@given(data=st.data())
def test_reports_cut_at_any_byte_are_those_that_were_whole(
    whole: bytes, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    cut = data.draw(st.integers(whole.index(b"\n") + 1, len(whole)))
    workspace = Workspace(tmp_path_factory.getbasetemp(), "20261121-cut")
    workspace.path.mkdir(parents=True, exist_ok=True)
    file = workspace.path / "reports.jsonl"
    file.write_bytes(whole[:cut])
    lines = whole[:cut].split(b"\n")[:-1]
    expected = fold(DEVELOP, [REPORT.validate_json(line) for line in lines])
    assert workspace.state(DEVELOP) == expected


def test_a_report_follows_the_whole_lines_only(workspace: Workspace) -> None:
    file = workspace.path / "reports.jsonl"
    file.write_bytes(file.read_bytes().rstrip(b"\n"))
    cut, bench = read_again(workspace), Bench(Effort.S).until("checkpoint-a")
    before = len(cut.reports())
    cut.store(cut.with_report(bench.reports[-1], bench.state))
    assert len(read_again(cut).reports()) == before + 1


def test_half_written_files_of_a_killed_process_are_taken_away(workspace: Workspace) -> None:
    (workspace.path / ".design.md.ab12cd_x.tmp").write_text("ha")
    (workspace.path / "design.md").write_text("whole")
    workspace.remove_half_written()
    assert not list(workspace.path.glob("*.tmp"))
    assert (workspace.path / "design.md").read_text() == "whole"


def test_a_damaged_report_is_named_by_its_line(workspace: Workspace) -> None:
    file = workspace.path / "reports.jsonl"
    lines = file.read_bytes().split(b"\n")
    lines[1] = b'{"type": "nonsense"}'
    file.write_bytes(b"\n".join(lines))
    with pytest.raises(ReportsDamaged, match="line 2"):
        read_again(workspace).state(DEVELOP)


def test_reports_that_contradict_each_other_are_refused(workspace: Workspace) -> None:
    file = workspace.path / "reports.jsonl"
    lines = file.read_bytes().split(b"\n")
    file.write_bytes(b"\n".join([lines[0], lines[2], lines[1], *lines[3:]]))
    with pytest.raises(ReportsDamaged, match="contradicts itself"):
        read_again(workspace).state(DEVELOP)


def test_a_folder_without_reports_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(ReportsDamaged, match="missing"):
        Workspace(tmp_path, "20261121-nothing").state(DEVELOP)


# -- the request
# --------------------------------------------------------------------------------------------------


@given(
    title=st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=60).filter(
        lambda text: bool(text.strip())
    ),
    text=st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\r"), max_size=400),
    labels=st.lists(
        st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=12), max_size=3
    ),
)
def test_a_request_reads_back_as_it_was_written(title: str, text: str, labels: list[str]) -> None:
    request = Request(
        title=title.strip(),
        text=text.strip(),
        labels=tuple(labels),
        effort=Effort.M,
        effort_reason="because",
    )
    again = read_request(render_request(request))
    assert again.hash == request.hash
    assert (again.title, again.text, again.labels) == (request.title, request.text, request.labels)


def test_a_request_that_was_changed_is_refused() -> None:
    source = Source(
        type="github_issue", id="42", url="https://github.com/o/r/issues/42", author="eve"
    )
    text = render_request(
        Request(
            title="Fix it", text="Please fix", source=source, effort=Effort.S, effort_reason="label"
        )
    )
    with pytest.raises(ReportsDamaged, match="hash no longer fits"):
        read_request(text.replace("Please fix", "Please break"))


@pytest.mark.parametrize(
    "text", ["", "# no front matter", "---\n- a list\n---\n\n# x\n\ny", "---\n{\n---\n\n# x\n\ny"]
)
def test_what_is_no_request_is_said(text: str) -> None:
    with pytest.raises(ReportsDamaged):
        read_request(text)


REQUEST = Request(
    title="Nobody before the start",
    text=(
        "Nobody is on call before the start.\n\n---\n\nA line of three dashes is no end of"
        " anything."
    ),
    source=Source(
        type="github_issue", id="42", url="https://github.com/o/r/issues/42", author="ann"
    ),
    labels=("bug",),
    effort=Effort.M,
    effort_reason="two modules",
)


def test_the_source_stands_first_in_keys_of_its_own() -> None:
    text = render_request(REQUEST)
    assert text.startswith(
        "---\nsource_type: github_issue\nsource_id: '42'\nsource_url:"
        " https://github.com/o/r/issues/42\n"
    )
    assert read_request(text) == REQUEST
