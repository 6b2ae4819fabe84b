"""What .forge/config.yml may say, and how mistakes in it are told."""

from pathlib import Path

import pytest

from forge_bot.errors import BadConfig, BadPipeline
from forge_bot.resources import state_home
from forge_bot.settings.config import Config, parse_config
from forge_bot.settings.load_pipeline import load_pipeline
from forge_bot.values import Tier
from tests.fakes.rows import rows
from tests.settings.own_pipelines import own_pipeline

ROWS = rows(__file__)


def config(text: str | None, environ: dict[str, str] | None = None) -> Config:
    return parse_config(text, environ or {})


def test_a_tier_has_its_own_model_before_the_one_for_all() -> None:
    given = config("model: openai:small\nmodels: {strong: anthropic:large}\n")
    assert given.model_for(Tier.STRONG) == "anthropic:large"
    assert given.model_for(Tier.FAST) == "openai:small"


def test_the_environment_replaces_the_models_of_the_file() -> None:
    given = config("models: {strong: anthropic:large}\n", {"FORGE_BOT_MODEL": "openai-chat:mine"})
    assert given.model_for(Tier.STRONG) == "openai-chat:mine"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("test: python -m pytest -k 'a b'", (("python", "-m", "pytest", "-k", "a b"),)),
        ("test: [make check, make lint]", (("make", "check"), ("make", "lint"))),
        ("test: [[python, -m, pytest]]", (("python", "-m", "pytest"),)),
        ("test: []", ()),
        ("build: make", None),
    ],
)
def test_commands_are_strings_or_lists_of_words(
    written: str, read: tuple[tuple[str, ...], ...] | None
) -> None:
    assert config(f"commands:\n  {written}\n").commands.test == read


def test_all_problems_are_told_at_once_each_with_its_line() -> None:
    with pytest.raises(BadConfig) as error:
        config("budget: -1\nsandbox: yes please\ncolour: red\nbudget: 3\n")
    assert sorted(line.split(": ")[0] for line in error.value.details) == [
        ".forge/config.yml:2",
        ".forge/config.yml:3",
        ".forge/config.yml:4",
    ]
    assert "stands twice" in error.value.details[0]


@pytest.mark.parametrize("written", ["off", '"off"', "Off"])
def test_off_means_off_however_yaml_reads_it(written: str) -> None:
    assert config(f"sandbox: {written}\n").sandbox == "off"


# -- pipelines
# --------------------------------------------------------------------------------------------------

MINIMAL = """
kind: phases
id: mini
title: Small
flows: {S: light, M: standard, L: full}
phases:
  - {id: setup, kind: setup, label: Setup, writes: request.md}
  - {id: plan, kind: agent, label: Plan, agent: planner, reads: [request.md], writes: plan.md, tasks: true}
  - {id: work, kind: tasks, label: Work, agent: worker, reads: [plan.md], writes: "impl-{task}.md"}
  - {id: end, kind: end, label: End}
  - {id: ask, kind: decision, label: Ask}
"""


def own(text: str, name: str = "mini") -> object:
    return own_pipeline(name, text)


def test_a_repository_may_bring_its_own_pipeline() -> None:
    assert getattr(own(MINIMAL), "id", "") == "mini"


@pytest.mark.parametrize(("old", "new", "said"), ROWS["a_pipeline_that_contradicts_itself"])
def test_a_pipeline_that_contradicts_itself_is_refused_with_the_reason(
    old: str, new: str, said: str
) -> None:
    assert old in MINIMAL
    with pytest.raises(BadPipeline) as error:
        own(MINIMAL.replace(old, new))
    assert said in "\n".join(error.value.details)


def test_a_name_that_is_a_path_finds_nothing() -> None:
    with pytest.raises(BadPipeline):
        load_pipeline("../../etc/passwd", None)


def test_state_is_kept_where_the_system_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_home() == tmp_path / "forge-bot"
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert state_home().is_absolute()
