"""Where things can be read on GitHub: addresses that name a commit, so that they show tomorrow what they show today."""

from urllib.parse import quote

from pydantic import Field

from forge_bot.values import Frozen

_SHORT = 7


class Links(Frozen):
    """What addresses are made of. `commit` has to be on GitHub already; it is empty where nothing of the run is."""

    repository: str = Field(pattern=r"^https?://[^\s()<>]+[^/\s()<>]$", description="for example https://github.com/octo/rota")
    commit: str = Field(pattern=r"^([0-9a-f]{40}([0-9a-f]{24})?)?$")
    workspace: str = Field(description="the run's folder, relative to the repository")
    job: str = Field(default="", description="address of the workflow run")
    question: str = Field(default="", description="address of the comment with the open question")

    def file(self, path: str) -> str:
        """A file of the repository, at the commit."""
        return f"{self.repository}/blob/{self.commit}/{quote(path)}"

    def artifact(self, name: str) -> str:
        """A document of the run, at the commit."""
        return self.file(f"{self.workspace}/{name}")

    def named(self, name: str) -> str:
        """A document of the run as a link that shows its name."""
        return f"[{name.removesuffix('.md')}]({self.artifact(name)})"

    @property
    def folder(self) -> str:
        """All documents of the run, at the commit; the list of branches where there is none."""
        return f"{self.repository}/branches" if not self.commit else f"{self.repository}/tree/{self.commit}/{quote(self.workspace)}"

    def branch(self, name: str) -> str:
        """A branch, as it is when somebody looks."""
        return f"{self.repository}/tree/{quote(name)}"

    def compare(self, base: str, branch: str) -> str:
        """The page that shows the change and can open a pull request from it."""
        return f"{self.repository}/compare/{quote(base)}...{quote(branch)}?expand=1"

    @property
    def settings(self) -> str:
        """Where maintainers allow workflows to open pull requests."""
        return f"{self.repository}/settings/actions"

    @property
    def secrets(self) -> str:
        """Where maintainers put keys for workflows."""
        return f"{self.repository}/settings/secrets/actions"


def short(commit: str) -> str:
    """A commit or digest as people name it."""
    return commit[:_SHORT]
