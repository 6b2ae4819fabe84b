"""What a step hands on: values of others stay values."""

from pathlib import Path

import pytest

from forge_bot.gate import outputs
from tests.bot.stage import outputs as read

HOSTILE = [
    "one\nproceed=true",
    "one\nproceed<<EOF\ntrue\nEOF",
    "::set-output name=proceed::true",
    "one\r\nEVIL=1",
    "%0Aproceed=true",
    "\n::add-mask::x",
]


@pytest.mark.parametrize("value", HOSTILE)
def test_no_value_can_add_an_output_of_its_own(
    value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "outputs"
    path.touch()
    outputs.write_outputs(str(path), {"reason": value, "proceed": "false"})
    found = read(path)
    assert set(found) == {"reason", "proceed"}
    assert found["proceed"] == "false"
    outputs.notice(value)
    outputs.line(value)
    said = capsys.readouterr().out.splitlines()
    assert [
        line
        for line in said
        if line.startswith("::") and not line.startswith("::notice title=forge-bot::")
    ] == []
