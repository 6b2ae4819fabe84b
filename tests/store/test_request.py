"""request.md, as it is written and read."""

from forge_bot.store import Request, read_request, render_request
from forge_bot.values import Effort, Source

REQUEST = Request(
    title="Nobody before the start",
    text=(
        "Nobody is on call before the start.\n\n---\n\nA line of three dashes is no end of"
        " anything."
    ),
    source=Source(
        type="github_issue", id="42", url="https://github.com/o/r/issues/42", author="ann"
    ),
    labels=("bug",),
    effort=Effort.M,
    effort_reason="two modules",
)


def test_the_source_stands_first_in_keys_of_its_own() -> None:
    text = render_request(REQUEST)
    assert text.startswith(
        "---\nsource_type: github_issue\nsource_id: '42'\nsource_url:"
        " https://github.com/o/r/issues/42\n"
    )
    assert read_request(text) == REQUEST
