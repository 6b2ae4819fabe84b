"""The package manager of a JavaScript project, with its install and run commands."""

from collections.abc import Mapping

from forge_bot.project.file_list import Listing, join
from forge_bot.project.lenient_config import string
from forge_bot.values import Frozen

_LOCKS = (
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("package-lock.json", "npm"),
    ("npm-shrinkwrap.json", "npm"),
)

MANAGERS = {"npm": "--prefix", "pnpm": "--dir", "yarn": "--cwd", "bun": "--cwd"}
"""The package managers, each with its option for the folder."""


class Manager(Frozen):
    """A package manager in a folder: its name, the evidence for it, and the lock file, if any."""

    name: str
    folder: str
    reason: str
    lock: str
    berry: bool = False

    def install(self) -> tuple[str, ...]:
        """Return the command that installs the locked versions, or else those of package.json.

        It writes no lock file.
        """
        match self.name, bool(self.lock):
            case "pnpm", True:
                return self._run("install", "--frozen-lockfile")
            case "pnpm", False:
                return self._run("install", "--no-lockfile")
            case "yarn", True:
                return self._run("install", "--immutable" if self.berry else "--frozen-lockfile")
            case "yarn", False:
                return self._run("install") if self.berry else self._run("install", "--no-lockfile")
            case "bun", True:
                return self._run("install", "--frozen-lockfile")
            case "bun", False:
                return self._run("install", "--no-save")
            case _, True:
                return self._run("ci", "--no-audit", "--no-fund")
            case _:
                return self._run("install", "--no-audit", "--no-fund", "--no-package-lock")

    def script(self, name: str) -> tuple[str, ...]:
        """Return the command that runs a script of package.json."""
        return (
            self._run("test") if name == "test" and self.name != "bun" else self._run("run", name)
        )

    def everywhere(self, name: str) -> tuple[str, ...]:
        """Return the command that runs a script in each package of the workspace that has it."""
        match self.name:
            case "pnpm":
                return self._run("-r", "--if-present", "run", name)
            case "yarn":
                return (
                    self._run("workspaces", "foreach", "-A", "run", name)
                    if self.berry
                    else self._run("workspaces", "run", name)
                )
            case "bun":
                return self._run("run", "--filter", "*", name)
            case _:
                return self._run("run", name, "--workspaces", "--if-present")

    def _run(self, *arguments: str) -> tuple[str, ...]:
        return (self.name, *((MANAGERS[self.name], self.folder) if self.folder else ()), *arguments)


def read_manager(listing: Listing, folder: str, package: Mapping[str, object]) -> Manager:
    """Return the manager that package.json names, else the one with a lock file, else npm."""
    named, _, version = string(package.get("packageManager")).partition("@")
    known = {manager for _, manager in _LOCKS}
    locks = [
        (join(folder, file), manager) for file, manager in _LOCKS if listing.has(join(folder, file))
    ]
    name = named if named in known else locks[0][1] if locks else "npm"
    lock = next((file for file, manager in locks if manager == name), "")
    manifest = join(folder, "package.json")
    reason = lock or (f"{manifest} names {name}" if named == name else manifest)
    berry = name == "yarn" and (
        listing.has(join(folder, ".yarnrc.yml")) or version.split(".")[0] not in {"", "1"}
    )
    return Manager(name=name, folder=folder, reason=reason, lock=lock, berry=berry)
