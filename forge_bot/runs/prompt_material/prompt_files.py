"""Choose the files that a prompt shows: what the request, the analysis and the design name."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from typing import NamedTuple

from forge_bot.artifacts.test_paths import belongs_to_tests
from forge_bot.git import Repository
from forge_bot.knowledge.changelogs import newest_entries, tells_of_changes
from forge_bot.knowledge.code_blocks import defines
from forge_bot.knowledge.excerpts import excerpt, special_methods
from forge_bot.knowledge.house_rules import house_rules
from forge_bot.knowledge.likely_files import is_prose
from forge_bot.knowledge.line_spans import Span
from forge_bot.knowledge.mentions import Mentions, leading_paths, mentions, resolve
from forge_bot.knowledge.text_sections import HouseRule
from forge_bot.knowledge.wanted_places import WantedPlaces
from forge_bot.project.file_list import Listing
from forge_bot.project.search_words import words
from forge_bot.prompts.material import InputFile
from forge_bot.runs.prompt_material.ranked_files import likely_files, listed
from forge_bot.runs.prompt_material.request_lookup import looked_up, places_defined

_FOR_FIRST = 10_000
"""Characters of the file that a request is most likely about."""


class _Room(NamedTuple):
    """The limits in characters of the files in a part of a prompt: for all of them, for one, and
    for one that is shown in excerpts. `head` shows the beginning of each too.
    """

    all: int
    each: int
    again: int
    head: bool = True


_FOR_REQUEST = _Room(20_000, 20_000, 20_000)
"""Behind the request, in every prompt."""

_FOR_ANALYSIS = _Room(20_000, 4_000, 4_000, head=False)
"""Behind the analysis, in every later prompt: it says which places of a file matter."""

_FOR_TASK = _Room(24_000, 5_000, 5_000)
"""For an implementer beyond these."""

_LEAST = 3_000
_LIKELY_FOR_TASK = 6
_PROSE_FOR_REQUEST = 1_600
_TESTS_FOR_REQUEST = 2_800
"""Characters of a test file behind the request: enough to see how its tests are written."""

_PROSE = 3_500
"""Characters of a page or changelog: its beginning, and the parts with searched names."""

_MOST_BYTES = 20_000_000


class PromptFiles:
    """The files of one prompt. What it has shown once, it does not show again."""

    def __init__(self, repository: Repository, base: str, request: str) -> None:
        self.repository = repository
        self.base = base
        self.request = request
        self._files = listed(repository, base)
        self._shown: dict[str, tuple[Span, ...]] = {}
        self._changelogs = set[str]()
        self._about: list[str] = words(request)
        self._special = special_methods(request, self._about)
        self._called: tuple[str, ...] = ()

    def looked_up(self) -> list[InputFile]:
        """Return the findings of our own look-ups for the request, before the first call.

        They are the same for every agent of the run: the files, names and places of tracebacks in
        the request, and the most likely files.
        """
        found = mentions(self.request)
        looked = looked_up(self.repository, self.base, self.request)
        named = found._replace(names=looked.telling)
        self._called = looked.called
        shown = self._show(self.base, looked.paths, named, _FOR_REQUEST, search=True)
        ruled = (rule.path for rule in _house_rules(self.repository, self.base))
        said = "\n".join(looked.said(self._shown, changelog=any(map(tells_of_changes, ruled))))
        if not said:
            return shown
        told = InputFile(
            name="looked up by our process before the first call", text=said, kind="output"
        )
        return [told, *shown]

    def house_rules(self) -> list[InputFile]:
        """Return the repository's own rules for changes, as they were at the base: the same for
        every agent of the run.
        """
        rules = [
            rule
            for rule in _house_rules(self.repository, self.base)
            if rule.path not in self._shown
        ]
        self._changelogs = {rule.path for rule in rules if tells_of_changes(rule.path)}
        return [
            InputFile(
                name=rule.path,
                text=rule.text,
                # A folder is nothing that an agent can read by itself.
                kind="output" if rule.path.endswith("/") else "file",
                shown_as=f"{rule.path}, {rule.part}" if rule.part else "",
            )
            for rule in rules
        ]

    def named_in(self, document: str) -> list[InputFile]:
        """Return the files that a document names, in its order, as they were at the base; behind
        them the lines that it cites of files that need not change.

        The newest entries of a changelog stand with the rules of the repository.
        """
        found = mentions(document)
        found = found._replace(places=(*found.places, *found.read))
        self._about += words(document)
        at_lines = {
            path
            for place in found.places
            if place.lines
            for path in resolve(place.path, self._files)[:1]
        }
        meant = self._meant(document, found)
        ruled = {rule.path for rule in _house_rules(self.repository, self.base)}
        named = [path for path in meant if path in at_lines or path not in ruled]
        return self._show(self.base, named, found, _FOR_ANALYSIS)

    def for_task(
        self, now: str, declared: Sequence[str], texts: Iterable[str], also: Sequence[str] = ()
    ) -> list[InputFile]:
        """Return the present files that an implementer needs: those of its task, those that the
        documents name, and `also`.

        If nothing names a file, they are the files that define the named code, else the most likely
        ones.
        """
        read = [*texts]
        named_there = [mentions(text) for text in read]
        self._about += [word for text in read for word in words(text)]
        places = tuple(place for found in named_there for place in found.places)
        own = dict.fromkeys(name for found in named_there for name in found.names)
        everything = Mentions(places, tuple(own))
        files = listed(self.repository, now)
        self._files = files
        wanted = dict.fromkeys(path for path in declared if path in files)
        for text, found in zip(read, named_there, strict=True):
            wanted.update(dict.fromkeys(self._meant(text, found)))
        wanted.update(dict.fromkeys(path for path in also if path in files))
        if not wanted and (ranked := likely_files(self.repository, now, tuple(self._about))):
            places_of = places_defined(ranked, everything.names)
            wanted.update(dict.fromkeys(path for hits in places_of.values() for path, _ in hits))
            likely = () if wanted else ranked.best(self._about, _LIKELY_FOR_TASK)
            wanted.update(dict.fromkeys(likely))
        return self._show(now, tuple(wanted), everything, _FOR_TASK, edited=declared)

    def _meant(self, document: str, found: Mentions) -> list[str]:
        """Return the files that a document names; pages only where a bullet begins with them."""
        led = {path for name in leading_paths(document) for path in resolve(name, self._files)[:1]}
        return [path for path in self._resolved(found) if path in led or not is_prose(path)]

    def _resolved(self, found: Mentions) -> list[str]:
        return [path for place in found.paths for path in resolve(place, self._files)[:1]]

    def _show(
        self,
        commit: str,
        paths: Sequence[str],
        found: Mentions,
        limits: _Room,
        *,
        search: bool = False,
        edited: Collection[str] = (),
    ) -> list[InputFile]:
        """Return the files, each with its share of the room: a small one leaves the rest more. If
        it is known which are edited, only these are shown with their imports.
        """
        room = limits.all
        changed = self._changed(commit, paths)
        sizes = self.repository.sizes(commit, paths)
        readable = [path for path in paths if sizes.get(path, 0) <= _MOST_BYTES]
        raw = self.repository.read_many(commit, readable)
        shown: list[InputFile] = []
        left = [f"`{path}`: {sizes[path]:,} bytes" for path in paths if path not in raw]
        waiting = [path for path in dict.fromkeys(paths) if path in raw]
        for place, path in enumerate(waiting):
            if why := _unreadable(raw[path]):
                left.append(f"`{path}`: {why}")
                continue
            if path in changed:
                self._shown.pop(path, None)
            first = search and not place
            later = [sizes[each] for each in waiting[place:]]
            share = self._share_for(path, limits, room, later, search=search, first=first)
            text = raw[path].decode("utf-8", "replace")
            made = self._shown_part(
                path,
                text,
                found,
                share,
                now=path in changed,
                search=search,
                first=first,
                head=limits.head and (not edited or path in edited),
                tail=path in edited and belongs_to_tests(path),
            )
            if made is not None:
                shown.append(made)
                room -= len(made.text)
            elif path not in self._shown:
                left.append(f"`{path}`: {len(text):,} characters")
        return [*shown, *_left_out(left)]

    def _share_for(
        self,
        path: str,
        limits: _Room,
        room: int,
        sizes: Sequence[int],
        *,
        search: bool,
        first: bool,
    ) -> int:
        """Return the characters for a file, the first of some with these sizes."""
        if first:
            share = _FOR_FIRST
        else:
            share = _share(room, sizes) if search else max(_LEAST, room // len(sizes))
            share = min(share, limits.again if path in self._shown else limits.each)
        return min(room, _most_of_kind(path, share, search=search, first=first))

    def _shown_part(
        self,
        path: str,
        text: str,
        found: Mentions,
        room: int,
        *,
        now: bool,
        search: bool,
        first: bool,
        head: bool,
        tail: bool,
    ) -> InputFile | None:
        lines = self._cited_lines(path, found)
        newest = tells_of_changes(path) and not (search or lines)
        if newest and not now and path in self._changelogs:
            self._shown.setdefault(path, ())
            return None
        if newest and (rule := newest_entries(path, text, room)) is not None:
            return self._named(path, rule.text, rule.part, now=now)
        before = self._shown.get(path, ())
        wanted = WantedPlaces(
            lines,
            _names_meant(path, text, found),
            tuple(self._about),
            search,
            is_prose(path),
            first,
            special=self._special if search else (),
            called=self._called if search else (),
            head=head,
            tail=tail,
            # Of a file that is shown already, more is wanted only where something of it is named.
            named_only=bool(before and not search and (lines or found.names)),
        )
        part = excerpt(text, wanted, room, without=before)
        if not part.spans:
            return None
        self._shown[path] = (*before, *part.spans)
        return self._named(path, part.text, "" if part.whole else part.said, now=now)

    def _cited_lines(self, path: str, found: Mentions) -> tuple[Span, ...]:
        return tuple(
            span
            for place in found.places
            if path in resolve(place.path, self._files)[:1]
            for span in place.lines
        )

    def _named(self, path: str, text: str, part: str, *, now: bool) -> InputFile:
        said = [path, *(["as it is now"] if now else []), *filter(None, (part,))]
        return InputFile(
            name=path, text=text, kind="file", shown_as=", ".join(said) if said[1:] else ""
        )

    def _changed(self, commit: str, paths: Sequence[str]) -> set[str]:
        """Return the files that have changed since the base."""
        if commit == self.base:
            return set()
        before = self.repository.objects(self.base, paths)
        after = self.repository.objects(commit, paths)
        return {path for path in paths if before.get(path) and before[path] != after.get(path)}


def _names_meant(path: str, text: str, found: Mentions) -> tuple[str, ...]:
    """Return the names that may mean something in a file. A module that is named as
    `tests.test_app` means the file, unless something in it has the same name.
    """
    stem = PurePosixPath(path).stem
    return tuple(name for name in found.names if name != stem or defines(text, stem))


def _unreadable(raw: bytes) -> str:
    """Return why a file is not shown; empty if it is a text."""
    if b"\0" in raw[:8_000]:
        return "not a text file"
    return "" if raw.strip() else "empty"


def _most_of_kind(path: str, share: int, *, search: bool, first: bool) -> int:
    """Return the characters for a file: pages, and tests behind a request, get less."""
    if is_prose(path):
        return min(share, _PROSE_FOR_REQUEST if search else _PROSE)
    if search and not first and belongs_to_tests(path):
        return min(share, _TESTS_FOR_REQUEST)
    return share


def _share(room: int, sizes: Sequence[int]) -> int:
    """Return the characters for the first of some files: small ones after it need their own size,
    the others as much as it.
    """
    small = [size for size in sizes[1:] if size <= _LEAST]
    return max(_LEAST, (room - sum(small)) // (len(sizes) - len(small)))


def _left_out(left: Sequence[str]) -> Iterator[InputFile]:
    if left:
        text = "\n".join(("Named, and not shown here; ask for what you need of them:", *left))
        yield InputFile(name="files that are not shown", text=text, kind="output")


@lru_cache(maxsize=8)
def _house_rules(repository: Repository, commit: str) -> tuple[HouseRule, ...]:
    def read(path: str) -> str | None:
        raw = repository.read(commit, path)
        return raw.decode("utf-8", "replace") if raw is not None and b"\0" not in raw else None

    return house_rules(Listing(listed(repository, commit), read))
