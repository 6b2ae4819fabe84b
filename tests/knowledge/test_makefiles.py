"""Targets are read as make reads them, not as words that happen to stand in the file."""

import pytest

from tests.fakes.rows import rows
from tests.knowledge.repository_scene import lines, profile_of

ROWS = rows(__file__)


def found(makefile: str, **others: str) -> list[str]:
    """The test commands for a Makefile."""
    return lines(profile_of({"Makefile": makefile, **others}).commands.test)


@pytest.mark.parametrize("makefile", ROWS["a_rule_for_test_is"])
def test_a_rule_for_test_is_one(makefile: str) -> None:
    assert found(makefile) == ["make test"]


@pytest.mark.parametrize("makefile", ROWS["what_only_looks_like_a"])
def test_what_only_looks_like_a_rule_for_test_is_none(makefile: str) -> None:
    assert found(makefile) == []


def test_check_is_used_when_there_is_no_test() -> None:
    assert found("check:\n\t./t\n") == ["make check"]
    assert found("check:\n\t./c\ntest:\n\t./t\n") == ["make test"]


def test_makes_own_order_of_files_is_kept() -> None:
    assert found("test:\n\t./t\n", GNUmakefile="check:\n\t./c\n") == ["make check"]


def test_make_gives_way_to_a_toolchain_with_tests() -> None:
    files = {"Makefile": "all: check\ncheck:\n\t./c\nlint:\n\tgo vet ./...\n"}
    commands = profile_of(files).commands
    assert lines((*commands.build, *commands.test, *commands.lint)) == [
        "make all",
        "make check",
        "make lint",
    ]
    commands = profile_of({**files, "go.mod": "module x\n"}).commands
    assert lines((*commands.test, *commands.lint)) == ["go test ./..."]
