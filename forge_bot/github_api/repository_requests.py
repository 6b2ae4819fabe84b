"""Send requests within one repository, under its current name and with complete lists."""

from collections.abc import Iterator, Mapping
from typing import Any

from forge_bot.errors import MovedElsewhere
from forge_bot.github_api.json_models import RepositoryWire
from forge_bot.github_api.request_runner import ApiRequest, ApiResponse, RequestRunner, Verb
from forge_bot.sentences import say

PAGE = {"per_page": "100"}


class RepositoryRequests:
    """A repository by its name, owner/name. The name is updated if the repository was renamed."""

    def __init__(self, name: str, caller: RequestRunner) -> None:
        self.name, self.caller = name, caller

    def ask(
        self,
        errand: ApiRequest,
        verb: Verb,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
    ) -> ApiResponse:
        """Send a request in the repository.

        A write is repeated once if the repository has another name now.
        """
        try:
            return self.caller.ask(
                errand, verb, f"/repos/{self.name}{path}", query=query, body=body
            )
        except MovedElsewhere:
            name = self._current_name(errand)
            if name == self.name:
                raise
            self.name = name
            return self.caller.ask(errand, verb, f"/repos/{name}{path}", query=query, body=body)

    def _current_name(self, errand: ApiRequest) -> str:
        return self.caller.ask(errand, "GET", f"/repos/{self.name}").read(RepositoryWire).full_name

    def pages(
        self, errand: ApiRequest, path: str, query: Mapping[str, str] = PAGE
    ) -> Iterator[ApiResponse]:
        """Yield the pages of a list."""
        page = self.ask(errand, "GET", path, query=query)
        yield page
        while page.following:
            # The URL is GitHub's own. PyGithub receives only its path, so that the token stays at
            # its host.
            page = self.caller.ask(errand, "GET", page.following)
            yield page

    def check(self, errand: ApiRequest, repository: str, page: str) -> None:
        """Raise MovedElsewhere for a result that belongs to another `repository`.

        `page` is the place where a person finds it. GitHub redirects a read silently, both for a
        renamed repository and for an issue that was transferred to another one.
        """
        there = "/".join(repository.split("/")[-2:])
        if not repository or there.lower() == self.name.lower():
            return
        self.name = self._current_name(errand)
        if there.lower() != self.name.lower():
            raise MovedElsewhere(
                say("github.repository_requests.moved", what=errand.what, page=page), to=page
            )
