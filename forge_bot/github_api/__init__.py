"""What we need of GitHub: today, to read an issue."""

from forge_bot.github_api.issue import Issue, IssueRef, fetch_issue, parse_issue_url

__all__ = ["Issue", "IssueRef", "fetch_issue", "parse_issue_url"]
