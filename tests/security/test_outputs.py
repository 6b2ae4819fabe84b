"""What a step hands on: values of others stay values."""

from pathlib import Path

import pytest

from forge_bot.forge import show_notice, write_line, write_outputs
from tests.bot.stage import outputs as read

HOSTILE = [
    "one\nproceed=true",
    "one\nproceed<<EOF\ntrue\nEOF",
    "::set-output name=proceed::true",
    "one\r\nEVIL=1",
    "%0Aproceed=true",
    "\n::add-mask::x",
    " ::set-output name=proceed::true",
    "\u00a0::: ::set-output name=proceed::true",
    "`a##[set-output name=proceed;]true.py` was formatted",
    "####[[set-output name=proceed]true",
]


def obeyed(line: str) -> bool:
    """Return whether GitHub's runner looks for a command in a line (its ActionCommand.cs)."""
    return line.lstrip().startswith("::") or "##[" in line


@pytest.mark.parametrize("value", HOSTILE)
def test_no_value_can_add_an_output_of_its_own(
    value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "outputs"
    path.touch()
    write_outputs(str(path), {"reason": value, "proceed": "false"})
    found = read(path)
    assert set(found) == {"reason", "proceed"}
    assert found["proceed"] == "false"
    show_notice(value)
    write_line(value)
    said = capsys.readouterr().out.splitlines()
    assert [
        line for line in said if obeyed(line) and not line.startswith("::notice title=forge-bot::")
    ] == []
