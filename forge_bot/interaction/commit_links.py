"""Links to documents: addresses with a commit, so that they stay valid, or paths if there
is no address.
"""

from pydantic import Field

from forge_bot.forge import page_of
from forge_bot.prompts import escape
from forge_bot.sentences import say
from forge_bot.values import Frozen

_SHORT = 7


class Links(Frozen):
    """The parts of addresses. `commit` has to be on GitHub already; it is empty if nothing of the
    run is there.
    """

    repository: str = Field(
        default="",
        pattern=r"^(https?://[^\s()<>]+[^/\s()<>])?$",
        description="for example https://github.com/octo/rota; empty: paths instead",
    )
    commit: str = Field(default="", pattern=r"^([0-9a-f]{40}([0-9a-f]{24})?)?$")
    workspace: str = Field(description="the run's folder, relative to the repository")
    job: str = Field(default="", description="address of the workflow run")
    question: str = Field(default="", description="address of the comment with the open question")

    def file(self, path: str) -> str:
        """A file of the repository, at the commit."""
        return page_of(self.repository, "file", commit=self.commit, path=path)

    def commit_link(self, commit: str) -> str:
        """A commit of the repository, as a link that shows its beginning."""
        page = page_of(self.repository, "commit", commit=commit)
        return f"[{escape.code(short(commit))}]({page})"

    def pull_request(self, number: int) -> str:
        """A pull request of the repository."""
        return page_of(self.repository, "pull request", number=str(number))

    def artifact(self, name: str) -> str:
        """A document of the run, at the commit."""
        return self.file(f"{self.workspace}/{name}")

    def named(self, name: str) -> str:
        """A document of the run as a link that shows its name, or the name where there is no
        address or nothing of the run is on GitHub: the text says once in which folder it is.
        """
        if not (self.repository and self.commit):
            return escape.code(name)
        return f"[{name.removesuffix('.md')}]({self.artifact(name)})"

    def all_documents(self, label: str) -> str:
        """A label that leads to the folder of the run."""
        if not self.repository:
            return say("words.in_folder", label=label, folder=escape.code(self.workspace))
        return f"[{label}]({self.folder})"

    @property
    def folder(self) -> str:
        """All documents of the run, at the commit; the list of branches without one."""
        return self._folder(self.workspace)

    @property
    def tree(self) -> str:
        """All files at the commit, which stays when branches are deleted; the list of branches
        without one.
        """
        return self._folder("")

    def _folder(self, path: str) -> str:
        page = "folder" if self.commit else "branches"
        return page_of(self.repository, page, commit=self.commit, path=path)

    def compare(self, base: str, branch: str) -> str:
        """The page that shows the change and can open a pull request from it."""
        return page_of(self.repository, "comparison", base=base, branch=branch)

    @property
    def settings(self) -> str:
        """Return the settings page where maintainers allow workflows to open pull requests."""
        return page_of(self.repository, "settings")

    @property
    def secrets(self) -> str:
        """Return the settings page for the keys of workflows."""
        return page_of(self.repository, "secrets")


def short(commit: str) -> str:
    """A commit or digest as people name it."""
    return commit[:_SHORT]
