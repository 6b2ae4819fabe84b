"""`forge-bot init` writes a file with what most people set, which still means the same when its lines
are switched on.
"""

import re
from decimal import Decimal

from forge_bot.forge import ACTION, WAKE_WORKFLOW, WORKFLOW, page_address, schema_address
from forge_bot.settings.config import Config, parse_config
from forge_bot.values import Tier
from tests.fakes.sample import Sample


def read(text: str) -> Config:
    return parse_config(text, {})


def test_the_written_file_has_five_keys_and_the_page_with_all_of_them(sample: Sample) -> None:
    said = sample.forge("init")
    assert said.code == 0
    assert "python3 -m unittest" in said.out
    text = (sample.path / ".forge" / "config.yml").read_text()
    assert read(text) == Config(budget=Decimal(5))
    keys = re.findall(r"^(?:# )?(\w+):", text, re.MULTILINE)
    assert keys == ["model", "budget", "protected", "environment", "commands"]
    assert text.startswith(f"# yaml-language-server: $schema={schema_address('config')}\n")
    assert f"# All keys: {page_address('configuration')}\n" in text


def test_with_all_lines_switched_on_it_says_the_defaults_and_the_commands_that_were_found(
    sample: Sample,
) -> None:
    sample.forge("init")
    text = (sample.path / ".forge" / "config.yml").read_text()
    head, _, body = text.partition("\n\n")
    assert head.startswith("#")
    switched_on = read("\n".join(line.removeprefix("# ") for line in body.splitlines()))
    assert switched_on.model_for(Tier.STRONG) == Config().model_for(Tier.STRONG)
    assert switched_on.protected == Config().protected
    assert switched_on.commands.setup == ()
    assert switched_on.commands.test == (
        ("python3", "-m", "unittest", "discover", "-v", "-s", "tests", "-t", "."),
    )


def test_a_file_that_is_there_is_left_alone(sample: Sample) -> None:
    sample.forge("init")
    file = sample.path / ".forge" / "config.yml"
    file.write_text("budget: 3\n")
    refused = sample.forge("init")
    assert refused.code == 2
    assert file.read_text() == "budget: 3\n"


def test_a_workflow_is_renewed_and_what_a_person_changed_stays(sample: Sample) -> None:
    missing = sample.forge("init", "--update")
    assert (missing.code, "forge-bot init writes it" in missing.err) == (2, True)
    sample.git("remote", "add", "origin", "https://github.com/owner/repo.git")
    sample.forge("init")
    file, wakes = sample.path / WORKFLOW, sample.path / WAKE_WORKFLOW
    written = file.read_text()
    wakes.write_text(f"uses: {ACTION}@{'0' * 40} # v0.0.1\ncron: mine\n")
    changed = written.replace("timeout-minutes: 330", "timeout-minutes: 60")
    file.write_text(re.sub(rf"uses: {ACTION}@.*", f"uses: {ACTION}@{'0' * 40} # v0.0.1", changed))
    sample.forge("init", "--update")
    assert file.read_text() == changed
    (action,) = re.findall(rf"uses: {ACTION}@.*", written)
    assert wakes.read_text() == f"{action}\ncron: mine\n"
    assert f"{WORKFLOW} is up to date" in sample.forge("init", "--update").out
