"""Convert Python requirements from all common forms to the strings pip takes (PEP 508)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from posixpath import dirname, normpath

from forge_bot.project.file_list import Listing, join
from forge_bot.project.lenient_config import items, string, strings, table

_NAME = re.compile(r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)")
_INCLUDE = re.compile(r"(?:-r|--requirement)[\s=]*(\S+)")
_PART = re.compile(r"\s*(\^|~(?!=))?\s*([^\s,]+)")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")


def canonical(name: str) -> str:
    """Return a project or group name in the form that can be compared (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def name_of(requirement: str) -> str:
    """Return the comparable project name of a requirement; empty for options and addresses."""
    found = _NAME.match(requirement)
    return (
        canonical(found[1])
        if found and not requirement.lstrip().startswith(("http:", "https:", "git+"))
        else ""
    )


def file_lines(listing: Listing, path: str, _seen: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield the requirements of a requirements file and of the files it includes."""
    for raw in listing.text(path).replace("\\\n", " ").splitlines():
        line = re.split(r"(?:^|\s)#", raw, maxsplit=1)[0].strip()
        if included := _INCLUDE.match(line):
            target = normpath(join(dirname(path), included[1]))
            if target not in _seen:
                yield from file_lines(listing, target, _seen | {path, target})
        elif line and not line.startswith("-"):
            yield line


def includes(listing: Listing, path: str, other: str) -> bool:
    """Return whether one requirements file includes another one."""
    found = (_INCLUDE.match(line.strip()) for line in listing.text(path).splitlines())
    return any(normpath(join(dirname(path), each[1])) == other for each in found if each)


def dependency_group(
    groups: Mapping[str, object], name: str, _within: frozenset[str] = frozenset()
) -> Iterator[str]:
    """Yield the requirements of a dependency group and of the groups it includes (PEP 735)."""
    by_name = {canonical(key): value for key, value in groups.items()}
    for entry in items(by_name.get(canonical(name))):
        included = canonical(string(table(entry).get("include-group")))
        if isinstance(entry, str):
            yield entry
        elif included and included not in _within:
            yield from dependency_group(groups, included, _within | {canonical(name), included})


def from_tables(entries: Mapping[str, object]) -> Iterator[str]:
    """Yield requirements from a table of names and constraints, as Poetry and Pipenv write them.

    Git and address requirements become direct references; those on local folders are left out, as
    no index has them.
    """
    for name, value in entries.items():
        if canonical(name) == "python":
            continue
        details = table(value)
        extras = ",".join(strings(details.get("extras")))
        written = f"{name}[{extras}]" if extras else name
        if address := string(details.get("git")):
            mark = next(
                (
                    string(details.get(key))
                    for key in ("rev", "tag", "branch", "ref")
                    if details.get(key)
                ),
                "",
            )
            yield f"{written} @ git+{address}" + (f"@{mark}" if mark else "")
        elif address := string(details.get("url")):
            yield f"{written} @ {address}"
        elif not details.get("path"):
            yield written + _pep440(string(value) or string(details.get("version")))


def _pep440(constraint: str) -> str:
    """Translate a version constraint to PEP 440.

    `^1.2` keeps the leftmost number that is not zero; `~1.2` allows any 1.2.x.
    """
    if "||" in constraint:
        return ""
    return ",".join(part for part in _parts(constraint) if part)


def _parts(constraint: str) -> Iterable[str]:
    for sign, version in _PART.findall(constraint):
        number = _NUMBER.match(version)
        if sign and number:
            yield f">={version},<{_next(number[0], caret=sign == '^')}"
        elif version == "*":
            yield ""
        elif number:
            yield f"=={version}"
        else:
            yield version


def _next(version: str, *, caret: bool) -> str:
    """Return the first version that a caret or tilde constraint excludes."""
    numbers = [int(part) for part in version.split(".")]
    last = len(numbers) - 1
    at = (
        next((index for index, number in enumerate(numbers) if number), last)
        if caret
        else min(1, last)
    )
    return ".".join(str(number) for number in [*numbers[:at], numbers[at] + 1])
