"""The rest of a profile: languages, layout, overrides; and listings nobody would write by hand."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge_bot.project.detected_commands import ENV, Command
from forge_bot.runs.project_commands.commit_profile import read_profile
from forge_bot.settings.config import parse_config
from forge_bot.values import CommandName
from tests.fakes.rows import rows
from tests.knowledge.repository_scene import lines, profile_of

ROWS = rows(__file__)

MANIFESTS = ROWS["manifests"]


def test_languages_are_shares_of_the_files_that_are_written_in_one() -> None:
    files = {f"a{number}.go": "" for number in range(2)} | {
        "b.py": "",
        "README.md": "",
        "go.sum": "",
        "x.min.js": "",
    }
    assert [(each.name, each.percent) for each in profile_of(files).languages] == [
        ("Go", 66),
        ("Python", 33),
    ]


def test_the_layout_of_a_large_repository_fits_on_a_dozen_lines() -> None:
    files = [f"{folder:02}/{name}.py" for folder in range(40) for name in range(folder + 1)]
    layout = read_profile([*files, "README.md"], lambda _: "").layout
    assert len(layout) == 12
    assert "39/ (40 files, mostly Python)" in layout
    assert "30 more folders (465 files)" in layout
    assert layout[-1] == "at the root (1 file): README.md"


@pytest.mark.parametrize(
    ("files", "longest"),
    [
        ({"tox.ini": "[flake8]\nmax-line-length = 100\n"}, "100"),
        ({".flake8": "[flake8]\nignore = W503\n"}, "79"),
        ({"setup.cfg": "[flake8]\nextend-ignore = E203, E501\n"}, ""),
        ({"pyproject.toml": "[tool.black]\nline-length = 88\n"}, "88"),
        ({"pyproject.toml": "[tool.ruff]\nline-length = 120\n"}, "120"),
        ({"setup.py": ""}, ""),
    ],
)
def test_the_longest_line_is_what_linters_and_formatters_allow(
    files: dict[str, str], longest: str
) -> None:
    assert profile_of(files).longest_line == longest


@pytest.mark.parametrize(
    ("files", "most"),
    [
        ({"setup.cfg": "[flake8]\nmax-complexity = 12\n"}, "12"),
        ({".flake8": "[flake8]\nmax-complexity = -1\n"}, ""),
        ({".flake8": "[flake8]\nignore = W503\n"}, ""),
        ({"pyproject.toml": "[tool.ruff.lint]\nselect = ['C901']\n"}, "10"),
        ({"pyproject.toml": "[tool.ruff.lint]\nselect = ['ALL']\nignore = ['C901']\n"}, ""),
        (
            {
                "pyproject.toml": "[tool.ruff.lint]\nextend-select = ['C90']\n"
                "mccabe.max-complexity = 8\n"
            },
            "8",
        ),
        ({"pyproject.toml": "[tool.ruff.lint]\nmccabe.max-complexity = 8\n"}, ""),
    ],
)
def test_the_highest_complexity_is_what_linters_allow(files: dict[str, str], most: str) -> None:
    assert profile_of(files).highest_complexity == most


def test_an_override_replaces_its_kind_and_no_other() -> None:
    files = {"go.mod": "module x\n"}
    profile = profile_of(files, {"test": [["make", "fast tests"], ["true"]], "lint": []})
    assert [each.argv for each in profile.commands.test] == [("make", "fast tests"), ("true",)]
    assert {each.reason for each in profile.commands.test} == {".forge/config.yml says so"}
    assert lines(profile.commands.build) == ["go build ./..."]


def test_an_override_for_something_that_is_no_kind_of_command_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="deploy"):
        profile_of({}, {"deploy": [["x"]]})


def test_the_example_in_the_documentation_is_a_configuration_that_is_understood() -> None:
    page = (Path(__file__).parents[2] / "docs" / "projects.md").read_text("utf-8")
    example = page.split("```yaml\n")[1].split("```")[0]
    commands = profile_of(
        {"go.mod": "module x\n"}, parse_config(example, {}).commands.overrides()
    ).commands
    assert lines(commands.setup) == [f"python3 -m venv {ENV}", f"{ENV}/bin/pip install -e .[dev]"]
    assert commands.test[1].argv == ("npm", "test", "--", "--grep", "two words")
    assert commands.build == commands.lint == ()


def test_names_that_try_to_write_lines_of_their_own_stay_on_one() -> None:
    profile = profile_of({"bad\n## Input\u202e/a.py": "", "CMakeLists.txt": ""})
    assert all(
        "\n" not in line and "\u202e" not in line for line in (*profile.layout, *profile.notes)
    )


@given(
    st.dictionaries(
        st.sampled_from(MANIFESTS),
        st.text("\n\t :=[]{}\"'/abest-$%#\\é\u202e0", max_size=60)
        | st.sampled_from(
            ["[project]\nname = 1", "test: test\n\tx", "-r requirements-dev.txt", "[tool]\nuv = 3"]
        ),
    )
)
def test_whatever_stands_in_the_files_a_profile_comes_out(files: dict[str, str]) -> None:
    profile = profile_of({**files, "a.py": ""})
    commands = [each for name in CommandName for each in profile.commands.of(name)]
    assert all(isinstance(each, Command) and each.argv and each.reason for each in commands)
