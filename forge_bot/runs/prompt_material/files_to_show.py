"""Choose the files to show for a request: those that define or hold its names, code first."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from forge_bot.artifacts.test_paths import belongs_to_tests
from forge_bot.knowledge.changelogs import tells_of_changes
from forge_bot.knowledge.likely_files import LikelyFiles, is_beside_code, is_prose
from forge_bot.knowledge.mentions import last_part
from forge_bot.knowledge.name_uses import only_hands_on

CODE_SHOWN = 3
_TESTS_SHOWN = 1
_PROSE_SHOWN = 1
COMMON = 80
_TEST_NAME = re.compile(r"^test_|[_.](?:test|spec)$")

Use = tuple[str, int, str]
"""A path, the number of a line, and the line."""


def files_defining(defined: Mapping[str, Sequence[tuple[str, int]]]) -> Iterator[str]:
    """Yield the files that define the names.

    Of a name with several definitions only those count that are in a file which defines another
    name alone, if there are any, or else those of the code: the others are of the same name by
    chance, as a method `Get` of an example. Names with one definition come first.
    """
    alone = {hits[0][0] for hits in defined.values() if len(hits) == 1}
    for hits in sorted(defined.values(), key=lambda hits: len(hits) > 1):
        paths = [path for path, _ in hits]
        own = [path for path in paths if not is_beside_code(path)]
        yield from [path for path in paths if path in alone] or own or paths


class PossibleFiles(NamedTuple):
    """The files that a request may mean.

    `holding` are those that hold its names, with their scores, best first; `best` are the most
    likely ones. `own` has the uses of the names that the repository defines, and of rare ones.
    """

    holding: Mapping[str, float]
    best: Sequence[str]
    own: Mapping[str, Sequence[Use]]
    files: Sequence[str]


def named_files(found: PossibleFiles, already: Sequence[str]) -> Iterator[str]:
    """Yield the code, the tests and the page with most of the names that are not shown yet."""
    code = [path for path in found.holding if kind_of_file(path) == 0]
    pages = [path for path in found.holding if is_prose(path) and not tells_of_changes(path)]
    yield from code[: max(0, CODE_SHOWN - len(already))]
    yield from _tests(found, already)[:_TESTS_SHOWN]
    yield from pages[:_PROSE_SHOWN]


def _tests(found: PossibleFiles, already: Sequence[str]) -> list[str]:
    """Return the tests, best first.

    Those that are named after a name of the request come first, and so do those named after the
    code where no test uses one. If no test has a name, these are the most likely ones.
    """
    scores = found.holding
    tests = [path for path in scores if belongs_to_tests(path)]
    tests = [path for path in tests if scores[path] * 2 >= scores[tests[0]]]
    unused = {path for uses in found.own.values() for path, *_ in uses}.isdisjoint(tests)
    code = [path for path in (found.best if unused else scores) if kind_of_file(path) == 0]
    stems = {PurePosixPath(path).stem.strip("_") for path in already or code[:1]}
    wanted = {*(last_part(name) for name in found.own), *(stems if unused else ())}
    after = [path for path in found.files if belongs_to_tests(path) and _tested_by(path) in wanted]
    tests = [*after[:_TESTS_SHOWN], *tests]
    tests.sort(key=lambda path: _tested_by(path) not in wanted | stems)
    return tests or [path for path in found.best if belongs_to_tests(path)]


def kind_of_file(path: str) -> int:
    """Return the place of a kind of file: code, tests, pages."""
    return 2 if is_prose(path) else int(belongs_to_tests(path))


def _tested_by(path: str) -> str:
    """Return what a file of tests is named after."""
    return _TEST_NAME.sub("", PurePosixPath(path).stem)


def by_names(
    uses: dict[str, list[Use]],
    ranked: LikelyFiles | None,
    names: Sequence[str],
    files: Sequence[str],
) -> dict[str, float]:
    """Return the files with the names and their scores, best first.

    A name in few files scores most, and so does a definition whose name contains it, such as its
    test.
    """
    scores: dict[str, float] = defaultdict(float)
    for name, hits in uses.items():
        if len(hits) > COMMON:
            continue
        handed_on = only_hands_on(name)
        paths = Counter(path for path, _, line in hits if not handed_on.search(line))
        for path, times in paths.items():
            scores[path] += (1 + min(times, 9) / 10) / len(paths)
    if ranked:
        for path, count in ranked.named_alike(names).items():
            scores[path] += min(count, 4) / 4
    place = {path: at for at, path in enumerate(files)}
    known = [path for path in scores if path in place]
    known.sort(key=lambda path: (-round(scores[path], 6), place[path]))
    return {path: scores[path] for path in known}
