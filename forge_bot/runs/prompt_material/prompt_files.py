"""Choose the files that a prompt shows: what the request, the analysis and the design name."""

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from forge_bot.artifacts.test_paths import belongs_to_tests
from forge_bot.git import Repository
from forge_bot.git.commit_history import files_of_newest
from forge_bot.knowledge.code_index import Span, is_prose
from forge_bot.knowledge.excerpts import FileFocus, excerpt
from forge_bot.knowledge.house_rules import HouseRule, house_rules, newest_entries, tells_of_changes
from forge_bot.knowledge.mentions import Mentions, leading_paths, mentions, resolve
from forge_bot.knowledge.search_index import words
from forge_bot.project.file_list import Listing
from forge_bot.prompts.material import InputFile
from forge_bot.runs.prompt_material.request_lookup import (
    index_at,
    listed,
    looked_up,
    places_defined,
    subject,
)

_FOR_FIRST = 10_000
"""Characters of the file that a request is most likely about: an agent would read the rest of a
short one anyway.
"""


class _Room(NamedTuple):
    """The limits in characters of the files in a part of a prompt: for all of them, and for one.
    `head` shows the beginning of each too.
    """

    all: int
    per_file: int
    head: bool = True


_FOR_REQUEST = _Room(20_000, 20_000)
"""Behind the request, in every prompt."""

_FOR_ANALYSIS = _Room(20_000, 4_000, head=False)
"""Behind the analysis, in every later prompt: it says which places of a file matter."""

_FOR_TASK = _Room(20_000, 4_200)
"""For an implementer beyond these."""

_LEAST = 3_000
_FEW_LINES = 30
_LIKELY_FOR_TASK = 5
_CODE_FOR_REQUEST = 600
_TESTS_FOR_REQUEST = 1_500
"""Characters of each further file behind the request: enough to see how its tests are written."""

_PROSE_FOR_REQUEST = 200
_PROSE = 3_500
_NEWEST = 1_600
"""Characters of a changelog that the rules of the repository do not show."""

_MOST_BYTES = 20_000_000
_COMMITS, _LEAST_COMMITS = 200, 20
"""Newest commits that show a project's habit, and how few of them with tests show none."""


class PromptFiles:
    """The files of one prompt. What it has shown once, it does not show again."""

    def __init__(self, repository: Repository, base: str, request: str) -> None:
        self.repository = repository
        self.base = base
        self.request = request
        self._files = listed(repository, base)
        self._shown: dict[str, tuple[Span, ...]] = {}
        self._changelogs = set[str]()
        self._about: list[str] = subject(request)

    def looked_up(self) -> list[InputFile]:
        """Return the findings of our own look-ups for the request, before the first call.

        They are the same for every agent of the run: the files, names and places of tracebacks in
        the request, and the most likely files.
        """
        looked = looked_up(self.repository, self.base, self.request)
        meant = mentions(self.request)
        meant = meant._replace(names=looked.names)
        shown = self._show(self.base, looked.paths, meant, _FOR_REQUEST, search=True)
        findings = "\n".join(looked.told(self._shown))
        name = "looked up by our process before the first call"
        return [*([InputFile(name=name, text=findings, kind="output")] if findings else []), *shown]

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

    def named_in(self, document: str, *, shown_too: bool = True) -> list[InputFile]:
        """Return the files that a document names, in its order, as they were at the base; behind
        them the lines that it cites of files that need not change. Without `shown_too`, more of a
        file that is shown stands there only where the document cites its lines.

        The newest entries of a changelog stand with the rules of the repository.
        """
        meant = mentions(document)
        spared = {path for place in meant.read for path in resolve(place.path, self._files)[:1]}
        meant = meant._replace(places=(*meant.places, *meant.read))
        self._about += words(document)
        ruled = {rule.path for rule in _house_rules(self.repository, self.base)}
        paths = self._meant(document, meant)
        known = ruled if shown_too else ruled | self._shown.keys()
        named = [path for path in paths if path not in known or self._cite_lines(path, meant)]
        return self._show(self.base, named, meant, _FOR_ANALYSIS, spared=spared)

    def for_task(
        self, now: str, declared: Sequence[str], texts: Iterable[str], also: Sequence[str] = ()
    ) -> list[InputFile]:
        """Return the present files that an implementer needs: those of its task, those that the
        documents name, and `also`.

        If nothing names a file, they are the files that define the named code, else the most likely
        ones.
        """
        self._files = files = listed(self.repository, now)
        wanted = dict.fromkeys(path for path in declared if path in files)
        meant, edited = Mentions(), list(declared)
        for text in texts:
            named = mentions(text)
            edited += [] if declared else self._find_leading_files(text)
            self._about += words(text)
            wanted.update(dict.fromkeys(self._meant(text, named)))
            meant = Mentions((*meant.places, *named.places), (*meant.names, *named.names))
        wanted.update(dict.fromkeys(path for path in also if path in files))
        meant = meant._replace(names=tuple(dict.fromkeys(meant.names)))
        if not wanted:
            index = index_at(self.repository, now, self._about)
            places = places_defined(index, meant.names)
            wanted.update(dict.fromkeys(path for hits in places.values() for path, _ in hits))
            likely = [path for path in index.best(self._about, 20) if not is_prose(path)]
            wanted.update(dict.fromkeys(() if wanted else likely[:_LIKELY_FOR_TASK]))
        return self._show(now, tuple(wanted), meant, _FOR_TASK, edited=edited)

    def _meant(self, document: str, named: Mentions) -> list[str]:
        """Return the files that a document names; pages only where a bullet begins with them."""
        led = self._find_leading_files(document)
        paths = [path for place in named.paths for path in resolve(place, self._files)[:1]]
        return [path for path in paths if path in led or not is_prose(path)]

    def _find_leading_files(self, document: str) -> list[str]:
        """Return the files that bullets of a document begin with."""
        return [path for name in leading_paths(document) for path in resolve(name, self._files)[:1]]

    def _show(
        self,
        commit: str,
        paths: Sequence[str],
        meant: Mentions,
        room: _Room,
        *,
        search: bool = False,
        edited: Collection[str] = (),
        spared: Collection[str] = (),
    ) -> list[InputFile]:
        """Return the files, each with its share of the room: a small one leaves the rest more. If
        it is known which are edited, only these are shown with their imports. Of `spared` files,
        which need not change, only what is cited is shown.
        """
        paths = tuple(dict.fromkeys(paths))
        changed = self._find_changed(commit, paths)
        sizes = self.repository.sizes(commit, paths)
        readable = [path for path in paths if sizes.get(path, 0) <= _MOST_BYTES]
        raw = self.repository.read_many(commit, readable)
        left = [f"`{path}`: {sizes[path]:,} bytes" for path in paths if path not in raw]
        shown: list[InputFile] = []
        unused = room.all
        for place, path in enumerate(readable):
            if why := _unreadable(raw[path]):
                left.append(f"`{path}`: {why}")
                continue
            if path in changed:
                self._shown.pop(path, None)
            text = raw[path].decode("utf-8", "replace")
            wanted = self._focus(path, meant, edited=edited, spared=spared)
            if search:
                wanted = wanted._replace(search=True, first=not place, named_only=path in spared)
            wanted = wanted._replace(head=room.head and wanted.head)
            share = max(_LEAST, unused // (len(readable) - place))
            share = min(unused, _most_of(path, min(share, room.per_file), wanted))
            part = self._part(path, text, wanted, share, now=path in changed)
            if part is not None:
                shown.append(part)
                unused -= len(part.text)
            elif path not in self._shown:
                left.append(f"`{path}`: {len(text):,} characters")
        if left:
            text = "\n".join(("Named, and not shown here; ask for what you need of them:", *left))
            shown.append(InputFile(name="files that are not shown", text=text, kind="output"))
        return shown

    def _focus(
        self,
        path: str,
        meant: Mentions,
        *,
        edited: Collection[str],
        spared: Collection[str],
    ) -> FileFocus:
        """Return what matters of a file. Of one that is shown already, more is wanted only where
        something is named.
        """
        cited = self._cite_lines(path, meant)
        # Of tests, and of code that is not the most likely, only a few lines stand there so far.
        lines = sum(last - first for first, last in self._shown.get(path, ()))
        known = lines > _FEW_LINES and not belongs_to_tests(path)
        return FileFocus(
            cited,
            () if path in spared else meant.names,
            tuple(self._about),
            named_only=(known and bool(cited or meant.names)) or path in spared,
            head=not edited or path in edited,
            tail=path in edited and belongs_to_tests(path),
        )

    def _part(
        self, path: str, text: str, wanted: FileFocus, room: int, *, now: bool
    ) -> InputFile | None:
        """Return what is shown of a file; of a changelog its newest entries."""
        as_shown = f"{path}, as it is now" if now else path
        if tells_of_changes(path) and not (wanted.search or wanted.lines):
            if path in self._changelogs and not now:
                self._shown.setdefault(path, ())
                return None
            rule = newest_entries(path, text, min(room, _NEWEST))
            self._changelogs.add(path)
            part = ", ".join(filter(None, (as_shown, rule.part)))
            return InputFile(name=path, text=rule.text, kind="file", shown_as=part)
        before = self._shown.get(path, ())
        part = excerpt(path, text, wanted, room, without=before)
        if not part.text:
            return None
        if part.spans:
            self._shown[path] = (*before, *part.spans)
        as_shown = ", ".join(filter(None, (as_shown, part.part)))
        return InputFile(
            name=path, text=part.text, kind="file", shown_as="" if as_shown == path else as_shown
        )

    def _cite_lines(self, path: str, meant: Mentions) -> tuple[Span, ...]:
        return tuple(
            span
            for place in meant.places
            if place.lines and path in resolve(place.path, self._files)[:1]
            for span in place.lines
        )

    def _find_changed(self, commit: str, paths: Sequence[str]) -> set[str]:
        """Return the files that have changed since the base."""
        if commit == self.base:
            return set()
        before = self.repository.objects(self.base, paths)
        after = self.repository.objects(commit, paths)
        return {path for path in paths if before.get(path) and before[path] != after.get(path)}


def _unreadable(raw: bytes) -> str:
    """Return why a file is not shown; empty if it is a text."""
    if b"\0" in raw[:8_000]:
        return "not a text file"
    return "" if raw.strip() else "empty"


def _most_of(path: str, share: int, wanted: FileFocus) -> int:
    """Return the characters for a file: pages, and further files of a request, get less."""
    if is_prose(path):
        return min(share, _PROSE_FOR_REQUEST if wanted.search else _PROSE)
    if wanted.first:
        return _FOR_FIRST
    if wanted.search:
        return min(share, _TESTS_FOR_REQUEST if belongs_to_tests(path) else _CODE_FOR_REQUEST)
    return share


@lru_cache(maxsize=8)
def _house_rules(repository: Repository, commit: str) -> tuple[HouseRule, ...]:
    def read(path: str) -> str | None:
        raw = repository.read(commit, path)
        return raw.decode("utf-8", "replace") if raw is not None and b"\0" not in raw else None

    rules = house_rules(Listing(listed(repository, commit), read))
    return tuple(_tell_habit(repository, commit, rule) for rule in rules)


def _tell_habit(repository: Repository, commit: str, rule: HouseRule) -> HouseRule:
    """Return the rule; of a changelog whose newest section is released also how many commits with
    tests change it: many projects write all entries at a release.
    """
    if not rule.is_released:
        return rule
    newest = files_of_newest(repository.root, commit, _COMMITS)
    tested = [files for files in newest if any(map(belongs_to_tests, files))]
    changes = sum(rule.path in files for files in tested)
    at_release = "; entries are written at a release" if changes * 10 < len(tested) else ""
    habit = f"{at_release}; of the last {len(tested)} commits with tests {changes} changed it"
    return rule.replace(part=rule.part + habit) if len(tested) >= _LEAST_COMMITS else rule
