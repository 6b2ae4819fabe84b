"""Look up what a request speaks of, before the first call: definitions, uses and likely files."""

import builtins
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from posixpath import basename, dirname, splitext
from typing import NamedTuple

from forge_bot.artifacts.test_paths import belongs_to_tests
from forge_bot.git import Repository
from forge_bot.git.commit_history import holding, lines_with
from forge_bot.knowledge.code_index import CodeIndex, best_first, is_beside_code, is_prose
from forge_bot.knowledge.house_rules import tells_of_changes
from forge_bot.knowledge.mentions import (
    as_searched,
    last_part,
    mentions,
    only_hands_on,
    request_names,
    resolve,
)
from forge_bot.knowledge.search_index import words
from forge_bot.project.graph.stacks.all_stacks import stack_for
from forge_bot.store.run_folder import SPECS
from forge_bot.text_format import several

_MOST_READ = 600
_LARGEST_READ = 1_000_000
_WORDS_SEARCHED = 10
_PROSE_READ = (".md", ".rst", ".txt", ".adoc")

_LIKELY_TOLD = 4
_CODE_SHOWN = 3
_LEAST_OF_BEST = 8
_NAMED = 0.5
"""What a name counts beside the words, of which the best file has 1."""

_MOST_NAMES = 12
_MOST_PLACES = 3
"""Definitions of a name beyond which it does not identify a place."""

_COMMON = 80
"""Lines with a name beyond which they tell nothing; and the same of one that is defined nowhere."""
_COMMON_UNDEFINED = 40

_USES_OF_A_NAME = 12
_USES_TOLD = 8
_LINE = 100

Use = tuple[str, int, str]
"""A path, the number of a line, and the line."""


class RequestLookup(NamedTuple):
    """The findings for a request: where its names are defined, the lines with each outside
    changelogs, the most likely files, and the files to show, the most important first.
    """

    defined: Mapping[str, Sequence[tuple[str, int]]]
    uses: Mapping[str, Sequence[Use]]
    likely: Sequence[str]
    paths: Sequence[str]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names whose uses help: defined ones, and others in few lines."""
        return tuple(
            sorted(self.uses, key=lambda name: (not self.defined.get(name), len(self.uses[name])))
        )

    def told(self, shown: Mapping[str, Sequence[tuple[int, int]]]) -> Iterator[str]:
        """Yield the lines of the findings for an agent, without lines that are shown anyway."""
        for name, hits in self.defined.items():
            if hits:
                places = ", ".join(f"{path}:{line}" for path, line in hits)
                yield f"`{name}` is defined at {places}"
        if self.likely and not any(self.defined.values()):
            yield "Most likely files by their words, best first:"
            yield from (f"- {path}" for path in self.likely[:_LIKELY_TOLD])
        own = {name: uses for name, uses in self.uses.items() if self.defined.get(name)}
        rare_first = sorted((own or self.uses).items(), key=lambda pair: len(pair[1]))
        hidden = [{use for use in uses if not _is_shown(use, shown)} for _, uses in rare_first]
        few = {use: None for uses in hidden if len(uses) <= _USES_OF_A_NAME for use in sorted(uses)}
        listed_uses = sorted(few, key=self._place_of)[:_USES_TOLD]
        cut: list[str] = []
        for (name, uses), unseen in zip(rare_first, hidden, strict=True):
            if not unseen <= {*listed_uses}:
                files = several(len({path for path, *_ in uses}), "file")
                cut.append(f"`{as_searched(name)}` ({several(len(uses), 'line')} in {files})")
        if listed_uses:
            some = f"; search for the rest of {', '.join(cut)}" if cut else ""
            first = "Other" if cut else "All other"
            yield f"{first} lines that hold these names, but for changelogs{some}:"
        elif cut:
            yield f"Too many lines to be shown hold these names; search for {', '.join(cut)}."
        yield from (f"- {path}:{line}: {text.strip()[:_LINE]}" for path, line, text in listed_uses)

    def _place_of(self, use: Use) -> tuple[bool, bool, bool]:
        """Return the place of a line: definitions first, then code, pages and tests."""
        defines = any(use[:2] in hits for hits in self.defined.values())
        return not defines, belongs_to_tests(use[0]), is_prose(use[0])


def _is_shown(use: Use, shown: Mapping[str, Sequence[tuple[int, int]]]) -> bool:
    return any(first <= use[1] <= last for first, last in shown.get(use[0], ()))


@lru_cache(maxsize=8)
def listed(repository: Repository, commit: str) -> tuple[str, ...]:
    """Return the files of a commit, without the records of runs."""
    files = repository.list_files(commit)
    return tuple(name for name in files if not name.startswith(f"{SPECS}/"))


def subject(request: str) -> list[str]:
    """Return the search words of a request; those of its title, which sums it up, count twice."""
    return words(request.partition("\n")[0]) + words(request)


def index_at(repository: Repository, commit: str, about: Sequence[str]) -> CodeIndex:
    """Return the text files of a commit, ready to be searched. Of a large repository only those
    that hold most words of the task are read.
    """
    text_files = [path for path in listed(repository, commit) if _is_read(path)]
    many = len(text_files) > _MOST_READ
    return _index(repository, repository.commit_id(commit), frozenset(about if many else ()))


def _is_read(path: str) -> bool:
    return path.endswith(_PROSE_READ) or stack_for(path) is not None


@lru_cache(maxsize=4)
def _index(repository: Repository, commit: str, about: frozenset[str]) -> CodeIndex:
    files = [path for path in listed(repository, commit) if _is_read(path)]
    if about:
        asked = sorted(about, key=lambda word: (-len(word), word))[:_WORDS_SEARCHED]
        counts = Counter(holding(repository.root, commit, asked))
        counts.update({path: len(about & {*words(path)}) for path in files})
        files = sorted(files, key=lambda path: (-counts[path], path))[:_MOST_READ]
    sizes = repository.sizes(commit, files)
    small = [path for path in files if 0 < sizes.get(path, 0) <= _LARGEST_READ]
    raw = sorted(repository.read_many(commit, small).items())
    texts = {path: data.decode("utf-8", "replace") for path, data in raw if b"\0" not in data}
    return CodeIndex(texts)


@lru_cache(maxsize=4)
def looked_up(repository: Repository, base: str, request: str) -> RequestLookup:
    title, _, text = request.partition("\n")
    index = index_at(repository, base, words(request))
    names = request_names(title, text)[:_MOST_NAMES]
    defined = places_defined(index, names)
    telling = [
        name
        for name in names
        if defined.get(name) or (name in defined and not hasattr(builtins, name))
    ]
    uses = _uses(repository, base, telling)
    uses = {
        name: hits
        for name, hits in uses.items()
        if defined[name] or 0 < len(hits) <= _COMMON_UNDEFINED
    }
    likely = index.best(subject(request), 10)
    return RequestLookup(
        {name: defined[name] for name in telling},
        uses,
        likely,
        _Choice(repository, base, request, index).paths(uses, likely),
    )


def places_defined(index: CodeIndex, names: Sequence[str]) -> dict[str, Sequence[tuple[str, int]]]:
    """Return the places where names are defined. A name with many definitions is left out: it
    identifies no place, unless few of them are in the code. A name of Python's library, such as
    `pathlib.Path`, is defined only by a module of that name.
    """
    places: dict[str, Sequence[tuple[str, int]]] = {}
    for name in names:
        hits = index.definitions(name)
        if as_searched(name) != last_part(name):
            module = name.partition(".")[0]
            hits = [hit for hit in hits if module in PurePosixPath(hit[0]).with_suffix("").parts]
        own = [hit for hit in hits if not belongs_to_tests(hit[0])]
        if hits and not own and name.isalpha() and name[1:].islower():
            continue
        hits = own if len(hits) > _MOST_PLACES else hits
        if len(hits) <= _MOST_PLACES:
            places[name] = hits
    return places


def _uses(repository: Repository, base: str, names: Sequence[str]) -> dict[str, list[Use]]:
    """Return the lines outside changelogs that hold each name, code first."""
    searched = {as_searched(name): name for name in reversed(names)}
    files = {path for path in listed(repository, base) if not tells_of_changes(path)}
    held: dict[str, list[Use]] = {name: [] for name in names if name in searched.values()}
    patterns = {name: only_hands_on(name)[0] for name in searched}
    for path, number, line in lines_with(repository.root, base, tuple(searched)):
        for name in searched if path in files else ():
            if patterns[name].search(line):
                held[searched[name]].append((path, number, line))
    return {name: sorted(uses, key=lambda use: is_prose(use[0])) for name, uses in held.items()}


class _Choice(NamedTuple):
    """The choice of the files to show for a request."""

    repository: Repository
    base: str
    request: str
    code: CodeIndex

    def paths(self, uses: Mapping[str, Sequence[Use]], likely: Sequence[str]) -> list[str]:
        """Return the files that the request names first, then code, tests and pages."""
        files = listed(self.repository, self.base)
        written = mentions(self.request).paths
        named = [path for place in written for path in resolve(place, files)[:1]]
        holding_names = best_first(held := self._find_by_names(uses))
        code = [*dict.fromkeys((*named, *self._likely_code(held)))]
        wanted = dict.fromkeys(code[: max(_CODE_SHOWN, len({*named}))])
        wanted.update(dict.fromkeys(self._tests(tuple(wanted), holding_names, likely, uses)))
        pages = [path for path in holding_names if is_prose(path)]
        wanted.update(dict.fromkeys(pages[:1]))
        shown = [path for path in wanted if path in named or not tells_of_changes(path)]
        return sorted(shown, key=lambda path: 0 if path in named else _kind(path))

    def _likely_code(self, held: Mapping[str, float]) -> list[str]:
        """Return the files of code, the most likely first, by their words and names together."""
        scores = Counter(self.code.shares(subject(self.request)))
        scores.update({path: _NAMED * n for path, n in held.items() if path in self.code.texts})
        least = max(scores.values(), default=0) / _LEAST_OF_BEST
        likely = [path for path in best_first(scores) if scores[path] >= least]
        return [path for path in likely if not is_beside_code(path)]

    def _find_by_names(self, uses: Mapping[str, Sequence[Use]]) -> dict[str, float]:
        """Return the files that use the names, with what these count for them. A name in few files
        counts most, and more where it is defined; so does a definition whose name contains it, such
        as its test.
        """
        scores: dict[str, float] = defaultdict(float)
        for name, hits in uses.items():
            weak = only_hands_on(as_searched(name))[1]
            paths = Counter(path for path, _, line in hits if not weak.match(line))
            for path, times in paths.items() if len(hits) <= _COMMON else ():
                scores[path] += (1 + min(times, 9) / 10) / len(paths)
            for path, times in Counter(self.code.defined_alike(as_searched(name))).items():
                scores[path] += min(times, 4) / 4
            own = {path for path, _ in self.code.definitions(name)}
            scores.update({path: scores[path] + 1 / len(own) for path in own})
        least = max(scores.values(), default=0) / _LEAST_OF_BEST
        return {path: n for path, n in scores.items() if n >= least}

    def _tests(
        self,
        wanted: Sequence[str],
        holding_names: Sequence[str],
        likely: Sequence[str],
        uses: Mapping[str, Sequence[Use]],
    ) -> list[str]:
        """Return the file of tests named after a wanted name or file, else the one that uses the
        names most, else the most likely one.
        """
        stems = [last_part(name) for name in uses]
        stems += [_stem(path).strip("_") for path in wanted if not is_beside_code(path)]
        after = {
            _find_tested_stem(path): path
            for path in reversed(self.code.paths)
            if belongs_to_tests(path)
        }
        named = [after[name] for name in stems if name in after]
        using = [path for path in holding_names if belongs_to_tests(path)]
        both = [path for path in named if path in using]
        return (both or using or named or [path for path in likely if belongs_to_tests(path)])[:1]


def _kind(path: str) -> int:
    """Return the place of a kind of file: code, tests, pages."""
    return 2 if is_prose(path) else int(belongs_to_tests(path))


_TEST_AFFIX = re.compile(r"^test_|[_.](?:test|spec)$")


def _stem(path: str) -> str:
    """Return the name by which a file is imported."""
    name = splitext(basename(path))[0]
    return basename(dirname(path)) if name in {"__init__", "index", "mod"} else name


def _find_tested_stem(path: str) -> str:
    """Return the name of a file without what makes it one of tests."""
    return _TEST_AFFIX.sub("", _stem(path))
