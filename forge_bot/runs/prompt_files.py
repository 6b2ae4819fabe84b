"""Choose the files that a prompt shows: what the request, the analysis and the design name."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from forge_bot.git import Repository
from forge_bot.git.file_history import changed_together, holding, lines_with
from forge_bot.knowledge.excerpts import Span, WantedPlaces, excerpt
from forge_bot.knowledge.house_rules import HouseRule, house_rules
from forge_bot.knowledge.likely_files import LikelyFiles, is_prose
from forge_bot.knowledge.mentions import Mentions, mentions, resolve
from forge_bot.project.file_list import Listing
from forge_bot.project.words import words
from forge_bot.prompts.material import InputFile
from forge_bot.store import SPECS

_FOR_REQUEST = 12_000
"""Characters of files that every prompt shows behind the request."""

_FOR_ANALYSIS = 24_000
"""Characters of files that every later prompt shows behind the analysis."""

_FOR_TASK = 36_000
"""Characters of files that an implementer sees beyond these."""

_LEAST = 3_000
_LIKELY_SHOWN = 3
_LIKELY_LISTED = 10
_LIKELY_FOR_TASK = 6
_NAMES_LOOKED_UP = 12
_PLACES_OF_A_NAME = 3
_COMMON = 80
_USES_OF_A_NAME = 16
_USES_LISTED = 32
_LINE = 100
_PROSE = 3_500
"""Characters of a page or changelog: its beginning and what is named of it."""

_RANKED_WHOLE = 1_500
_RANKED_OF_MANY = 400
_LARGEST_RANKED = 1_000_000
_WORDS_SEARCHED = 10
_MOST_BYTES = 20_000_000
_NO_TEXT = re.compile(
    r"\.(?:lock|svg|png|jpe?g|gif|ico|pdf|zip|gz|whl|woff2?|ttf|mo|po|map|snap|pyc|so|dll|exe|jar|bin"
    r"|parquet|sum|min\.js)$",
    re.IGNORECASE,
)
"""Endings of files that no task speaks of."""


class PromptFiles:
    """The files of one prompt. What it has shown once, it does not show again."""

    def __init__(self, repository: Repository, base: str, request: str) -> None:
        self.repository = repository
        self.base = base
        self.request = request
        self._files = _listed(repository, base)
        self._shown: dict[str, tuple[Span, ...]] = {}
        self._about: list[str] = words(request)

    def looked_up(self) -> list[InputFile]:
        """Return what our process looked up for the request before the first call.

        It is the same for every agent of the run: the files, names and places of tracebacks that
        the request has, and the files that are most likely about it.
        """
        found = mentions(self.request)
        ranked = _likely(self.repository, self.base, tuple(self._about))
        named_here = _defined(ranked, found.names)
        likely = ranked.best(self._about, _LIKELY_LISTED) if ranked else ()
        wanted = dict.fromkeys(self._resolved(found))
        wanted.update(dict.fromkeys(path for hits in named_here.values() for path, _ in hits))
        used = self._used([name for name in found.names if named_here.get(name)])
        wanted.update(dict.fromkeys(likely[:_LIKELY_SHOWN]))
        shown = self._show(self.base, tuple(wanted), found, _FOR_REQUEST, search=True)
        listed = [f"- {path}:{line}: {text.strip()[:_LINE]}" for path, line, text in used]
        said = "\n".join(_looked_up_lines(found.names, named_here, likely, listed))
        if not said:
            return shown
        told = InputFile(
            name="looked up by our process before the first call", text=said, kind="output"
        )
        return [told, *shown]

    def _used(self, names: Sequence[str]) -> list[tuple[str, int, str]]:
        """Return lines that hold the request's names, code first; a common name tells nothing."""
        listed: dict[tuple[str, int, str], None] = {}
        last = tuple(dict.fromkeys(re.split(r"\W+", name)[-1] for name in names))
        lines = _lines_with(self.repository, self.base, last)
        for name in last:
            word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
            hits = [line for line in lines if line[0] in self._files and word.search(line[2])]
            if len(hits) <= _COMMON:
                hits.sort(key=lambda hit: is_prose(hit[0]))
                listed.update(dict.fromkeys(hits[:_USES_OF_A_NAME]))
        return list(listed)[:_USES_LISTED]

    def house_rules(self) -> list[InputFile]:
        """Return what the repository says about changes, as it was at the base: the same for every
        agent of the run.
        """
        return [
            InputFile(
                name=rule.path,
                text=rule.text,
                # A folder is nothing that an agent can read by itself.
                kind="output" if rule.path.endswith("/") else "file",
                shown_as=f"{rule.path}, {rule.part}" if rule.part else "",
            )
            for rule in _house_rules(self.repository, self.base)
            if rule.path not in self._shown
        ]

    def named_in(self, document: str) -> list[InputFile]:
        """Return the files that a document names, in its order, as they were at the base."""
        found = mentions(document)
        self._about += words(document)
        return self._show(self.base, self._resolved(found), found, _FOR_ANALYSIS)

    def for_task(
        self, now: str, declared: Sequence[str], texts: Iterable[str], also: Sequence[str] = ()
    ) -> list[InputFile]:
        """Return the files that an implementer needs as they are now.

        They are those of its task, those that the documents name, and `also`; where nothing names
        a file, the most likely ones.
        """
        read = [*texts]
        named_there = [mentions(text) for text in read]
        self._about += [word for text in read for word in words(text)]
        places = tuple(place for found in named_there for place in found.places)
        own = dict.fromkeys(name for found in named_there for name in found.names)
        everything = Mentions(places, tuple(own))
        files = _listed(self.repository, now)
        self._files = files
        wanted = dict.fromkeys(path for path in declared if path in files)
        wanted.update(
            dict.fromkeys(path for found in named_there for path in self._resolved(found))
        )
        wanted.update(dict.fromkeys(path for path in also if path in files))
        if not wanted and (ranked := _likely(self.repository, now, tuple(self._about))):
            wanted.update(dict.fromkeys(ranked.best(self._about, _LIKELY_FOR_TASK)))
        return self._show(now, tuple(wanted), everything, _FOR_TASK)

    def _resolved(self, found: Mentions) -> list[str]:
        return [path for place in found.paths for path in resolve(place, self._files)[:1]]

    def _show(
        self, commit: str, paths: Sequence[str], found: Mentions, room: int, *, search: bool = False
    ) -> list[InputFile]:
        """Return the files, each with its share of the room: a small one leaves the rest more."""
        changed = self._changed(commit, paths)
        sizes = self.repository.sizes(commit, paths)
        readable = [path for path in paths if sizes.get(path, 0) <= _MOST_BYTES]
        raw = self.repository.read_many(commit, readable)
        shown: list[InputFile] = []
        left = [f"`{path}`: {sizes[path]:,} bytes" for path in paths if path not in raw]
        waiting = [path for path in dict.fromkeys(paths) if path in raw]
        for place, path in enumerate(waiting):
            if b"\0" in raw[path][:8_000]:
                left.append(f"`{path}`: not a text file")
                continue
            if not raw[path].strip():
                left.append(f"`{path}`: empty")
                continue
            if path in changed:
                self._shown.pop(path, None)
            parts = 2 if search and not place else len(waiting) - place
            share = max(_LEAST, room // parts)
            if is_prose(path):
                share = min(share, _PROSE)
            text = raw[path].decode("utf-8", "replace")
            made = self._shown_part(
                path, text, found, min(share, room), now=path in changed, search=search
            )
            if made is not None:
                shown.append(made)
                room -= len(made.text)
            elif path not in self._shown:
                left.append(f"`{path}`: {len(text):,} characters")
        return [*shown, *_left_out(left)]

    def _shown_part(
        self, path: str, text: str, found: Mentions, room: int, *, now: bool, search: bool
    ) -> InputFile | None:
        lines = [
            span
            for place in found.places
            if path in resolve(place.path, self._files)[:1]
            for span in place.lines
        ]
        wanted = WantedPlaces(
            tuple(lines),
            found.names,
            tuple(self._about),
            search,
            is_prose(path),
        )
        before = self._shown.get(path, ())
        part = excerpt(text, wanted, room, without=before)
        if not part.spans:
            return None
        self._shown[path] = (*before, *part.spans)
        said = [path, *(["as it is now"] if now else []), *([] if part.whole else [part.said])]
        return InputFile(
            name=path, text=part.text, kind="file", shown_as=", ".join(said) if said[1:] else ""
        )

    def _changed(self, commit: str, paths: Sequence[str]) -> set[str]:
        """Return the files that are not what they were at the base."""
        if commit == self.base:
            return set()
        before = self.repository.objects(self.base, paths)
        after = self.repository.objects(commit, paths)
        return {path for path in paths if before.get(path) and before[path] != after.get(path)}


def _left_out(left: Sequence[str]) -> Iterator[InputFile]:
    if left:
        text = "\n".join(("Named, and not shown here; ask for what you need of them:", *left))
        yield InputFile(name="files that are not shown", text=text, kind="output")


def _looked_up_lines(
    names: Sequence[str],
    found: dict[str, list[tuple[str, int]]],
    likely: Sequence[str],
    used: Sequence[str],
) -> Iterator[str]:
    for name in names[:_NAMES_LOOKED_UP]:
        if found.get(name):
            yield f"`{name}` is defined at " + ", ".join(f"{p}:{line}" for p, line in found[name])
    if likely:
        yield "Most likely files, by words, imports and what changed together, best first:"
        yield from (f"- {path}" for path in likely)
    if used:
        yield "Lines that hold these names:"
        yield from used


def _defined(
    ranked: "LikelyFiles | None", names: Sequence[str]
) -> dict[str, list[tuple[str, int]]]:
    """Return where names are defined; a name that stands in many places tells nothing."""
    found: dict[str, list[tuple[str, int]]] = {}
    for name in names[:_NAMES_LOOKED_UP] if ranked else ():
        hits = ranked.definitions(name) if ranked else []
        if len(hits) <= _PLACES_OF_A_NAME:
            found[name] = hits
    return found


@lru_cache(maxsize=8)
def _lines_with(
    repository: Repository, commit: str, names: tuple[str, ...]
) -> tuple[tuple[str, int, str], ...]:
    found = lines_with(repository.root, commit, names)
    return tuple(line for line in found if not _NO_TEXT.search(line[0]))


@lru_cache(maxsize=8)
def _listed(repository: Repository, commit: str) -> tuple[str, ...]:
    files = repository.list_files(commit)
    return tuple(name for name in files if not name.startswith(f"{SPECS}/"))


@lru_cache(maxsize=8)
def _house_rules(repository: Repository, commit: str) -> tuple[HouseRule, ...]:
    def read(path: str) -> str | None:
        raw = repository.read(commit, path)
        return raw.decode("utf-8", "replace") if raw is not None and b"\0" not in raw else None

    return house_rules(Listing(_listed(repository, commit), read))


def _likely(repository: Repository, commit: str, about: tuple[str, ...]) -> LikelyFiles | None:
    """Return the ranked text files of a commit.

    Of a large repository only those that hold words of the task are read.
    """
    files = [path for path in _listed(repository, commit) if not _NO_TEXT.search(path)]
    many = len(files) > _RANKED_WHOLE
    return _ranked(
        repository, repository.commit_id(commit), tuple(sorted(set(about))) if many else ()
    )


@lru_cache(maxsize=4)
def _ranked(repository: Repository, commit: str, about: tuple[str, ...]) -> LikelyFiles | None:
    files = [path for path in _listed(repository, commit) if not _NO_TEXT.search(path)]
    if about:
        asked = sorted(about, key=lambda word: (-len(word), word))[:_WORDS_SEARCHED]
        counts = holding(repository.root, commit, asked)
        own = {
            path: counts.get(path, 0) + len(set(words(path)).intersection(about)) for path in files
        }
        files = sorted((path for path in files if own[path]), key=lambda path: (-own[path], path))
        files = files[:_RANKED_OF_MANY]
    sizes = repository.sizes(commit, files)
    small = [path for path in files if 0 < sizes.get(path, 0) <= _LARGEST_RANKED]
    texts = {
        path: raw.decode("utf-8", "replace")
        for path, raw in sorted(repository.read_many(commit, small).items())
        if b"\0" not in raw
    }
    return LikelyFiles(texts, changed_together(repository.root, commit)) if texts else None
