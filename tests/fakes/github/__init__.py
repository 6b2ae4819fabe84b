"""A GitHub to test against: stateful, over real HTTP, with a bare git repository as its truth.

Every exchange is held against GitHub's own OpenAPI description and GraphQL schema; what does not
fit lies in `findings`, and the fixture `github` makes the test fail with it.
"""

from tests.fakes.github.exchanges import Exchange
from tests.fakes.github.hub import FakeGitHub
from tests.fakes.github.people import Role, User
from tests.fakes.github.state import Check, Comment, Issue, Repository

__all__ = ["Check", "Comment", "Exchange", "FakeGitHub", "Issue", "Repository", "Role", "User"]
