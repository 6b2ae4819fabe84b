"""Go, Rust, the JVM, Ruby, Make, JavaScript and TypeScript: the commands that their manifests stand
for. The scripts of package.json are run by the package manager in use.
"""

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from posixpath import dirname

from forge_bot.artifacts.test_paths import TEST_FOLDERS
from forge_bot.project.detected_commands import (
    MOST_PROJECTS,
    Command,
    ProjectCommands,
    combined,
    command,
    find_in,
)
from forge_bot.project.file_list import Listing, join, json_object, string, strings, table, toml
from forge_bot.values import CommandName, Frozen
from forge_bot.verification.runners import MANAGERS

_REQUIRES = re.compile(r"^[^\S\n]*require\b", re.MULTILINE)
_USES = re.compile(r"^[^\S\n]*use\s*(?:\((?P<many>[^()]*)\)|(?P<one>\S+))", re.MULTILINE)
_LINT_CONFIGS = (".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json")


def find_go(listing: Listing) -> ProjectCommands:
    """Return the commands of the workspace or module at the root, or else of modules in folders.

    Go leaves a module within another one's folder out of that one's packages, so each that has
    tests gets commands of its own: unless it lies in a folder of tests of the whole, which need
    what runs elsewhere, or beside a workspace that does not name it.
    """
    root = find_in(listing, ("go.work", "go.mod"), _read_go, "Go")
    if not listing.has("go.mod"):
        return root
    inner = [
        folder
        for folder in listing.projects(("go.mod",))
        if TEST_FOLDERS.isdisjoint(folder.split("/"))
        and any(path.endswith("_test.go") for path in listing.own(folder))
    ]
    tested, parts = inner[:MOST_PROJECTS], [root]
    if listing.has("go.work"):
        tested = _modules(listing, "go.work")
    else:
        parts += [_read_go(listing, folder) for folder in tested]
    left = [folder for folder in inner if folder not in tested]
    notes = tuple(f"The Go module in {folder} is not tested." for folder in left)
    return combined([*parts, ProjectCommands(notes=notes)])


def _read_go(listing: Listing, folder: str) -> ProjectCommands:
    place = ("-C", folder) if folder else ()
    manifest = listing.first(folder, ("go.work", "go.mod")) or ""
    modules = _modules(listing, manifest)
    packages = tuple("./..." if module == "." else f"./{module}/..." for module in modules)
    fetch = any(
        _REQUIRES.search(listing.text(join(folder, f"{module}/go.mod".removeprefix("./"))))
        for module in modules
    )
    vendored = listing.has_folder(join(folder, "vendor"))
    config = listing.first(folder, _LINT_CONFIGS)
    setup = command(manifest, "go", *place, "mod", "download")
    lint = command(config or "", "golangci-lint", "run", *packages)
    return ProjectCommands(
        setup=(setup,) if fetch and not vendored else (),
        build=(command(manifest, "go", *place, "build", *packages),),
        test=(command(manifest, "go", *place, "test", *packages),),
        lint=(lint,) if config and not folder else (),
    )


def _modules(listing: Listing, manifest: str) -> tuple[str, ...]:
    """Return the folders of the modules, relative to the manifest's own.

    A go.mod is its only module.
    """
    if not manifest.endswith("go.work"):
        return (".",)
    names = (
        name
        for match in _USES.finditer(listing.text(manifest))
        for name in (match["many"] or match["one"]).split()
    )
    return tuple(name.removeprefix("./").rstrip("/") or "." for name in names) or (".",)


_CARGO = "Cargo.toml"
_CARGO_NEEDS = ("target", "dependencies", "dev-dependencies", "build-dependencies")


def find_rust(listing: Listing) -> ProjectCommands:
    """Return the commands of the crate or workspace at the root, or else of crates in folders."""
    return find_in(listing, (_CARGO,), _read_crate, "Rust")


def _read_crate(listing: Listing, folder: str) -> ProjectCommands:
    manifest = join(folder, _CARGO)
    crate = toml(listing.text(manifest))
    place = ("--manifest-path", manifest) if folder else ()
    locked = ("--locked",) if listing.has(join(folder, "Cargo.lock")) else ()
    options = (*place, *(("--workspace",) if "workspace" in crate else ()), *locked)
    fetch = command(manifest, "cargo", "fetch", *place, *locked)
    clippy = listing.first(folder, ("clippy.toml", ".clippy.toml"))
    rules = table(crate, "lints", "clippy") or table(crate, "workspace", "lints", "clippy")
    lint: list[Command] = []
    if clippy or rules:
        reason = f"{clippy or manifest} configures clippy"
        lint.append(command(reason, "cargo", "clippy", *options, "--all-targets"))
    if config := listing.first(folder, ("rustfmt.toml", ".rustfmt.toml")):
        reason = f"{config} configures rustfmt"
        lint.append(command(reason, "cargo", "fmt", *place, "--all", "--check"))
    return ProjectCommands(
        setup=(fetch,) if "workspace" in crate or any(map(crate.get, _CARGO_NEEDS)) else (),
        build=(command(manifest, "cargo", "build", *options),),
        test=(command(manifest, "cargo", "test", *options, "--no-fail-fast"),),
        lint=tuple(lint),
    )


_GRADLE_FILES = ("settings.gradle.kts", "settings.gradle", "build.gradle.kts", "build.gradle")


def find_jvm(listing: Listing) -> ProjectCommands:
    """Return the commands of the Maven or Gradle build at the root."""
    if listing.has("pom.xml"):
        program = ("sh", "mvnw") if listing.has("mvnw") else ("mvn",)
        maven = (*program, "-B", "-ntp")
        return ProjectCommands(
            setup=(command("pom.xml", *maven, "-q", "dependency:go-offline"),),
            build=(command("pom.xml", *maven, "-q", "test-compile"),),
            test=(command("pom.xml", *maven, "test"),),
        )
    manifest = listing.first("", _GRADLE_FILES)
    if not manifest:
        return ProjectCommands()
    program = ("sh", "gradlew") if listing.has("gradlew") else ("gradle",)
    gradle = (*program, "--no-daemon", "--console=plain")
    return ProjectCommands(
        setup=(command(manifest, *gradle, "-q", "testClasses"),),
        build=(command(manifest, *gradle, "assemble"),),
        test=(command(manifest, *gradle, "test", "--continue"),),
    )


_TEST_TASK = re.compile(
    r"Rake::TestTask|Minitest::TestTask|^[^\S\n]*task\s+:?[\"']?test\b", re.MULTILINE
)


def find_ruby(listing: Listing) -> ProjectCommands:
    """Return the commands of the Ruby project at the root, which has a Gemfile."""
    if not listing.has("Gemfile"):
        return ProjectCommands()
    test, lint = _ruby_tests(listing), tuple[Command, ...]()
    specs = [path for path in listing.files if path == "Gemfile" or path.endswith(".gemspec")]
    if listing.has(".rubocop.yml") and any("rubocop" in listing.text(path) for path in specs):
        lint = (command(".rubocop.yml", "bundle", "exec", "rubocop", "--format", "emacs"),)
    locked = listing.has("Gemfile.lock")
    frozen = ("env", "BUNDLE_FROZEN=true") if locked else ()
    manifest = "Gemfile.lock" if locked else "Gemfile"
    install = command(manifest, *frozen, "bundle", "install", "--quiet")
    return ProjectCommands(setup=(install,) if test or lint else (), test=test, lint=lint)


def _ruby_tests(listing: Listing) -> tuple[Command, ...]:
    if listing.has(".rspec") or any(
        path.startswith("spec/") and path.endswith("_spec.rb") for path in listing.files
    ):
        return (command("specs in spec/", "bundle", "exec", "rspec"),)
    if _TEST_TASK.search(listing.text("Rakefile")):
        return (command("Rakefile has a test task", "bundle", "exec", "rake", "test"),)
    return ()


_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_MAKE_RULE = re.compile(r"^([\w./-][\w./ \t-]*)::?(?![:=])[^=\n]*$", re.MULTILINE)
_MAKE_TARGETS = {
    CommandName.BUILD: ("build", "all"),
    CommandName.TEST: ("test", "check", "tests"),
    CommandName.LINT: ("lint",),
}


def find_make(listing: Listing) -> ProjectCommands:
    """Return the commands of the Makefile at the root, by the targets that it has rules for."""
    path = listing.first("", _MAKEFILES) or ""
    text = listing.text(path).replace("\\\n", " ")
    known = {name for targets in _MAKE_RULE.findall(text) for name in targets.split()}
    chosen = {
        kind: (command(f"{path} has a target {target}", "make", target),)
        for kind, names in _MAKE_TARGETS.items()
        if (target := next((name for name in names if name in known), ""))
    }
    return ProjectCommands.model_validate(chosen)


_LOCKS = {
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
    "bun.lock": "bun",
    "bun.lockb": "bun",
    "package-lock.json": "npm",
    "npm-shrinkwrap.json": "npm",
}
_BERRY = "yarn 2"
_INSTALL = {
    "npm": ("ci --no-audit --no-fund", "install --no-audit --no-fund --no-package-lock"),
    "pnpm": ("install --frozen-lockfile", "install --no-lockfile"),
    "yarn": ("install --frozen-lockfile", "install --no-lockfile"),
    _BERRY: ("install --immutable", "install"),
    "bun": ("install --frozen-lockfile", "install --no-save"),
}
"""The words that install locked versions, and others; no lock file is written."""
_EVERYWHERE = {
    "npm": "run {} --workspaces --if-present",
    "pnpm": "-r --if-present run {}",
    "yarn": "workspaces run {}",
    _BERRY: "workspaces foreach -A run {}",
    "bun": "run --filter * {}",
}
"""The words that run a script in each package of the workspace that has it."""
_MANIFEST = "package.json"
_NEEDS = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
_CHANGES_FILES = re.compile(r"(?<!\S)(?:--fix|--write|--apply(?:-unsafe)?)(?!\S)")
_LINT_SCRIPTS = ("lint", "lint:check", "check:lint")
"""The usual names of the script that only lints; the first that is there counts."""


class _Package(Frozen):
    """A folder with a package.json: its scripts, those of its workspace, and how it is run."""

    folder: str
    manifest: str
    scripts: dict[str, str]
    members: tuple[dict[str, str], ...]
    manager: str
    lock: str

    def run(self, words: str) -> tuple[str, ...]:
        """Return the words of a call of the package manager in the folder."""
        program = self.manager.partition(" ")[0]
        place = (MANAGERS[program], self.folder) if self.folder else ()
        return (program, *place, *words.split())

    def script(self, name: str) -> Iterator[Command]:
        """Yield a script of the package, or those of its workspace's packages if it has none."""
        if (line := self.scripts.get(name)) is not None:
            words = "test" if name == "test" and self.manager != "bun" else f"run {name}"
            reason = f"{self.manifest} has a {name} script"
            yield command(reason, *self.run(words)).replace(script=line)
        elif any(name in scripts for scripts in self.members):
            reason = f"packages of the workspace have a {name} script"
            yield command(reason, *self.run(_EVERYWHERE[self.manager].format(name)))


def find_node(listing: Listing) -> ProjectCommands:
    """Return the commands of the package at the root; if it has no tests, those of the packages in
    folders.
    """
    return find_in(listing, (_MANIFEST,), _read_package, "JavaScript")


def _read_package(listing: Listing, folder: str) -> ProjectCommands:
    content = json_object(listing.text(join(folder, _MANIFEST)))
    package = _package(listing, folder, content)
    build = tuple(package.script("build"))
    test = tuple(package.script("test"))
    name = next((name for name in _LINT_SCRIPTS if name in package.scripts), _LINT_SCRIPTS[0])
    mends = _CHANGES_FILES.search(package.scripts.get(name, "")) is not None
    lint = () if mends else tuple(package.script(name))
    note = f"{package.manifest}: its lint script changes files, so it is not used to check."
    setup: tuple[Command, ...] = ()
    needs = package.members or any(table(content.get(key)) for key in _NEEDS)
    if needs and (build or test or lint):
        locked, plain = _INSTALL[package.manager]
        reason = package.lock or package.manifest
        setup = (command(reason, *package.run(locked if package.lock else plain)),)
    return ProjectCommands(
        setup=setup,
        build=build,
        test=test,
        lint=lint,
        notes=(note,) if mends else (),
    )


def _package(listing: Listing, folder: str, content: Mapping[str, object]) -> _Package:
    """Return a package with the manager that it names, else the one with a lock file, else npm."""
    named, _, version = string(content.get("packageManager")).partition("@")
    locks = {
        manager: path for file, manager in _LOCKS.items() if listing.has(path := join(folder, file))
    }
    manager = named if named in MANAGERS else next(iter(locks), "npm")
    lock = locks.get(manager, "")
    newer = listing.has(join(folder, ".yarnrc.yml")) or version.split(".")[0] not in {"", "1"}
    return _Package(
        folder=folder,
        manifest=join(folder, _MANIFEST),
        scripts=_scripts(content),
        members=tuple(_members(listing, folder, content)),
        manager=_BERRY if manager == "yarn" and newer else manager,
        lock=lock,
    )


def _scripts(content: Mapping[str, object]) -> dict[str, str]:
    """Return the scripts that do something. The placeholder test of `npm init` does not."""
    named = {name: string(line) for name, line in table(content.get("scripts")).items()}
    return {
        name: line
        for name, line in named.items()
        if line.strip() and "no test specified" not in line
    }


def _members(
    listing: Listing, folder: str, content: Mapping[str, object]
) -> Iterator[dict[str, str]]:
    """Yield the scripts of the packages in a workspace.

    npm, Yarn and Bun list them in package.json, pnpm in its own file.
    """
    workspaces = content.get("workspaces")
    patterns = strings(workspaces) or strings(table(workspaces).get("packages"))
    pnpm = listing.text(join(folder, "pnpm-workspace.yaml"))
    patterns += tuple(re.findall(r"""^[^\S\n]*-\s*["']?([^"'#\s!]+)""", pnpm, re.MULTILINE))
    for path in listing.own(folder) if patterns else ():
        inner = dirname(path)[len(folder) + 1 if folder else 0 :]
        if path.endswith(f"/{_MANIFEST}") and any(
            fnmatch(inner, pattern.removeprefix("./").rstrip("/")) for pattern in patterns
        ):
            yield _scripts(json_object(listing.text(path)))


NATIVE = (find_node, find_go, find_rust, find_jvm, find_ruby)
