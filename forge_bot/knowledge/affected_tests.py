"""Find the tests that a set of edited files affects, and the command line that runs only them."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from posixpath import basename, dirname, join, normpath, relpath

from forge_bot.artifacts.test_paths import is_test_file
from forge_bot.knowledge.file_links import file_links
from forge_bot.project.lenient_config import json_object, string, table
from forge_bot.verification.selected_tests import GoTest, go_test, package_folder

_LANGUAGE = re.compile(r"\.(?:(?P<py>py)|(?P<go>go)|(?P<js>[cm]?[jt]sx?)|(?P<rs>rs))$")
_MODULE = re.compile(r"[A-Za-z_]\w*(?:/[A-Za-z_]\w*)*\.py")
_SETS_UP = {"conftest.py", "setup.py", "noxfile.py"}
_TAKES_VALUE = {"-c", "-k", "-m", "-n", "-o", "-p", "-r", "-W", "--rootdir", "--maxfail", "--cov"}
_NODE = ["node", "--test"]
_SCRIPTS = {"jest": ("--runTestsByPath",), "vitest": ()}
"""Runners of a package's test script, with the words before the files to run."""
_NOWHERE = {"/test_.py", "/_test.go", "/.test.js", "/tests/.rs"}
"""Files that no repository has. Beside them no selection is all there is."""


def is_code(path: str) -> bool:
    """Return whether a file is read for its imports."""
    return _LANGUAGE.search(path) is not None


def affected_tests(edited: Collection[str], texts: Mapping[str, str]) -> tuple[str, ...]:
    """Return the test files that are edited, or import an edited file over any number of others.

    `texts` has the code as it is after the edits. It is empty where an edited file is no code, or
    one that sets tests up: then any test may be affected. So it is by the code of a crate.
    """
    named = [path for path in edited if not path.endswith((".md", ".rst", ".txt"))]
    if any(_may_affect_all(path) for path in named):
        return ()
    links = file_links({**dict.fromkeys(named, ""), **texts})
    return tuple(
        path for path in sorted(texts) if is_test_file(path) and reaches(path, set(named), links)
    )


def _may_affect_all(path: str) -> bool:
    if path.endswith(".rs"):
        return not is_test_file(path)
    return not is_code(path) or basename(path) in _SETS_UP


def reaches(start: str, wanted: Collection[str], links: Mapping[str, Sequence[str]]) -> bool:
    """Return whether a file is one of the wanted ones, or imports one directly or through others.
    Files of one folder are one package in Go.
    """
    seen, left = {start}, [start]
    while left:
        path = left.pop()
        if path in wanted:
            return True
        near = links.get(path, ())
        if path.endswith(".go"):
            near = [other for other in links if dirname(other) == dirname(path)]
        fresh = {other for other in near if other not in seen and not is_test_file(other)}
        seen |= fresh
        left += fresh
    return False


def selected(
    argv: Sequence[str],
    tests: Collection[str],
    files: Collection[str],
    package: str = "",
    *,
    even_all: bool = False,
) -> tuple[str, ...] | None:
    """Return a test command that runs only some test files; None if there is none.

    `files` are all files of the tree; `package` is the text of `manifest_of` the command. A command
    that would run all tests anyway is returned only with `even_all`.
    """
    if not tests:
        return None
    words = [*argv]
    every = {path for path in files if is_test_file(path)} | (_NOWHERE if even_all else set[str]())
    if (place := _pytest(words)) is not None:
        own = _of(tests, "py")
        if not own or own >= _of(every, "py"):
            return None
        return (*words[: place + 1], *_without_paths(words[place + 1 :], files), *sorted(own))
    if "unittest" in words and words[words.index("unittest") - 1] == "-m":
        return _unittest(words, tests, every)
    if words[:2] == _NODE:
        own, all_ = _of(tests, "js"), _of(every, "js")
        kept = _without_paths(words, files)
        return (*kept, *sorted(own)) if own and own < all_ else None
    if (go := go_test(tuple(words))) is not None:
        return _go(go, tests, every, files)
    if words[:2] == ["cargo", "test"]:
        return _cargo(words, tests, every, files)
    return _script(words, tests, every, files, package)


def manifest_of(argv: Sequence[str]) -> str:
    """Return the path of the package.json that has the script of a command."""
    return join(package_folder(argv) or "", "package.json")


def script_of_tests(package: str) -> str:
    """Return what a package manager runs as `test`, from the text of a package.json."""
    return string(table(json_object(package).get("scripts")).get("test"))


def runs_none(argv: Sequence[str], tests: Collection[str], files: Collection[str]) -> bool:
    """Return whether a test command certainly runs none of some test files: they belong to another
    language, module, crate or package. `files` are all files of the tree.
    """
    words = [*argv]
    if (go := go_test(tuple(words))) is not None:
        wide, covered = _patterns(go, files)
        is_local = wide and all(word.startswith(".") for word in wide)
        return bool(is_local) and not any(map(covered, _of(tests, "go")))
    if words[:2] == ["cargo", "test"]:
        return not _in_crates(words, _of(tests, "rs"), files)
    if _pytest(words) is not None or "unittest" in words:
        return not _of(tests, "py")
    # What a script of npm runs at the top may be anything.
    folder = package_folder(words)
    return bool(folder) and not any(path.startswith(f"{folder}/") for path in tests)


def _of(paths: Collection[str], language: str) -> set[str]:
    return {
        path
        for path in paths
        if (match := _LANGUAGE.search(path)) is not None and match[language] is not None
    }


def _pytest(words: Sequence[str]) -> int | None:
    names = [basename(word) for word in words]
    return next((place for place, name in enumerate(names) if name in {"pytest", "py.test"}), None)


def _without_paths(words: Sequence[str], files: Collection[str]) -> Iterator[str]:
    """Yield the words of a command without the files and folders that it runs."""
    folders = {path[: place.start()] for path in files for place in re.finditer("/", path)}
    before = ""
    for word in words:
        plain = word.split("::")[0].removeprefix("./").rstrip("/")
        is_path = plain in files or plain in folders or word in {".", "./"}
        if word.startswith("-") or before in _TAKES_VALUE or not is_path:
            yield word
        before = word


def _unittest(
    words: Sequence[str], tests: Collection[str], every: Collection[str]
) -> tuple[str, ...] | None:
    """Name the modules in the place of a discovery that begins at the top folder."""
    place = words.index("unittest")
    options = words[place + 1 :]
    own, all_ = _of(tests, "py"), _of(every, "py")
    if options[:1] != ["discover"] or not own or own >= all_:
        return None
    given = dict(pairwise(options))
    start = given.get("-s", ".")
    top = given.get("-t", start)
    if top != "." or not all(map(_MODULE.fullmatch, own)):
        return None
    quiet = [word for word in options if word in {"-v", "-q", "-b"}]
    modules = [path.removesuffix(".py").replace("/", ".") for path in sorted(own)]
    return (*words[: place + 1], *quiet, *modules)


def _go(
    go: GoTest, tests: Collection[str], every: Collection[str], files: Collection[str]
) -> tuple[str, ...] | None:
    """Name the packages in the place of patterns for all of them.

    A pattern stands for packages of one module: another one within its folder is left out, and so
    are folders that Go leaves out.
    Source: https://pkg.go.dev/cmd/go#hdr-Package_lists_and_patterns
    """
    wide, covered = _patterns(go, files)
    own = {dirname(path) for path in filter(covered, _of(tests, "go"))}
    all_ = {dirname(path) for path in filter(covered, _of(every, "go"))}
    if not own or own >= all_ or not all(word.startswith(".") for word in wide):
        return None
    named = {relpath(folder or ".", normpath(go.folder or ".")) for folder in own}
    packages = [f"./{each}" if each[0] != "." else each for each in sorted(named)]
    place = go.rest.index(wide[0])
    kept = [word for word in go.rest[place:] if word not in wide]
    return (*go.before, *go.rest[:place], *packages, *kept)


def _patterns(go: GoTest, files: Collection[str]) -> tuple[list[str], Callable[[str], bool]]:
    """Return the patterns of a command, and a function that tells whether they cover a file."""
    wide = [word for word in go.rest if word.endswith("/...")]
    modules = {dirname(path) for path in files if basename(path) == "go.mod"}
    below = [
        normpath(join(go.folder, word.removesuffix("/..."))) for word in wide if word[0] == "."
    ]

    def covered(path: str) -> bool:
        folder = dirname(path) or "."
        return path in _NOWHERE or any(_in_pattern(folder, each, modules) for each in below)

    return wide, covered


def _in_pattern(folder: str, top: str, modules: Collection[str]) -> bool:
    """Return whether a folder's package belongs to those below another folder."""
    if top != "." and not f"{folder}/".startswith(f"{top}/"):
        return False
    inside = folder if top == "." else folder[len(top) + 1 :]
    left_out = any(
        part == "testdata" or (part.startswith(("_", ".")) and part != ".")
        for part in inside.split("/")
    )
    return not left_out and _module(folder, modules) == _module(top, modules)


def _module(folder: str, modules: Collection[str]) -> str:
    """Return the folder of the module, crate or package that a folder belongs to."""
    while folder not in modules and folder not in {".", "/"}:
        folder = dirname(folder) or "."
    return folder


def _cargo(
    words: Sequence[str], tests: Collection[str], every: Collection[str], files: Collection[str]
) -> tuple[str, ...] | None:
    """Name the integration tests, each of which is a target of Cargo.

    Source: https://doc.rust-lang.org/cargo/commands/cargo-test.html
    """
    own = _in_crates(words, _of(tests, "rs"), files)
    if not own or own >= _of(every, "rs"):
        return None
    targets = sorted({basename(path).removesuffix(".rs") for path in own})
    chosen = [word for target in targets for word in ("--test", target)]
    return (*words[:2], *chosen, *words[2:])


def _in_crates(words: Sequence[str], paths: set[str], files: Collection[str]) -> set[str]:
    """Return the paths that belong to the crates of a command of Cargo: a crate in the folder of
    another one is left out unless both are of the command's workspace.
    """
    folder = dirname(dict(pairwise(words)).get("--manifest-path", "")) or "."
    if "--workspace" in words:
        return {path for path in paths if folder == "." or path.startswith(f"{folder}/")}
    crates = {dirname(path) for path in files if basename(path) == "Cargo.toml"}
    return {path for path in paths if _module(dirname(path) or ".", crates) == folder}


def _script(
    words: Sequence[str],
    tests: Collection[str],
    every: Collection[str],
    files: Collection[str],
    package: str,
) -> tuple[str, ...] | None:
    """Hand files to the runner that is the whole of a package's test script. It works in the folder
    of the package, and other packages in there are its own only in a workspace.
    """
    start = f"{package_folder(words) or ''}/".lstrip("/")
    packages = {start[:-1]}
    if not json_object(package).get("workspaces") and "pnpm-workspace.yaml" not in files:
        packages |= {dirname(path) for path in files if basename(path) == "package.json"}

    def covered(path: str) -> bool:
        return path in _NOWHERE or _module(dirname(path) or ".", packages) == (start[:-1] or ".")

    own, all_ = ({*filter(covered, _of(paths, "js"))} for paths in (tests, every))
    if not own or own >= all_ or basename(words[-1]) != "test":
        return None
    line = script_of_tests(package).split()
    # Node runs the files that its script names besides.
    node = line[:2] == _NODE and all(word.startswith("--") for word in line[2:])
    known = node or (line[:1] and line[0] in _SCRIPTS)
    if not known or set(line) & {"&&", "||", ";", "|", "watch"}:
        return None
    divider = ("--",) if words[0] == "npm" else ()
    return (
        *words,
        *divider,
        *_SCRIPTS.get(line[0], ()),
        *sorted(each[len(start) :] for each in own),
    )
