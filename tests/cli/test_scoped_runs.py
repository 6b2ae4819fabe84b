"""A run of a repository with several projects can stay in one folder."""

import json
from pathlib import Path
from typing import Any

from forge_bot.git import Repository
from forge_bot.runs.project_commands.commit_profile import profile_at
from forge_bot.settings.config import Config
from tests.fakes import script
from tests.fakes.sample import Sample
from tests.runs.test_prompt_files import repository

UNITTEST = "import unittest\n\n\nclass {0}(unittest.TestCase):\n    def test_{1}(self): ...\n"
FILES = {
    "packages/api/pyproject.toml": '[project]\nname = "api"\nversion = "1"\n',
    "packages/api/tests/test_api.py": UNITTEST.format("Api", "api"),
    "packages/web/package.json": '{"scripts": {"test": "node --test", "build": "tsc"}}',
    "packages/web/package-lock.json": "{}",
    "packages/jobs/go.mod": "module jobs\n\nrequire example.com/a v1.0.0\n",
}


def commands(here: Repository, config: dict[str, Any], scope: str = "") -> dict[str, list[str]]:
    found = profile_at(here, here.commit_id("main"), Config.model_validate(config), scope).commands
    kinds = ("setup", "build", "test", "lint")
    return {
        kind: [" ".join(each.argv) for each in getattr(found, kind)]
        for kind in kinds
        if getattr(found, kind)
    }


def test_a_scope_has_the_commands_of_its_folder_alone(tmp_path: Path) -> None:
    here = repository(tmp_path, FILES)
    assert len(commands(here, {})["test"]) == 3
    assert commands(here, {}, "packages/web")["test"] == ["npm --prefix packages/web test"]
    assert commands(here, {}, "packages/jobs") == {
        "setup": ["go -C packages/jobs mod download"],
        "build": ["go -C packages/jobs build ./..."],
        "test": ["go -C packages/jobs test ./..."],
    }
    (tests,) = commands(here, {}, "packages/api")["test"]
    assert "unittest discover -v -s packages/api/tests" in tests


def test_each_listed_project_has_commands_of_its_own_and_the_rest_is_found(tmp_path: Path) -> None:
    here = repository(tmp_path, FILES)
    config: dict[str, Any] = {
        "projects": {
            "packages/web": {"test": "npm --prefix packages/web run unit", "build": []},
            "./packages/api/": {"lint": "flake8 packages/api"},
        },
        "commands": {"setup": "make deps", "test": "make everything"},
    }
    both = commands(here, config)
    assert both["setup"] == ["make deps"]
    assert "build" not in both
    assert both["test"][0] == "npm --prefix packages/web run unit"
    assert "packages/api/tests" in both["test"][1]
    assert len(both["test"]) == 2
    assert both["lint"] == ["flake8 packages/api"]
    inside = commands(here, config, "packages/web/src")
    assert inside["test"] == ["npm --prefix packages/web run unit"]
    assert commands(here, config, "packages")["test"] == both["test"]


def test_a_change_outside_of_the_scope_waits_for_a_person(sample: Sample) -> None:
    outside = {"path": "NOTES.md", "operation": "write", "old": "", "new": "New.\n"}
    model = sample.model({("implementer", "*", "*"): script.change(script.GUARD, outside)})
    began = ("run", "Guard the start", "--effort", "S", "--in", "rota/", "--model", model)
    assert sample.forge(*began).code == 3
    state = json.loads(sample.forge("status", "--json").out)
    assert state["flags"]["scope"] == "rota"
    journal = next(sample.path.parent.rglob("journal.jsonl")).read_text()
    assert "Scope: The change stays in rota/." in journal
    assert sample.forge("approve", "--model", model).code == 3
    state = json.loads(sample.forge("status", "--json").out)
    assert state["gate"]["reason"] == "protected_paths"
    assert "NOTES.md" in state["gate"]["subject"]
    assert sample.git_code("diff", "--quiet", "main", sample.branch, "--", "NOTES.md") == 0
    assert sample.git_code("diff", "--quiet", "main", sample.branch, "--", "rota") == 1
