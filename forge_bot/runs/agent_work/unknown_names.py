"""Files and definitions that a design names and that are not in the repository."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from forge_bot.artifacts.design_outline import leading_code
from forge_bot.artifacts.markdown import Block
from forge_bot.artifacts.sections import blocks_below
from forge_bot.artifacts.test_paths import belongs_to_tests
from forge_bot.git import Repository
from forge_bot.project.languages import language_of

_PLAIN = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|#)[A-Za-z_]\w*)*(?:\(\))?")
_NEW = re.compile(
    r"\b(?:new|adds?|added|adding|creat(?:e|es|ed|ing)|introduc\w+|generat\w+|written|writes"
    r"|moves?|moved|renam\w+|cop(?:y|ied|ies)|becomes?|gets?|gains?|extract\w*|split)\b",
    re.IGNORECASE,
)
_PATH = re.compile(r"[\w.@+~-]+(?:/[\w.@+~-]+)*\.\w{1,12}")
_BETWEEN = re.compile(r"\s*(?:\([^()]*\))?\s*[:：–—-]?\s*")
_MOST_BYTES = 1_000_000
_NAMED = 8


def unknown_names(design: str, repository: Repository, commit: str) -> tuple[str, ...]:
    """Return the names at the start of items under `Changes` that are not in the repository, such
    as `shop/price.py`, or `refund` in `shop/prices.py`.

    Items that are marked as new, and tests, are not checked. A definition counts as present if its
    file contains the word.
    """
    items = [block for block in blocks_below(design, "Changes") if block.starts_item]
    files = frozenset(repository.list_files(commit))
    wanted = {path for block in items if (path := leading_code(block)) in files}
    texts = _texts(repository, commit, wanted)
    unknown = dict.fromkeys(_unknown(items, files, texts))
    return tuple(unknown)[:_NAMED]


def said_unknown(names: Collection[str]) -> str:
    """Return the complaint about unknown names."""
    return (
        f"`Changes` is about what is not in the repository: {', '.join(names)}. Write the name as"
        " it stands there; of what is made, write in its item that it is new"
    )


def _unknown(
    items: Iterable[Block], files: Collection[str], texts: Mapping[str, str]
) -> Iterator[str]:
    around = ""
    for block in items:
        name, is_new = leading_code(block), _NEW.search(block.text) is not None
        if block.depth == 1:
            around = name if name in texts and not is_new else ""
            if _is_code(name) and name not in files and not is_new:
                yield f"`{name}`"
            name = _next_code(block)
        text = texts.get(around, "")
        if text and not is_new and _PLAIN.fullmatch(name) and not _has(text, name):
            yield f"`{name}` in `{around}`"


def _is_code(path: str) -> bool:
    return (
        _PATH.fullmatch(path) is not None and bool(language_of(path)) and not belongs_to_tests(path)
    )


def _next_code(block: Block) -> str:
    """Return the code that the words about a file begin with."""
    spans = [span for span in block.spans if span.text.strip()]
    # Path, sign, code.
    between = len(spans) > 2 and _BETWEEN.fullmatch(spans[1].text)  # noqa: PLR2004
    return spans[2].text.strip() if between and spans[2].code else ""


def _has(text: str, name: str) -> bool:
    last = re.split(r"\W+", name.removesuffix("()"))[-1]
    return re.search(rf"(?<!\w){re.escape(last)}(?!\w)", text) is not None


def _texts(repository: Repository, commit: str, paths: Collection[str]) -> dict[str, str]:
    """Return the texts of files of code, those of tests left out."""
    code = [path for path in sorted(paths) if _is_code(path)]
    return {
        path: raw.decode("utf-8", "replace")
        for path, raw in repository.read_many(commit, code).items()
        if len(raw) <= _MOST_BYTES
    }
