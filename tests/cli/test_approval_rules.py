"""Rules on who may approve, at a terminal: `policy test`, `doctor`, the question."""

import pytest

from tests.cli import test_github_setup
from tests.fakes.github import FakeGitHub, Repository, Role
from tests.fakes.sample import Sample

repo = test_github_setup.repo
RULES = """\
approvals:
- {by: [ada, "@acme/core"], not: requester, count: 2, gates: [checkpoint-a]}
- {by: [CODEOWNERS], paths: [rota/**]}
"""
OWNERS = "/rota/ @cleo\n/rota/old/\n"


def set_rules(sample: Sample, rules: str = RULES) -> None:
    for name, text in {".forge/config.yml": rules, ".github/CODEOWNERS": OWNERS}.items():
        (sample.path / name).parent.mkdir(exist_ok=True)
        (sample.path / name).write_text(text)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("ada --path README.md", 3, "not yet"),
        (
            "ada bob --path README.md",
            5,
            "rule 1, ada, acme/core: Waiting for somebody with the role admin; 1 of 2 (`ada`).",
        ),
        ("ada cleo --path rota/a.py", 3, "rule 2, cleo: Met by cleo."),
        ("@cleo --gate checkpoint-b --path rota/a.py", 0, "allowed"),
        ("cleo --gate checkpoint-b --path rota/old/a", 5, "CODEOWNERS names nobody for"),
        ("bob --gate checkpoint-b --path README.md", 0, "allowed: no rule holds here"),
        ("ada --requester Ada --path x", 5, "`Ada` began the run and does not count"),
        ("ada --gate checkpoint-z", 2, "has no gate checkpoint-z; it has checkpoint-a"),
    ],
)
def test_policy_test_says_what_an_approval_does_and_by_which_rule(
    sample: Sample, words: str, code: int, said: str
) -> None:
    set_rules(sample)
    tried = sample.forge("policy", "test", *words.split())
    assert (tried.code, said in f"{tried.out}{tried.err}") == (code, True), tried.out + tried.err


@pytest.fixture
def people(github: FakeGitHub, repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """People and a team there, and a token that may read them."""
    for login, role in {"ada": Role.WRITE, "tess": Role.WRITE, "boss": Role.ADMIN}.items():
        github.member(repo, login, role)
    github.teams["acme/core"] = ("tess",)
    monkeypatch.setenv("GITHUB_TOKEN", github.token("boss"))


@pytest.mark.usefixtures("people")
def test_with_a_token_roles_and_teams_are_those_of_github(sample: Sample) -> None:
    set_rules(sample)
    assert sample.forge("policy", "test", "ada", "tess", "--path", "x").code == 0
    assert sample.forge("policy", "test", "ada", "bob", "--path", "x").code == 5


def test_doctor_tells_a_rule_for_a_gate_that_no_pipeline_has(sample: Sample) -> None:
    set_rules(sample, f"{RULES}- {{by: [ada], gates: [chekpoint-a]}}\n")
    told = sample.forge("doctor").out
    assert "Rule 3 of approvals names chekpoint-a, which is no gate of a pipeline." in told


def test_a_question_at_a_terminal_says_who_has_to_approve_in_a_thread(asked_sample: Sample) -> None:
    set_rules(asked_sample, "approvals: {by: [ada, acme/core], count: 2}\n")
    told = asked_sample.forge("resume").out
    assert "In a thread this takes an approval of 2 of ada and acme/core" in told
