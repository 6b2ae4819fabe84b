"""`exports` and `imports` of package.json: which files a name of them stands for.

Source: the Node.js documentation, "Packages", "Conditional exports" and "Subpath patterns".
"""

from collections.abc import Iterator, Mapping

from forge_bot.project.lenient_config import items, string, table

_CONDITIONS = ("source", "development", "import", "module", "require", "node", "browser", "default")
_LAST = ("types", "typings")


def export_targets(field: object, name: str) -> Iterator[str]:
    """Yield the paths that a subpath (`.`, `./x` or `#x`) may stand for, the likeliest first."""
    entries = table(field)
    if not any(key.startswith((".", "#")) for key in entries):
        yield from _paths(field) if name == "." else ()
        return
    if name in entries:
        yield from _paths(entries[name])
        return
    fitting = [(key, rest) for key in entries if (rest := matched(key, name)) is not None]
    for key, rest in sorted(fitting, key=lambda each: -len(each[0])):
        yield from (path.replace("*", rest) for path in _paths(entries[key]))


def matched(pattern: str, name: str) -> str | None:
    """Return the part of a name that stands for the `*` of a pattern; None if it does not fit."""
    start, star, end = pattern.partition("*")
    if not star:
        return "" if pattern == name else None
    fits = name.startswith(start) and name.endswith(end) and len(name) >= len(start) + len(end)
    return name[len(start) : len(name) - len(end)] if fits else None


def _paths(value: object) -> Iterator[str]:
    """Yield the paths under all conditions, those with types only last."""
    if path := string(value):
        yield path
    for each in items(value):
        yield from _paths(each)
    found: Mapping[str, object] = table(value)
    others = [key for key in found if key not in _CONDITIONS and key not in _LAST]
    for key in (*_CONDITIONS, *others, *_LAST):
        if key in found:
            yield from _paths(found[key])
