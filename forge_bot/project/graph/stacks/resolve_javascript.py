"""The files that an import of JavaScript or TypeScript names.

Order: relative paths, `imports` of package.json, `paths` and `baseUrl` of tsconfig.json, packages
of the same repository, packages outside.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from posixpath import basename, dirname, normpath, splitext

from forge_bot.project.file_list import Listing, above, join
from forge_bot.project.graph.file_facts import ImportLine
from forge_bot.project.graph.stacks.package_exports import export_targets
from forge_bot.project.graph.stacks.stack import Resolution, Resolve
from forge_bot.project.graph.stacks.tsconfig import TypeScriptConfigs
from forge_bot.project.lenient_config import json_object, string

_ENDINGS = (".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".json", ".vue")
_WRITTEN_AS = {
    ".js": (".ts", ".tsx", ".d.ts"),
    ".jsx": (".tsx",),
    ".mjs": (".mts", ".d.mts"),
    ".cjs": (".cts", ".d.cts"),
}
_BUILT = re.compile(r"^(?:dist|lib|build|out|es|esm|cjs|output)(?:/(?:esm|cjs|es|src))?/")
_ELSEWHERE = re.compile(r"^[a-z][a-z0-9+.-]+:", re.IGNORECASE)
_LONGEST = 500


def javascript_resolver(listing: Listing) -> Resolve:
    """Return the resolver for the JavaScript and TypeScript files of a repository."""
    return _JavaScriptFiles(listing).resolve


class _JavaScriptFiles:
    def __init__(self, listing: Listing) -> None:
        self._listing = listing
        self._configs = TypeScriptConfigs(listing)
        self._known: dict[tuple[str, str], Resolution] = {}

    def resolve(self, importer: str, line: ImportLine) -> tuple[Resolution, ...]:
        """Return the target of one import."""
        key = (dirname(importer), line.module)
        if key not in self._known:
            self._known[key] = self._resolved(*key)
        return (self._known[key],)

    def _resolved(self, folder: str, written: str) -> Resolution:
        name = written.rpartition("!")[2].partition("?")[0]
        if not name or len(name) > _LONGEST or _ELSEWHERE.match(name):
            return Resolution(outside=written.partition("?")[0][:_LONGEST] or "?")
        if name.startswith((".", "/")):
            return self._relative(folder, name, written)
        if name.startswith("#") and (found := self._internal(folder, name)) is not None:
            return found
        wished, own = self._configs.candidates(folder, name)
        for path in wished:
            if found := self._file(path):
                return Resolution((found,))
        if (package := self._package_of(name)) is not None:
            found = self._in_package(package, name)
            return Resolution((found,)) if found else Resolution(missing=written)
        return Resolution(missing=written) if own else Resolution(outside=_package_name(name))

    def _relative(self, folder: str, name: str, written: str) -> Resolution:
        if name.startswith("/"):
            return Resolution(outside=written)
        path = normpath(join(folder, name))
        if path.startswith(".."):
            return Resolution(missing=written)
        found = self._file("" if path == "." else path, folder=name.endswith(("/", ".")))
        return Resolution((found,)) if found else Resolution(missing=written)

    def _internal(self, folder: str, name: str) -> Resolution | None:
        """Return the target that `imports` in the nearest package.json gives a name with `#`."""
        for place in (*reversed(above(folder + "/x")), ""):
            manifest = join(place, "package.json")
            if self._listing.has(manifest):
                targets = export_targets(self._manifest(manifest).get("imports"), name)
                found = [self._target(place, target) for target in targets]
                path = next(filter(None, found), None)
                if path:
                    return Resolution((path,))
                return Resolution(missing=name) if found else None
        return None

    def _file(self, path: str, *, folder: bool = False) -> str | None:
        """Return the file that a path without or with its ending stands for."""
        has = self._listing.has
        if not folder:
            if has(path):
                return path
            stem, ending = splitext(path)
            for other in _WRITTEN_AS.get(ending, ()):
                if has(stem + other):
                    return stem + other
            for each in _ENDINGS:
                if has(path + each):
                    return path + each
        if not self._listing.has_folder(path) and path:
            return None
        if has(manifest := join(path, "package.json")) and (
            main := self._main(path, self._manifest(manifest))
        ):
            return main
        return next((file for each in _ENDINGS if has(file := join(path, "index" + each))), None)

    @cached_property
    def _packages(self) -> Mapping[str, str]:
        """The folders of the packages of this repository by their names; its own before samples."""
        own = frozenset(self._listing.own())
        found: dict[str, str] = {}
        manifests = [path for path in self._listing.files if basename(path) == "package.json"]
        for path in sorted(manifests, key=lambda path: (path not in own, path.count("/"), path)):
            name = string(self._manifest(path).get("name"))
            if name and "node_modules" not in path.split("/"):
                found.setdefault(name, dirname(path))
        return found

    def _package_of(self, name: str) -> str | None:
        package = _package_name(name)
        return package if package in self._packages else None

    def _in_package(self, package: str, name: str) -> str | None:
        folder = self._packages[package]
        manifest = self._manifest(join(folder, "package.json"))
        inner = name[len(package) + 1 :]
        for target in export_targets(manifest.get("exports"), f"./{inner}" if inner else "."):
            if found := self._target(folder, target, main=not inner):
                return found
        if not inner:
            return self._main(folder, manifest) or self._first(
                join(folder, place) for place in ("src/index", "index", "src/main", "lib/index")
            )
        return self._first((join(folder, inner), join(folder, f"src/{inner}")))

    def _main(self, folder: str, manifest: Mapping[str, object]) -> str | None:
        for field in ("source", "module", "main", "types", "typings"):
            if (main := string(manifest.get(field))) and (
                found := self._target(folder, main, main=True)
            ):
                return found
        return None

    def _target(self, folder: str, target: str, *, main: bool = False) -> str | None:
        """Return the file of a path in package.json; of one that is built, its source."""
        plain = normpath(target.removeprefix("./"))
        if plain in {"", "."} or plain.startswith(".."):
            return None
        if found := self._file(join(folder, plain)):
            return found
        source, count = _BUILT.subn("src/", plain)
        if not count:
            return None
        stem = re.sub(r"(?:\.d)?\.[cm]?[jt]sx?$", "", source)
        same = (join(folder, stem), join(folder, stem.removeprefix("src/")))
        return self._first((*same, join(folder, "src/index")) if main else same)

    def _first(self, paths: Iterator[str] | Sequence[str]) -> str | None:
        return next(filter(None, map(self._file, paths)), None)

    def _manifest(self, path: str) -> Mapping[str, object]:
        if path not in self._read:
            self._read[path] = json_object(self._listing.text(path))
        return self._read[path]

    @cached_property
    def _read(self) -> dict[str, Mapping[str, object]]:
        return {}


def _package_name(name: str) -> str:
    parts = name.split("/")
    return "/".join(parts[:2]) if name.startswith("@") else parts[0]
