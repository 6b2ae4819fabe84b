"""`forge-bot doctor` says what is missing, and what to do about it."""

import pytest

from tests.fakes.sample import Sample


def test_a_ready_machine_has_nothing_to_mend(sample: Sample) -> None:
    said = sample.forge("doctor", "--model", sample.model())
    assert said.code == 0
    assert "✗" not in said.out
    assert "python3 -m unittest" in said.out
    assert "sandbox" in said.out


def test_a_missing_key_is_named_with_its_variable(sample: Sample) -> None:
    said = sample.forge("doctor")
    assert said.code == 5
    assert "ANTHROPIC_API_KEY" in said.out


WRONG = [
    (
        {".forge/config.yml": "commands: {test: [], lint: nosuchlinter .}\nsandbox: off\n"},
        ("install nosuchlinter", "sandbox: off", "commands.test"),
    ),
    (
        {
            ".forge/pipelines/develop.yaml": (
                "kind: phases\nid: develop\ntitle: T\nflows: {S: light}\nphazes: []\n"
            )
        },
        ("develop.yaml:5: phazes: there is no such key",),
    ),
    ({".forge/prompts/architect.md.j2": "{{ nonsense( }}\n"}, ("architect.md.j2",)),
]


@pytest.mark.parametrize(("files", "words"), WRONG)
def test_what_is_missing_or_cannot_be_read_is_told_with_its_place_or_the_next_step(
    sample: Sample, files: dict[str, str], words: tuple[str, ...]
) -> None:
    for name, text in files.items():
        (sample.path / name).parent.mkdir(parents=True)
        (sample.path / name).write_text(text)
    said = sample.forge("doctor", "--model", sample.model())
    assert said.code == 5
    assert [word for word in words if word not in said.out] == []


def test_a_manifest_that_cannot_be_read_is_refused(sample: Sample) -> None:
    (sample.path / ".forge").mkdir(exist_ok=True)
    (sample.path / ".forge" / "manifest.yaml").write_text("rules: [")
    sample.git("add", "-f", ".forge")
    sample.git("commit", "-q", "-m", "Rules")
    run = sample.forge("run", "Guard the start", "--effort", "S", "--model", sample.model())
    assert run.code == 5
    for said in (sample.forge("doctor"), run):
        assert "manifest.yaml" in said.out + said.err
