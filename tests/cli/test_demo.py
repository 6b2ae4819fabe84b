"""The recorded run that `forge-bot demo` plays, as a person who typed it sees its end."""

from tests.fakes.finished import Demo


def test_the_demo_ends_with_lines_that_work_where_it_was_typed(played_demo: Demo) -> None:
    lines = [line.strip() for line in played_demo.out.splitlines()]
    start = lines.index(f"cd {played_demo.repository.root}")
    branch = lines[start + 1].removeprefix("git diff main...")
    assert lines[start + 2] == f"git switch main && git merge {branch}"
    assert played_demo.repository.commit_id(branch)
