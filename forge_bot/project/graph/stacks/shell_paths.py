"""Paths in lines of a shell, named and written, and the files that a command of the project reads
and writes.
"""

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import dropwhile, islice
from posixpath import basename, normpath

from forge_bot.project.file_list import Listing, join
from forge_bot.project.toolchains import carried_out

_PATH = re.compile(r"(?<![\w.@-])[\w.@-]*(?:/[\w.@-]+)+|(?<![\w-])[\w-]+\.[A-Za-z]\w{0,4}\b")
_MOST_LINES = 2_000
_ENDS = frozenset({";", ";;", "&&", "||", "|", "|&", "&", "(", ")"})
_REDIRECTIONS = frozenset({">", ">>", ">|", "&>", "&>>"})
_OUTPUT = re.compile(r"-o|--(?:out|output)(?:-?file)?")
_LAST_WORD = frozenset({"cp", "mv", "install"})
_ALL_WORDS = frozenset({"tee", "touch"})
_FEWEST_COPIED = 2
_BEFORE = re.compile(r"[A-Za-z_]\w*=.*|sudo|env|exec|time|then|do|else|!|\{")


def paths_in(text: str) -> Iterator[str]:
    """Yield what may be the path of a file."""
    yield from (found[0].removesuffix(".") for found in _PATH.finditer(text))


def written_in(script: str) -> Iterator[str]:
    """Yield the paths that a script writes: redirected output, the arguments of `-o` or `--output`,
    and the targets of `tee`, `touch`, `cp` and `mv`.
    """
    lines = script.replace("\\\n", " ").splitlines()
    for line in islice(lines, _MOST_LINES):
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        try:
            words = list(lexer)
        except ValueError:
            # A quotation that goes on in the next line.
            continue
        yield from _written(words)


def _written(words: list[str]) -> Iterator[str]:
    command: list[str] = []
    left = iter([*words, ";"])
    for word in left:
        if word in _REDIRECTIONS:
            yield next(left, "")
        elif word in _ENDS:
            yield from _by_command(command)
            command = []
        else:
            command.append(word)


def _by_command(words: list[str]) -> Iterator[str]:
    for word, after in zip(words, [*words[1:], ""], strict=True):
        option, equals, value = word.partition("=")
        if _OUTPUT.fullmatch(option):
            yield value if equals else after
    called = list(dropwhile(_BEFORE.fullmatch, words))
    program = basename(called[0]) if called else ""
    plain = [word for word in called[1:] if not word.startswith("-")]
    if program in _ALL_WORDS:
        yield from plain
    elif program in _LAST_WORD and len(plain) >= _FEWEST_COPIED:
        yield plain[-1]
        yield from (f"{plain[-1].rstrip('/')}/{basename(source)}" for source in plain[:-1])


def command_files(listing: Listing, argv: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the files that a command reads, and those that it writes."""
    folder, script = carried_out(listing, argv)
    words = Counter([*argv, *paths_in(script)])
    written = dict.fromkeys(written_in(script))
    read = [word for word, count in words.items() if count > 1 or word not in written]
    return _there(listing, folder, read), _there(listing, folder, written)


def _there(
    listing: Listing, folder: str, words: Sequence[str] | dict[str, None]
) -> tuple[str, ...]:
    """Return the files of the project that words name, from its root or from a folder."""
    places = (normpath(join(root, word)) for word in words for root in dict.fromkeys(("", folder)))
    return tuple(dict.fromkeys(path for path in places if listing.has(path)))
