"""What is found in Python projects of many kinds."""

import pytest

from forge_bot.runs.project_commands.commit_profile import Profile
from tests.knowledge.repository_scene import lines, profile_of

PIP = "{env}/bin/python -m pip install -q --disable-pip-version-check"
TOOLS = PIP.replace("{env}", "{env}/tools")
BUILD = '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
NAMED = BUILD + '[project]\nname = "shop"\nversion = "1"\n'
EXTRAS = f"{NAMED}[project.optional-dependencies]\n"
GROUPS = f"{NAMED}[dependency-groups]\n"
PYTEST_FILE = "def test_it() -> None:\n    pass\n"
UNITTEST_FILE = "import unittest\n\n\nclass T(unittest.TestCase):\n    pass\n"
HOOKS = (
    "repos:\n  - repo: https://github.com/pycqa/flake8\n    rev: '7.1.0'\n    hooks: [{id:"
    " flake8}]\n  - repo: https://github.com/astral-sh/ruff-pre-commit\n    rev: v0.9.1\n"
    "    hooks: [{id: ruff}]\n"
)


def pip(profile: Profile) -> list[str]:
    """What pip is asked for, each request without what is always the same."""
    return [line.removeprefix(PIP + " ") for line in lines(profile.commands.setup)[1:]]


@pytest.mark.parametrize(
    ("manifest", "expected"),
    [
        (GROUPS + 'cover = ["c"]\ntest = ["pytest", {include-group = "Cover"}]\n', "pytest c"),
        (
            GROUPS + 'a = ["x", {include-group = "test"}]\ntest = ["pytest", {include-group ='
            ' "a"}]\n',
            "pytest x",
        ),
        (GROUPS + 'qa = ["pytest", "hypothesis"]\n', "pytest hypothesis"),
        (GROUPS + 'test = ["pytest", " --index-url=https://example.com"]\n', "pytest"),
        (EXTRAS + 'test = ["pytest"]\nlint = ["ruff==0.9.1"]\n[tool.ruff]\n', "[test] ruff==0.9.1"),
        (EXTRAS + 'test = ["hypothesis"]\ndev = ["pytest", "tox"]\n', "[test,dev]"),
        (EXTRAS + 'test = ["pytest"]\ndev = ["pytest", "tox"]\n', "[test]"),
        (EXTRAS + 'all = ["a", "pytest", "b"]\nchecks = ["pytest>=8", "c"]\n', "[checks]"),
        (EXTRAS + 'checks = ["pytest>=8"]\ndev = ["pytest"]\n', "[dev]"),
        (NAMED, "pytest"),
        (f'{NAMED}[tool.uv]\ndev-dependencies = ["pytest>=8"]\n', "pytest>=8"),
        (
            f'{NAMED}[tool.pdm.dev-dependencies]\ntest = ["pytest>=7", "-e file:///x"]\n',
            "pytest>=7",
        ),
    ],
)
def test_a_package_is_installed_with_what_its_manifest_names_for_tests(
    manifest: str, expected: str
) -> None:
    profile = profile_of({"pyproject.toml": manifest, "tests/test_a.py": PYTEST_FILE})
    assert pip(profile) == [f"-e .{'' if expected.startswith('[') else ' '}{expected}"]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"pyproject.toml": f'{EXTRAS}test = ["pytest"]\n'}, ["-e .[test]"]),
        ({"pyproject.toml": NAMED}, ["-e . -r requirements-test.txt"]),
        ({"requirements.txt": "flask>=3\n"}, ["-r requirements.txt -r requirements-test.txt"]),
        ({"tests/requirements.txt": "m\n"}, ["-r requirements-test.txt -r tests/requirements.txt"]),
        (
            {"requirements.txt": "flask==3.0 --hash=sha256:00\n"},
            ["-r requirements.txt", "-r requirements-test.txt"],
        ),
        (
            {
                "pyproject.toml": '[project]\nname = "app"\ndependencies = ["flask>=3"]\n',
                "requirements-test.txt": "",
            },
            ["flask>=3 pytest -r requirements-test.txt"],
        ),
        (
            {"setup.py": 'raise SystemExit\nsetup(extras_require={"tests": ["pytest"]})'},
            ["-e .[tests]"],
        ),
        (
            {
                "setup.py": "setup()",
                "setup.cfg": "[metadata]\nname = s\n[options.extras_require]\ntest =\n    pytest\n",
            },
            ["-e .[test]"],
        ),
    ],
)
def test_requirements_files_count_where_no_extra_or_group_says_the_same(
    files: dict[str, str], expected: list[str]
) -> None:
    said = {"requirements-test.txt": "pytest==8.0\n", "tests/test_a.py": PYTEST_FILE, **files}
    assert pip(profile_of(said)) == expected


def test_a_requirements_file_of_an_application_that_names_pytest_is_for_tests_too() -> None:
    files = {"pyproject.toml": NAMED + 'dependencies = ["anyio"]\n', "requirements.txt": "pytest\n"}
    assert pip(profile_of(files)) == ["-e . -r requirements.txt"]


def test_a_linter_that_only_pre_commit_pins_is_installed_in_that_version() -> None:
    files = {".pre-commit-config.yaml": HOOKS, "a.py": ""}
    assert pip(profile_of({**files, "ruff.toml": ""})) == ["ruff==0.9.1"]
    assert pip(profile_of({**files, ".flake8": "[flake8]\n"})) == ["flake8==7.1.0"]
    assert profile_of(files).commands.setup == ()


def test_sources_in_src_that_are_not_installed_are_put_on_pythons_path() -> None:
    profile = profile_of({"src/shop/__init__.py": "", "tests/test_a.py": PYTEST_FILE})
    assert lines(profile.commands.test) == ["env PYTHONPATH=src {env}/bin/python -m pytest -q -rfE"]
    assert profile.commands.test[0].reason == "tests/test_a.py is written for pytest"


# -- tools that install a project by themselves
# --------------------------------------------------------------------------------------------------


POETRY = (
    '[build-system]\nrequires = ["poetry-core"]\n[tool.poetry]\nname = "shop"\n'
    '[tool.poetry.group.tests.dependencies]\npytest = "^8.1"\n'
    '[tool.poetry.dev-dependencies]\nruff = "*"\n[tool.ruff]\n'
)


@pytest.mark.parametrize(
    ("lock", "manifest", "installer", "install"),
    [
        (
            "uv.lock",
            "",
            "uv",
            (
                "env UV_PROJECT_ENVIRONMENT={env} {env}/tools/bin/uv sync --frozen --inexact"
                " --no-progress --python {env}/bin/python --no-default-groups --group tests"
                " --group dev"
            ),
        ),
        (
            "uv.lock",
            '[tool.uv]\nrequired-version = "0.9.3"\n[tool.uv.workspace]\nmembers = ["a"]\n',
            "uv==0.9.3",
            (
                "env UV_PROJECT_ENVIRONMENT={env} {env}/tools/bin/uv sync --frozen --inexact"
                " --no-progress --python {env}/bin/python --all-packages --no-default-groups"
                " --group tests --group dev"
            ),
        ),
        (
            "poetry.lock",
            "",
            "poetry",
            (
                "env VIRTUAL_ENV={env} {env}/tools/bin/poetry install --no-interaction --no-ansi"
                " --with tests,dev"
            ),
        ),
        (
            "",
            POETRY,
            "poetry",
            (
                "env VIRTUAL_ENV={env} {env}/tools/bin/poetry install --no-interaction --no-ansi"
                " --with tests,dev"
            ),
        ),
        (
            "pdm.lock",
            "",
            "pdm[locked]",
            "env VIRTUAL_ENV={env} {env}/tools/bin/pdm install --check --group tests --group dev",
        ),
    ],
)
def test_a_project_is_installed_by_the_tool_that_wrote_its_lock_and_by_poetry_without_one(
    lock: str, manifest: str, installer: str, install: str
) -> None:
    groups = f'{GROUPS}dev = ["ruff"]\ntests = ["pytest"]\n[tool.ruff]\n'
    text = manifest if manifest == POETRY else groups + manifest
    profile = profile_of({"pyproject.toml": text, lock: "", "tests/test_a.py": PYTEST_FILE})
    assert lines(profile.commands.setup) == [
        "python3 -m venv {env}",
        "python3 -m venv {env}/tools",
        f"{TOOLS} {installer}",
        install,
    ]
    assert profile.notes == ()


def test_a_tool_that_the_lock_lacks_is_added_in_the_version_that_is_pinned() -> None:
    files = {
        "pyproject.toml": f'{GROUPS}tests = ["pytest"]\n[tool.ruff]\n',
        "uv.lock": "",
        "tests/test_a.py": PYTEST_FILE,
        ".pre-commit-config.yaml": HOOKS,
    }
    assert lines(profile_of(files).commands.setup)[-1] == f"{PIP} ruff==0.9.1"


# -- test runners
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (["test_a.py"], ["-s ."]),
        (["tests/test_a.py"], ["-s tests"]),
        (["tests/__init__.py", "tests/test_a.py"], ["-s tests -t ."]),
        (["tests/__init__.py", "tests/test_a.py", "test_b.py"], ["-s ."]),
        (["shop/__init__.py", "shop/tests/__init__.py", "shop/tests/test_a.py"], ["-s shop -t ."]),
        (["tests/unit/test_a.py", "tests/slow/test_b.py"], ["-s tests/slow", "-s tests/unit"]),
        (["tests/a_test.py"], ["-s tests -p *_test.py"]),
    ],
)
def test_unittest_starts_where_discovery_reaches_every_test(
    files: list[str], expected: list[str]
) -> None:
    commands = profile_of(
        {"uv.lock": "", "pyproject.toml": "[project]\n", **dict.fromkeys(files, UNITTEST_FILE)}
    ).commands
    assert lines(commands.test) == [
        f"python3 -m unittest discover -v {place}" for place in expected
    ]
    assert commands.setup == ()


def test_unittest_with_dependencies_runs_in_the_environment_that_has_them() -> None:
    for manifest in (
        {"pyproject.toml": NAMED + 'dependencies = ["attrs"]\n'},
        {"setup.py": "setup(install_requires=['attrs'])"},
    ):
        commands = profile_of({**manifest, "test_a.py": UNITTEST_FILE}).commands
        assert lines(commands.test) == ["{env}/bin/python -m unittest discover -v -s ."]
        assert lines(commands.setup)[1] == f"{PIP} -e ."


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
    ("name", "text"),
    [
        ("pytest.ini", "[pytest]\n"),
        ("setup.cfg", "[tool:pytest]\n"),
        ("tox.ini", "[pytest]\n"),
        ("tests/conftest.py", ""),
        ("pyproject.toml", "[tool.pytest.ini_options]\n"),
    ],
)
def test_each_place_that_configures_pytest_counts(name: str, text: str) -> None:
    (test,) = profile_of({name: text, "a.py": ""}).commands.test
    assert " ".join(test.argv) == "{env}/bin/python -m pytest -q -rfE"
    assert test.reason.startswith(name)


def test_where_no_linter_is_configured_those_are_run_that_tox_or_ci_calls() -> None:
    tox = (
        "[testenv]\ndeps =\n  pytest\n  mypy\ncommands = pytest {posargs}\n"
        "[testenv:style]\ncommands =\n  python -m pycodestyle --ignore=E501 {posargs:shop tests}\n"
        "  flake8 {env:FILES}\n"
    )
    workflow = (
        "on: push\njobs:\n  mypy:\n    steps:\n      - run: pip install mypy ruff\n"
        "      - name: types\n        run: |\n          uv run mypy shop\n          mypy tests\n"
        "      - run: ruff check --fix shop\n      - run: pylint shop | tee out\n"
    )
    profile = profile_of({"a.py": "", "tox.ini": tox, ".github/workflows/ci.yml": workflow})
    assert [(" ".join(found.argv), found.reason) for found in profile.commands.lint] == [
        ("{env}/bin/python -m pycodestyle --ignore=E501 shop tests", "tox.ini calls pycodestyle"),
        ("{env}/bin/python -m mypy shop", ".github/workflows/ci.yml calls mypy"),
    ]
    assert pip(profile) == ["pycodestyle mypy"]
    configured = profile_of({"a.py": "", "tox.ini": tox, ".flake8": "[flake8]\n"})
    assert lines(configured.commands.lint) == ["{env}/bin/python -m flake8 ."]


def test_a_linter_is_run_where_it_is_configured_and_ruff_before_flake8() -> None:
    assert lines(profile_of({"a.py": "", ".flake8": "[flake8]\n"}).commands.lint) == [
        "{env}/bin/python -m flake8 ."
    ]
    both = profile_of({"a.py": "", ".flake8": "[flake8]\n", "ruff.toml": ""})
    assert lines(both.commands.lint) == ["{env}/bin/python -m ruff check --output-format=concise ."]
    named = f'{EXTRAS}dev = ["ruff", "flake8"]\n'
    assert profile_of({"pyproject.toml": named, "a.py": ""}).commands.lint == ()


def test_a_broken_manifest_counts_as_none_and_the_rest_is_still_found() -> None:
    files = {
        "pyproject.toml": "[project\n",
        "setup.cfg": "no section\n",
        "setup.py": "def (",
        "test_a.py": UNITTEST_FILE,
    }
    assert profile_of(files).commands.test != ()


def test_tests_of_specimens_and_of_vendored_code_are_not_this_projects() -> None:
    files = {
        "a.py": "",
        "tests/fixtures/x/test_x.py": PYTEST_FILE,
        "vendor/y/test_y.py": PYTEST_FILE,
    }
    assert profile_of(files).commands.test == ()


# -- several projects
# --------------------------------------------------------------------------------------------------


def test_projects_in_folders_share_one_environment() -> None:
    files = {
        "pyproject.toml": "[tool.ruff]\n",
        "a/pyproject.toml": f'{EXTRAS}test = ["pytest"]\n',
        "a/test_a.py": PYTEST_FILE,
        "b/pyproject.toml": NAMED,
        "b/test_b.py": PYTEST_FILE,
    }
    profile = profile_of(files)
    assert pip(profile) == ["-e ./a[test] -e ./b pytest ruff"]
    assert [line.split()[-1] for line in lines(profile.commands.test)] == ["a", "b"]
    assert [line.split()[-1] for line in lines(profile.commands.lint)] == ["."]


@pytest.mark.parametrize(
    ("name", "inside", "apart"), [("app", "", True), ("app", "src/", True), ("b", "", False)]
)
def test_projects_with_a_package_of_one_name_have_an_environment_each(
    name: str, inside: str, *, apart: bool
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
    places = [f"{{env}}/services/{folder}" for folder in "ab"] if apart else ["{env}"] * 2
    assert [test.argv[0] for test in profile.commands.test] == [
        f"{place}/bin/python" for place in places
    ]
    made = [step.argv[-1] for step in profile.commands.setup if "venv" in step.argv]
    assert made == [*dict.fromkeys(places)]
