"""A link in a run's folder shows nobody a file of this machine: who can push to the branch could
make one, and a client's model reads the documents.
"""

from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError

from tests.fakes.sample import Sample
from tests.mcp_server.host import hosting

SECRET = "hunter2 of this machine"


def linked(workspace: Path, name: str, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text(f"{SECRET}\n", encoding="utf-8")
    (workspace / name).unlink(missing_ok=True)
    (workspace / name).symlink_to(outside)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("design.md", ("show", "design")),
        ("request.md", ("show", "request.md")),
        ("reports.jsonl", ("show", "reports.jsonl")),
        ("reports.jsonl", ("status",)),
        ("reports.jsonl", ("resume",)),
    ],
)
def test_a_link_in_the_place_of_a_document_or_record_is_not_followed_out(
    asked_sample: Sample, tmp_path: Path, name: str, words: tuple[str, ...]
) -> None:
    linked(asked_sample.workspace, name, tmp_path)
    said = asked_sample.forge(*words)
    assert said.code == 1
    assert "leads out" in said.err
    assert SECRET not in said.out + said.err


@pytest.mark.parametrize("name", ["design.md", "extra.md"])
async def test_over_mcp_a_document_that_is_a_link_is_not_followed_out(
    sample: Sample, tmp_path: Path, name: str
) -> None:
    async with hosting(sample) as host:
        await host.begin("Nobody is on call before the start")
        workspace = Path(host.path) / host.workspace
        linked(workspace, name, tmp_path)
        with pytest.raises(MCPError, match="leads out") as caught:
            await host.client.read_resource(f"forge://run/{workspace.name}/artifact/{name}")
        assert SECRET not in str(caught.value)
