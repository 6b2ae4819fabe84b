"""Finds forge-bot's own comments in a thread by their hidden marks, so that nothing is said
twice.
"""

from dataclasses import dataclass

from forge_bot.gate.github import ApiAnswer, GateClient
from forge_bot.gate.people import read_account
from forge_bot.sentences import say

PAGE = 100
MOST_PAGES = 20
"""Pages of comments that are read. A thread that is longer gets no new words from the gate."""


@dataclass(frozen=True, slots=True)
class OwnComment:
    """A comment that forge-bot wrote."""

    id: int
    body: str

    def marked(self, mark: str) -> bool:
        """Return whether it ends with this mark."""
        return self.body.rstrip().endswith(mark)


class OwnComments:
    """One issue or pull request. Its comments are read once, when somebody asks, and only the own
    ones are kept.
    """

    def __init__(self, github: GateClient, number: int, own: str) -> None:
        self.number = number
        self._github = github
        self._own = own
        self._comments: list[OwnComment] | None = None
        self._trouble = ""
        self._read = False

    def find(self, mark: str) -> OwnComment | None:
        """The first own comment with this mark. Anybody can copy a mark, so the author decides."""
        return next(
            (comment for comment in self._own_comments() or () if comment.marked(mark)), None
        )

    def say_once(self, mark: str, text: str) -> tuple[OwnComment | None, str]:
        """Write a comment that ends with this mark, unless it exists. Return the comment, or None
        and the reason.
        """
        comments = self._own_comments()
        if comments is None:
            return None, self._trouble
        if (written := self.find(mark)) is not None:
            return written, ""
        answer = self._github.comment(self.number, text)
        return self._written(answer, text, comments)

    def _written(
        self, answer: ApiAnswer, text: str, comments: list[OwnComment]
    ) -> tuple[OwnComment | None, str]:
        number = answer.body.number("id")
        if not answer.good or number is None:
            return None, answer.told
        comment = OwnComment(number, text)
        comments.append(comment)
        account = read_account(answer.body["user"])
        if account is not None and not account.named(self._own):
            return comment, say("gate.own_comments.other_login", login=account.login)
        return comment, ""

    def _own_comments(self) -> list[OwnComment] | None:
        if not self._read:
            self._read = True
            self._comments = self._load()
        return self._comments

    def _load(self) -> list[OwnComment] | None:
        comments: list[OwnComment] = []
        for page in range(1, MOST_PAGES + 1):
            answer = self._github.comments(self.number, page, PAGE)
            if not answer.good or not isinstance(answer.body.value, list):
                self._trouble = say("gate.own_comments.unreadable", reason=answer.told)
                return None
            count = 0
            for node in answer.body.items():
                count += 1
                author, number = read_account(node["user"]), node.number("id")
                if author is not None and author.named(self._own) and number is not None:
                    comments.append(OwnComment(number, node.text("body")))
            if count < PAGE:
                return comments
        self._trouble = say("gate.own_comments.too_many", most=MOST_PAGES * PAGE)
        return None
