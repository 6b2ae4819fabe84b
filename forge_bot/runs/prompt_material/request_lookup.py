"""Look up what a request speaks of, before the first call: definitions, uses and likely files."""

import builtins
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from typing import NamedTuple

from pydantic import TypeAdapter

from forge_bot.artifacts.test_paths import belongs_to_tests
from forge_bot.git import Repository
from forge_bot.git.commit_history import lines_with, recent_changes
from forge_bot.knowledge.calls_in_file import names_called
from forge_bot.knowledge.changelogs import tells_of_changes
from forge_bot.knowledge.code_blocks import code_blocks, is_long
from forge_bot.knowledge.likely_files import LikelyFiles, is_beside_code, is_prose
from forge_bot.knowledge.mentions import (
    as_searched,
    last_part,
    mentions,
    request_names,
    resolve,
)
from forge_bot.knowledge.name_uses import lines_meaning
from forge_bot.project.languages import language_of
from forge_bot.project.search_words import words
from forge_bot.runs.prompt_material.files_to_show import (
    CODE_SHOWN,
    COMMON,
    PossibleFiles,
    Use,
    by_names,
    files_defining,
    kind_of_file,
    named_files,
)
from forge_bot.runs.prompt_material.ranked_files import NO_TEXT, likely_files, listed
from forge_bot.store.kept_files import KeptFile
from forge_bot.text_format import several

LIKELY_LISTED = 10
_LIKELY_TOLD = 6
_LIKELY_SHOWN = 1
_LIKELY_OR_NAMED = 2
_NAMES_LOOKED_UP = 12
_NAMES_SAID = 4
_TYPES_SAID = 1
_NAMES_CALLED = 6
_PLACES_OF_A_NAME = 3
_USES_OF_A_NAME = 16
_USES_OF_MANY = 8
_USES_LISTED = 32
_MOST_UNDEFINED = 40
"""Lines with a name that the repository defines nowhere: beyond these they tell nothing."""

_COMMITS_ASKED = 20
_LEAST_COMMITS = 5
_LINE = 100

_FEW_FILES = 40
_SMALL_FILE = 2_000
"""Bytes of a file that is shown of a repository with few files: to look it up would cost a call."""

_FORM = 26
"""The number of the way in which a request is looked up. It grows when that changes."""


class NameUses(NamedTuple):
    """The lines that hold a name outside changelogs, code first: how many in how many files, and
    the lines themselves, if they are not too many to tell anything.
    """

    held: int
    files: int
    lines: tuple[Use, ...]


class RequestLookup(NamedTuple):
    """The findings for a request: its names, where each is defined, the lines with each outside
    changelogs, the most likely files, and the files to show, the most important first.
    """

    names: tuple[str, ...]
    defined: Mapping[str, Sequence[tuple[str, int]]]
    uses: Mapping[str, NameUses]
    likely: tuple[str, ...]
    paths: tuple[str, ...]
    called: tuple[str, ...] = ()
    changelog_habit: str = ""

    @property
    def telling(self) -> tuple[str, ...]:
        """Return the names whose uses help: defined names, and undefined names in few lines.

        A parameter that many functions have is not one of them.
        """
        return tuple(
            name
            for name in self.names
            if self.defined.get(name) or self.uses[as_searched(name)].held <= _MOST_UNDEFINED
        )

    def said(
        self, shown: Mapping[str, Sequence[tuple[int, int]]], *, changelog: bool = False
    ) -> Iterator[str]:
        """Yield the lines of the findings for an agent, without lines that are shown anyway. What
        is told of the changelog counts if its entries are shown.
        """
        told_at = set[tuple[object, ...]]()
        for name in self.names:
            hits = self.defined.get(name, ())
            # `strutils.split` and `split` may be one place.
            place = (last_part(name), *hits)
            if hits and place not in told_at:
                told_at.add(place)
                said = ", ".join(f"{path}:{line}" for path, line in hits)
                yield f"`{name}` is defined at {said}"
        if self.likely:
            yield "Most likely files, by words, imports and what changed together, best first:"
            yield from (f"- {path}" for path in self.likely[:_LIKELY_TOLD])
        if changelog and self.changelog_habit:
            yield self.changelog_habit
        # Who else calls the standard library tells nothing of the request, and beside names that
        # are defined, nor do the uses of a parameter that many functions have.
        known = {as_searched(name) for name in self.names if self.defined.get(name)}
        own = {
            name: uses
            for name, uses in self.uses.items()
            if "." not in name and (name in known or not known or uses.held <= _USES_OF_MANY)
        }
        # The few lines of a rare name tell more than some of many.
        own = dict(sorted(own.items(), key=lambda use: use[1].held))
        listed = {use: None for uses in own.values() for use in _first_uses(uses.lines)}
        told = [use for use in listed if not _is_shown(use, shown)][:_USES_LISTED]
        cut = [
            f"`{name}` ({several(uses.held, 'line')} in {several(uses.files, 'file')})"
            for name, uses in own.items()
            if len(uses.lines) < uses.held
            or not all(use in told or _is_shown(use, shown) for use in uses.lines)
        ]
        if told or cut:
            some = f"; search for the rest of {', '.join(cut)}" if cut else ""
            yield (
                f"{'Other' if cut else 'All other'} lines that hold these names, but for changelogs"
                f"{some}:"
                if told
                else f"Too many lines to be shown hold these names; search for {', '.join(cut)}."
            )
            yield from (f"- {path}:{line}: {text}" for path, line, text in told)


def _is_shown(use: Use, shown: Mapping[str, Sequence[tuple[int, int]]]) -> bool:
    return any(first <= use[1] <= last for first, last in shown.get(use[0], ()))


@lru_cache(maxsize=4)
def looked_up(repository: Repository, base: str, request: str) -> RequestLookup:
    """Return the findings for a request at a commit. They are kept, because each command of a run
    needs them.
    """
    shallow = repository.common_dir / "shallow"
    # What changed together is read from the commits that are here.
    cut = shallow.read_text("ascii", "replace") if shallow.is_file() else ""
    made_from = json.dumps([_FORM, repository.commit_id(base), request, cut])
    file = KeptFile(repository.kept, "lookup", made_from, _LOOKUPS)
    found = file.read()
    if found is None:
        found = _looked_up(repository, base, request)
        file.write(found)
    return found


def _looked_up(repository: Repository, base: str, request: str) -> RequestLookup:
    files = listed(repository, base)
    ranked = likely_files(repository, base, tuple(words(request)))
    defined = places_defined(ranked, names := _names(request, ranked))
    telling = [
        name
        for name in names
        if defined.get(name) or (name in defined and not hasattr(builtins, name))
    ]
    uses = _uses(repository, base, telling)
    best = ranked.best(words(request), LIKELY_LISTED) if ranked else ()
    rare = {name: uses[as_searched(name)] for name in telling}
    rare = {name: hits for name, hits in rare.items() if defined[name] or _is_rare(hits)}
    own = {name: hits for name, hits in rare.items() if defined[name] or len(hits) <= _USES_OF_MANY}
    found = PossibleFiles(by_names(uses, ranked, [*rare], files), best, own, files)
    called = _called_elsewhere(repository, base, ranked, defined)
    return RequestLookup(
        tuple(telling),
        defined,
        {name: _name_uses(hits) for name, hits in uses.items()},
        best,
        tuple(_shown(repository, base, request, found, defined, [*called.values()])),
        tuple(called),
        _changelog_habit(repository, base, files),
    )


def _is_rare(hits: Sequence[Use]) -> bool:
    return len(hits) <= _MOST_UNDEFINED


def _shown(
    repository: Repository,
    base: str,
    request: str,
    found: PossibleFiles,
    defined: Mapping[str, Sequence[tuple[str, int]]],
    called: Sequence[str],
) -> list[str]:
    """Return the files to show, those that the request names first, then code, tests and pages.
    Behind them come those with what named code calls.
    """
    places = mentions(request).paths
    named = [path for place in places for path in resolve(place, found.files)[:1]]
    wanted = dict.fromkeys((*named, *files_defining(defined)))
    wanted.update(dict.fromkeys(named_files(found, tuple(wanted))))
    most = max(_LIKELY_SHOWN, _LIKELY_OR_NAMED - _code_in(wanted))
    wanted.update(dict.fromkeys(found.best[:most]))
    shown = [path for path in wanted if path in named or not tells_of_changes(path)]
    if len(found.files) <= _FEW_FILES:
        sizes = repository.sizes(base, found.best)
        small = [path for path in found.best if sizes.get(path, 0) <= _SMALL_FILE]
        shown += [path for path in small if language_of(path) and path not in shown]
    shown.sort(key=lambda path: 0 if path in named else kind_of_file(path))
    more = [path for path in dict.fromkeys(called) if path not in shown]
    return [*shown, *more[: max(0, CODE_SHOWN - _code_in(shown))]]


def _code_in(paths: Iterable[str]) -> int:
    return sum(kind_of_file(path) == 0 for path in paths)


def _names(request: str, ranked: LikelyFiles | None) -> tuple[str, ...]:
    """Return the names of a request, and those that its title says in words."""
    title, _, text = request.partition("\n")
    names = request_names(title, text)[:_NAMES_LOOKED_UP]
    if ranked:
        own = {last_part(name) for name in names}
        said = [name for name in ranked.said_in_words(title) if name not in own]
        names += tuple(said[:_NAMES_SAID])
        first = ranked.best(words(request), 1)
        names += ranked.types_said(title, first[0])[:_TYPES_SAID] if first else ()
    return tuple(dict.fromkeys(_in_own_package(name, ranked) for name in names))


def _changelog_habit(repository: Repository, base: str, files: Sequence[str]) -> str:
    """Return how many of the recent commits that changed code with tests changed the changelog too:
    some projects write it with each change, others at a release.
    """
    logs = sorted(
        (path for path in files if tells_of_changes(path)), key=lambda path: path.count("/")
    )
    commits = recent_changes(repository.root, repository.commit_id(base)) if logs else ()
    tested = [
        names
        for names in commits
        if any(map(belongs_to_tests, names))
        and any(language_of(path) and not is_beside_code(path) for path in names)
    ][:_COMMITS_ASKED]
    if len(tested) < _LEAST_COMMITS:
        return ""
    both = sum(logs[0] in names for names in tested)
    return (
        f"Of the last {len(tested)} commits that changed code with tests, {both or 'none'} changed"
        f" `{logs[0]}` too."
    )


def _called_elsewhere(
    repository: Repository,
    base: str,
    ranked: LikelyFiles | None,
    defined: Mapping[str, Sequence[tuple[str, int]]],
) -> dict[str, str]:
    """Return what the short definitions of the names call in other files of the code, each with its
    file, if one place alone defines it.
    """
    found: dict[str, str] = {}
    own = [
        hits[0] for hits in defined.values() if len(hits) == 1 and not is_beside_code(hits[0][0])
    ]
    texts = repository.read_many(base, [path for path, _ in own])
    for path, at in own if ranked else ():
        lines = texts[path].decode("utf-8", "replace").split("\n")
        spans = [(b.first, b.last) for b in code_blocks(lines) if b.at == at and not is_long(b)]
        for name in names_called(lines, spans):
            hits = [hit for hit, _ in ranked.definitions(name)] if ranked else []
            if len(hits) == 1 and hits[0] != path and not is_beside_code(hits[0]):
                found.setdefault(name, hits[0])
    return dict([*found.items()][:_NAMES_CALLED])


def _in_own_package(name: str, ranked: LikelyFiles | None) -> str:
    """Return a name without the package that defines it in Go, if Python's library has one of that
    name, such as `uuid`: within the package nothing says it.
    """
    hits = ranked.definitions(name) if ranked and as_searched(name) != last_part(name) else []
    return name.partition(".")[2] if any(path.endswith(".go") for path, _ in hits) else name


_LOOKUPS = TypeAdapter(RequestLookup)


def _uses(repository: Repository, base: str, names: Sequence[str]) -> dict[str, list[Use]]:
    """Return the lines that hold each name, code first."""
    searched = tuple(dict.fromkeys(as_searched(name) for name in names))
    files = set(listed(repository, base))
    by_path: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for path, number, line in _lines_with(repository, base, searched):
        if path in files:
            by_path[path].append((number, line))
    return {
        name: [
            (path, number, line)
            for path in sorted(by_path, key=is_prose)
            for number, line in lines_meaning(name, by_path[path], prose=is_prose(path))
        ]
        for name in searched
    }


def _name_uses(hits: Sequence[Use]) -> NameUses:
    outside = [use for use in hits if not tells_of_changes(use[0])]
    told = outside if len(outside) <= COMMON else ()
    lines = tuple((path, line, text.strip()[:_LINE]) for path, line, text in told)
    return NameUses(len(outside), len({path for path, *_ in outside}), lines)


def _first_uses(lines: Sequence[Use]) -> Sequence[Use]:
    """Return the lines to show for a name: all of a rare one."""
    return lines if len(lines) <= _USES_OF_A_NAME else lines[:_USES_OF_MANY]


def places_defined(
    ranked: LikelyFiles | None, names: Sequence[str]
) -> dict[str, list[tuple[str, int]]]:
    """Return the places where names are defined. A name with many definitions is left out, because
    it does not identify a place. If these are many only by those in tests, as of a method that
    an interface asks for, the others count. A plain word that only tests define is left out too: it
    is a value of an example, such as `Test`. A name of Python's library, such as `pathlib.Path`, is
    defined only by a module of that name.
    """
    found: dict[str, list[tuple[str, int]]] = {}
    for name in names if ranked else ():
        hits = ranked.definitions(name) if ranked else []
        if as_searched(name) != last_part(name):
            module = name.partition(".")[0]
            hits = [hit for hit in hits if module in PurePosixPath(hit[0]).with_suffix("").parts]
        own = [hit for hit in hits if not belongs_to_tests(hit[0])]
        if hits and not own and name.isalpha() and name[1:].islower():
            continue
        hits = own if len(hits) > _PLACES_OF_A_NAME else hits
        if len(hits) <= _PLACES_OF_A_NAME:
            found[name] = hits
    return found


@lru_cache(maxsize=8)
def _lines_with(repository: Repository, commit: str, names: tuple[str, ...]) -> tuple[Use, ...]:
    found = lines_with(repository.root, commit, names)
    return tuple(line for line in found if not NO_TEXT.search(line[0]))
