"""What is found in Python projects of many kinds."""

import pytest

from forge_bot.knowledge.profile import Profile
from tests.knowledge.repository_scene import lines, profile_of

PIP = "{env}/bin/python -m pip install -q --disable-pip-version-check"
BUILD = '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
NAMED = BUILD + '[project]\nname = "shop"\nversion = "1"\n'
PYTEST_FILE = "def test_it() -> None:\n    pass\n"
UNITTEST_FILE = "import unittest\n\n\nclass T(unittest.TestCase):\n    pass\n"


def pip(profile: Profile) -> list[str]:
    """What pip is asked for, each request without what is always the same."""
    return [line.removeprefix(PIP + " ") for line in lines(profile.commands.setup)[1:]]


def test_a_standard_group_is_spelled_out_with_the_groups_it_includes() -> None:
    groups = (
        '[dependency-groups]\ndocs = ["sphinx"]\ncover = ["pytest-cov"]\ntest = ["pytest>=8",'
        ' {include-group = "Cover"}]\n'
    )
    profile = profile_of({"pyproject.toml": NAMED + groups, "tests/test_a.py": PYTEST_FILE})
    assert pip(profile) == ["-e . pytest>=8 pytest-cov"]


def test_groups_that_include_each_other_end() -> None:
    groups = (
        '[dependency-groups]\na = ["x", {include-group = "test"}]\ntest = ["pytest", {include-group'
        ' = "a"}]\n'
    )
    assert pip(profile_of({"pyproject.toml": NAMED + groups})) == ["-e . pytest x"]


def test_pytest_is_added_when_nothing_that_is_installed_names_it() -> None:
    profile = profile_of({"pyproject.toml": NAMED, "tests/test_a.py": PYTEST_FILE})
    assert pip(profile) == ["-e . pytest"]
    assert profile.commands.test[0].reason == "tests/test_a.py is written for pytest"


def test_a_linter_is_installed_in_the_version_the_project_declares_for_it() -> None:
    text = (
        NAMED + '[project.optional-dependencies]\ntest = ["pytest"]\nlint ='
        ' ["ruff==0.9.1"]\n[tool.ruff]\n'
    )
    assert pip(profile_of({"pyproject.toml": text})) == ["-e .[test] ruff==0.9.1"]


def test_a_linter_that_only_pre_commit_pins_is_installed_in_that_version() -> None:
    hooks = (
        "repos:\n  - repo: https://github.com/pycqa/flake8\n    rev: '7.1.0'\n    hooks: [{id:"
        " flake8}]\n  - repo: https://github.com/astral-sh/ruff-pre-commit\n    rev: v0.9.1\n   "
        " hooks: [{id: ruff}]\n"
    )
    files = {".pre-commit-config.yaml": hooks, "a.py": ""}
    assert pip(profile_of({**files, "ruff.toml": ""})) == ["ruff==0.9.1"]
    assert pip(profile_of({**files, ".flake8": "[flake8]\n"})) == ["flake8==7.1.0"]
    assert profile_of(files).commands.setup == ()


def test_development_requirements_join_those_for_tests_when_only_they_name_pytest() -> None:
    text = (
        NAMED + '[project.optional-dependencies]\ntest = ["hypothesis"]\ndev = ["pytest", "tox"]\n'
    )
    assert pip(profile_of({"pyproject.toml": text})) == ["-e .[test,dev]"]


def test_an_extra_of_any_name_is_installed_where_it_alone_names_pytest() -> None:
    extras = NAMED + '[project.optional-dependencies]\nfast = ["orjson"]\n'
    text = extras + 'all = ["orjson", "pytest", "ruff"]\nchecks = ["pytest>=8", "hypothesis"]\n'
    assert pip(profile_of({"pyproject.toml": text})) == ["-e .[checks]"]
    assert pip(profile_of({"pyproject.toml": text + 'dev = ["pytest"]\n'})) == ["-e .[dev]"]
    assert pip(profile_of({"pyproject.toml": extras, "tests/test_a.py": PYTEST_FILE})) == [
        "-e . pytest"
    ]
    group = NAMED + '[dependency-groups]\nqa = ["pytest", "hypothesis"]\n'
    assert pip(profile_of({"pyproject.toml": group})) == ["-e . pytest hypothesis"]


def test_development_requirements_stay_out_when_those_for_tests_are_enough() -> None:
    text = NAMED + '[project.optional-dependencies]\ntest = ["pytest"]\ndev = ["pytest", "tox"]\n'
    assert pip(profile_of({"pyproject.toml": text})) == ["-e .[test]"]


def test_a_requirements_file_for_tests_is_left_aside_where_an_extra_says_the_same() -> None:
    text = NAMED + '[project.optional-dependencies]\ntest = ["pytest"]\n'
    assert pip(profile_of({"pyproject.toml": text, "requirements-test.txt": "pytest==8.0\n"})) == [
        "-e .[test]"
    ]


def test_a_flat_project_that_is_no_package_gets_only_its_requirements() -> None:
    files = {
        "app.py": "",
        "requirements.txt": "flask>=3\n",
        "requirements-test.txt": "pytest\n",
        "test_app.py": PYTEST_FILE,
    }
    assert pip(profile_of(files)) == ["-r requirements.txt -r requirements-test.txt"]


def test_a_project_table_without_a_build_system_gives_its_dependencies_but_is_not_installed() -> (
    None
):
    files = {
        "pyproject.toml": '[project]\nname = "app"\nversion = "1"\ndependencies = ["flask>=3"]\n',
        "test_a.py": PYTEST_FILE,
    }
    assert pip(profile_of(files)) == ["flask>=3 pytest"]


def test_sources_in_src_that_are_not_installed_are_put_on_pythons_path() -> None:
    profile = profile_of({"src/shop/__init__.py": "", "tests/test_a.py": PYTEST_FILE})
    assert lines(profile.commands.test) == ["env PYTHONPATH=src {env}/bin/python -m pytest -q -rfE"]


def test_requirements_with_hashes_are_installed_by_themselves() -> None:
    files = {"requirements.txt": "flask==3.0 --hash=sha256:00\n", "test_app.py": PYTEST_FILE}
    assert pip(profile_of(files)) == ["-r requirements.txt", "pytest"]


def test_poetrys_constraints_become_pips() -> None:
    text = (
        '[build-system]\nrequires = ["poetry-core"]\nbuild-backend ='
        ' "poetry.core.masonry.api"\n[tool.poetry]\nname ='
        ' "shop"\n[tool.poetry.dependencies]\npython ='
        ' "^3.11"\n[tool.poetry.group.test.dependencies]\npytest = "^8.1"\nzero = "^0.2.3"\ntilde ='
        ' "~1.4"\nany = "*"\nexact = "1.0"\nrange = ">=1,<3"\npatch = "^0.0.3"\ncov = {version ='
        ' ">=4", extras = ["toml"]}\nours = {git = "https://example.com/ours", tag ='
        ' "v1"}\nlocal.path = "x"\n'
    )
    assert (
        lines(profile_of({"pyproject.toml": text}).commands.setup)[1].removeprefix(PIP)
        == " -e . pytest>=8.1,<9 zero>=0.2.3,<0.3 tilde>=1.4,<1.5 any exact==1.0 range>=1,<3"
        " patch>=0.0.3,<0.0.4 cov[toml]>=4 ours @ git+https://example.com/ours@v1"
    )


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ('[tool.uv]\ndev-dependencies = ["pytest>=8"]\n', "-e . pytest>=8"),
        ('[tool.pdm.dev-dependencies]\ntest = ["pytest>=7", "-e file:///x"]\n', "-e . pytest>=7"),
        ('[tool.hatch.envs.default]\ndependencies = ["pytest>=6"]\n', "-e . pytest>=6"),
        ('[tool.poetry.dev-dependencies]\npytest = ">=5"\n', "-e . pytest>=5"),
    ],
)
def test_the_development_requirements_of_other_managers_are_read(table: str, expected: str) -> None:
    assert pip(profile_of({"pyproject.toml": NAMED + table, "a.py": ""})) == [expected]


def test_an_old_setup_script_is_read_without_being_run() -> None:
    script = (
        'from setuptools import setup\nraise SystemExit("run!")\nsetup(name="s",'
        ' extras_require={"tests": ["pytest"]})\n'
    )
    profile = profile_of({"setup.py": script, "s.py": ""})
    assert pip(profile) == ["-e .[tests]"]
    assert profile.commands.test[0].reason == "extra tests names pytest"


def test_extras_in_setup_cfg_are_read() -> None:
    config = "[metadata]\nname = s\n[options.extras_require]\ntest =\n    pytest\n    pytest-cov\n"
    assert pip(
        profile_of({"setup.py": "import setuptools; setuptools.setup()", "setup.cfg": config})
    ) == ["-e .[test]"]


def test_what_only_another_tool_or_place_names_for_tests_is_installed() -> None:
    build = '[build-system]\nrequires = ["hatchling"]\n[project]\nname = "x"\n'
    extra = f'{build}[project.optional-dependencies]\nqa = ["mock"]\n'
    session = "@nox.session\ndef {}(session):\n    session.install({})\n"
    for files, end in (
        ({"pyproject.toml": extra, "tox.ini": "[testenv]\nextras = qa\n"}, "-e .[qa] pytest"),
        ({"pyproject.toml": f'{build}[tool.tox.env_run_base]\ndeps = ["mock"]\n'}, "mock pytest"),
        (
            {
                "pyproject.toml": extra.replace("qa", "more"),
                "noxfile.py": session.format("docs", "'sphinx'")
                + session.format("tests", "'-r', 'x.txt', '.[more]', 'pytz', '-e', '.'"),
            },
            "-e .[more] pytz pytest",
        ),
        (
            {"pyproject.toml": build, "tests/requirements.txt": "pytest\nmock\n"},
            "-e . -r tests/requirements.txt",
        ),
        ({"setup.py": "setup(name='x', tests_require=['mock'])"}, "-e . mock pytest"),
    ):
        setup = lines(profile_of({**files, "tests/test_a.py": PYTEST_FILE}).commands.setup)
        assert setup[-1].endswith(end), setup


def test_tox_says_what_tests_need_when_nothing_else_does() -> None:
    config = "[testenv]\ndeps =\n    pytest\n    py311: pytz\n    -r{toxinidir}/x.txt\n    mock\n"
    files = {"setup.py": "setup()", "tox.ini": config, "test_a.py": PYTEST_FILE}
    assert pip(profile_of(files)) == ["-e . pytest mock"]
    assert any("tox" in note for note in profile_of(files).notes)


def test_members_of_a_workspace_are_installed_with_the_project_that_needs_them() -> None:
    files = {
        "pyproject.toml": (
            NAMED + '[tool.uv.workspace]\nmembers = ["packages/*"]\n[tool.pytest.ini_options]\n'
        ),
        "packages/one/pyproject.toml": NAMED,
        "packages/two/pyproject.toml": NAMED,
        "packages/one/one.py": "",
    }
    assert pip(profile_of(files)) == ["-e ./packages/one -e ./packages/two -e . pytest"]


def test_projects_in_folders_share_one_environment() -> None:
    extra = '[project.optional-dependencies]\ntest = ["pytest"]\n'
    files = {
        "pyproject.toml": "[tool.ruff]\n",
        "a/pyproject.toml": NAMED + extra,
        "a/test_a.py": PYTEST_FILE,
        "b/pyproject.toml": NAMED,
        "b/test_b.py": PYTEST_FILE,
    }
    profile = profile_of(files)
    assert pip(profile) == ["-e ./a[test] -e ./b pytest ruff"]
    assert [line.split()[-1] for line in lines(profile.commands.test)] == ["a", "b"]
    assert [line.split()[-1] for line in lines(profile.commands.lint)] == ["."]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"test_a.py": UNITTEST_FILE}, ["-s ."]),
        ({"tests/test_a.py": UNITTEST_FILE}, ["-s tests"]),
        ({"tests/__init__.py": "", "tests/test_a.py": UNITTEST_FILE}, ["-s tests -t ."]),
        (
            {"tests/__init__.py": "", "tests/test_a.py": UNITTEST_FILE, "test_b.py": UNITTEST_FILE},
            ["-s ."],
        ),
        (
            {
                "shop/__init__.py": "",
                "shop/tests/__init__.py": "",
                "shop/tests/test_a.py": UNITTEST_FILE,
            },
            ["-s shop -t ."],
        ),
        (
            {"tests/unit/test_a.py": UNITTEST_FILE, "tests/slow/test_b.py": UNITTEST_FILE},
            ["-s tests/slow", "-s tests/unit"],
        ),
        ({"tests/a_test.py": UNITTEST_FILE}, ["-s tests -p *_test.py"]),
    ],
)
def test_unittest_starts_where_discovery_reaches_every_test(
    files: dict[str, str], expected: list[str]
) -> None:
    commands = profile_of(files).commands
    assert lines(commands.test) == [
        f"python3 -m unittest discover -v {place}" for place in expected
    ]
    assert commands.setup == ()


def test_unittest_with_dependencies_runs_in_the_environment_that_has_them() -> None:
    text = NAMED + 'dependencies = ["attrs"]\n'
    commands = profile_of({"pyproject.toml": text, "test_a.py": UNITTEST_FILE}).commands
    assert lines(commands.test) == ["{env}/bin/python -m unittest discover -v -s ."]
    assert lines(commands.setup)[1] == f"{PIP} -e ."


def test_unittest_classes_beside_pytests_functions_are_left_to_pytest() -> None:
    commands = profile_of({"test_a.py": UNITTEST_FILE, "test_b.py": "import pytest\n"}).commands
    assert commands.test[0].argv[2] == "pytest"


def test_a_django_project_is_tested_by_its_own_command() -> None:
    files = {
        "manage.py": "import django\n",
        "requirements.txt": "django>=5\n",
        "shop/tests.py": "from django.test import TestCase\n",
    }
    commands = profile_of(files).commands
    assert lines(commands.test) == ["{env}/bin/python manage.py test -v 2"]
    assert lines(commands.setup)[1] == f"{PIP} -r requirements.txt"


@pytest.mark.parametrize(
    "options", ['addopts = "-q"', 'addopts = ["-ra", "-qx"]', 'addopts = "--quiet"']
)
def test_pytest_that_is_quiet_already_is_not_made_quieter(options: str) -> None:
    text = f"{NAMED}[tool.pytest.ini_options]\n{options}\n"
    assert lines(profile_of({"pyproject.toml": text, "a.py": ""}).commands.test) == [
        "{env}/bin/python -m pytest -rfE"
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pytest.ini", "[pytest]\n"),
        ("setup.cfg", "[tool:pytest]\n"),
        ("tox.ini", "[pytest]\n"),
        ("tests/conftest.py", ""),
    ],
)
def test_each_place_that_configures_pytest_counts(name: str, text: str) -> None:
    commands = profile_of({name: text, "a.py": ""}).commands
    assert commands.test[0].argv[2] == "pytest"
    assert commands.test[0].reason.startswith(name)


def test_flake8_is_run_where_it_is_configured_and_ruff_is_not() -> None:
    assert lines(profile_of({"a.py": "", ".flake8": "[flake8]\n"}).commands.lint) == [
        "{env}/bin/python -m flake8 ."
    ]
    both = profile_of({"a.py": "", ".flake8": "[flake8]\n", "ruff.toml": ""})
    assert [each.argv[2] for each in both.commands.lint] == ["ruff"]


def test_a_linter_that_nobody_configured_is_not_run() -> None:
    text = (
        NAMED
        + '[project.optional-dependencies]\ndev = ["ruff", "mypy", "flake8"]\n[tool.mypy]\nstrict ='
        " true\n"
    )
    assert profile_of({"pyproject.toml": text, "a.py": ""}).commands.lint == ()


def test_python_files_without_tests_or_settings_give_no_commands() -> None:
    commands = profile_of({"a.py": "print(1)\n", "pyproject.toml": NAMED}).commands
    assert commands.test == commands.setup == commands.lint == ()


def test_a_broken_manifest_counts_as_none_and_the_rest_is_still_found() -> None:
    files = {
        "pyproject.toml": "[project\n",
        "setup.cfg": "no section\n",
        "setup.py": "def (",
        "test_a.py": UNITTEST_FILE,
    }
    assert profile_of(files).commands.test != ()


def test_a_requirement_that_is_an_option_for_pip_is_left_out() -> None:
    text = (
        NAMED + 'dependencies = []\n[dependency-groups]\ntest = ["pytest", "'
        ' --index-url=https://example.com"]\n'
    )
    assert pip(profile_of({"pyproject.toml": text})) == ["-e . pytest"]


def test_tests_of_specimens_and_of_vendored_code_are_not_this_projects() -> None:
    files = {
        "a.py": "",
        "tests/fixtures/x/test_x.py": PYTEST_FILE,
        "vendor/y/test_y.py": PYTEST_FILE,
    }
    assert profile_of(files).commands.test == ()


@pytest.mark.parametrize(
    ("name", "inside", "apart"), [("app", "", True), ("app", "src/", True), ("b", "", False)]
)
def test_projects_with_a_package_of_one_name_have_an_environment_each(
    name: str, inside: str, apart: bool
) -> None:
    profile = profile_of(
        {
            "services/a/pyproject.toml": NAMED,
            "services/a/app/__init__.py": "",
            "services/a/tests/__init__.py": "",
            "services/a/tests/test_a.py": PYTEST_FILE,
            "services/b/pyproject.toml": NAMED,
            f"services/b/{inside}{name}/__init__.py": "",
            "services/b/tests/__init__.py": "",
            "services/b/tests/test_b.py": PYTEST_FILE,
        }
    )
    places = [f"{{env}}/services/{each}" for each in "ab"] if apart else ["{env}"] * 2
    assert [each.argv[0] for each in profile.commands.test] == [
        f"{place}/bin/python" for place in places
    ]
    made = [each.argv[-1] for each in profile.commands.setup if "venv" in each.argv]
    assert made == [*dict.fromkeys(places)]
