"""Commands in comments that are made up, compared with what a page shows as the author's own words,
and with what the gate is certain of.
"""

import random
import re
from collections.abc import Iterator
from typing import Any, cast

import html5lib
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from forge_bot.bot.comment_markdown import MOST_HTML, parse_comment
from forge_bot.gate.candidate_lines import read_candidates
from tests.fakes.examples import at_most

# Elements whose text is folded, another's, code, struck out, or not shown at all.
NOT_SPOKEN = {
    *(
        "blockquote",
        "details",
        "q",
        "pre",
        "code",
        "samp",
        "kbd",
        "tt",
        "del",
        "s",
        "strike",
        "script",
        "style",
        "template",
    ),
    *("textarea", "title", "iframe", "noembed", "noframes", "xmp"),
}
PARSER = MarkdownIt("commonmark").enable("strikethrough")
HTML = cast("Any", html5lib)
COMMANDS = ["/cmd", " /cmd", "  /cmd", "   /cmd"]
PIECES = [
    *(
        "    /cmd",
        "\t/cmd",
        "> foo",
        ">",
        "> > a",
        "> ```",
        "> - q",
        ">\tq",
        "```",
        "~~~",
        "````py",
        "  ```",
        "- ```",
        "      code",
    ),
    *(
        "- a",
        "-",
        "1. b",
        "2) c",
        "   - n",
        "-     z",
        "-\tq",
        "1986. y",
        "+ ",
        "10. w",
        "*",
        "* * *",
        "***",
        "---",
        "===",
        "# h",
        "",
        "",
        " ",
    ),
    *("foo", "`a", "b`", "``", "\\`", "***a", "~~", "a ~~b", "b~~ c", "&lt;", "\\"),
    *(
        "<div>",
        "</div>",
        "<!-- x",
        "-->",
        "foo <!-- y",
        "--!>",
        "<!-->",
        "<details>",
        "</details>",
        "foo <del>",
        "</del>",
        '<a href="',
        '">',
    ),
    *(
        "<b>",
        "</b>",
        "x <i",
        "y>",
        "<?p",
        "?>",
        "<![CDATA[",
        "]]>",
        "<!X",
        ">z",
        "<pre>",
        "</pre>",
        "<script>",
        "</script>",
        "<foo>",
        "</foo >",
    ),
    *(
        "<p",
        "<t-a b='",
        "'>",
        "<textarea>",
        "</textarea>",
        "<s>x</s>",
        "<code>",
        "</code>",
        "<blockquote>",
        "</blockquote>",
        "<br>",
        "<!-",
    ),
    *(
        "[a]: /x",
        "[a",
        "](b)",
        "![x",
        "](",
        '"t',
        '")',
        ")",
        '[r]: <x> "',
        '"',
        "[x](y) z",
        "(u)",
        "[^1]: n",
        "]: /y",
        "![i](",
        "[t][a",
        "]",
    ),
]


def shown_by_a_browser(body: str) -> set[int]:
    """The numbers of the words `/cmd7` that stand in text a reader takes for the author's."""
    tree = HTML.parseFragment(PARSER.render(body), treebuilder="etree", namespaceHTMLElements=False)
    return {
        int(number)
        for text in _texts(tree)
        for number in re.findall(r"(?:^|\s)/cmd(\d+)(?!\S)", text)
    }


def _texts(element: Any) -> Iterator[str]:
    if isinstance(element.tag, str) and element.tag not in NOT_SPOKEN:
        yield element.text or ""
        for child in element:
            yield from _texts(child)
    yield element.tail or ""


def speaking(body: str) -> set[int]:
    """The numbers of the lines on which a comment says `/status`."""
    return {part.line - 1 for part in parse_comment(body.replace("/cmd", "/status "))}


def numbered(lines: list[str]) -> str:
    return "\n".join(line.replace("/cmd", f"/cmd{number}") for number, line in enumerate(lines))


def certain(body: str) -> set[int] | None:
    """The lines with a command of which the gate is certain; None where it is not."""
    found = read_candidates(body.replace("/cmd", "/status "), "/forge", bare=True)
    return {part.line - 1 for part in found.said} if found.certain else None


@settings(max_examples=at_most(200), deadline=None)
@given(st.lists(st.sampled_from(COMMANDS) | st.sampled_from(PIECES), min_size=2, max_size=9))
def test_no_line_speaks_that_a_browser_would_not_show(lines: list[str]) -> None:
    body = numbered(lines)
    assert speaking(body) <= shown_by_a_browser(body)


@settings(max_examples=at_most(400), deadline=None)
@given(st.lists(st.sampled_from(COMMANDS) | st.sampled_from(PIECES), min_size=1, max_size=9))
def test_what_the_gate_is_certain_of_speaks(lines: list[str]) -> None:
    body = numbered(lines)
    known = certain(body)
    assert known is None or known == speaking(body)


def test_lines_of_many_made_up_comments_speak_only_if_shown_and_mostly_do() -> None:
    chance = random.Random(20261121)  # noqa: S311 - the same comments each time
    spoken = shown = sure = 0
    for _ in range(1_200):
        lines = [
            chance.choice(COMMANDS) if chance.random() < 0.35 else chance.choice(PIECES)
            for _ in range(chance.randint(1, 8))
        ]
        body = numbered(lines)
        ours, theirs, known = speaking(body), shown_by_a_browser(body), certain(body)
        assert ours <= theirs, body
        assert known is None or known == ours, body
        spoken, shown, sure = spoken + len(ours), shown + len(theirs), sure + len(known or ())
    # What is shown in elements of HTML, in headings, tables, links and emphasis does not speak; the
    # rest has to. These comments are odd; of the others the gate is certain of nearly all.
    assert spoken > 0.5 * shown
    assert sure > 0.1 * spoken


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_line_ends_of_every_system_are_read(ending: str) -> None:
    assert speaking(ending.join(["a", "/cmd", "b"])) == {1}


def test_other_characters_that_end_lines_elsewhere_do_not() -> None:
    assert speaking("> said\u2028/cmd\x0b/cmd\x85/cmd") == set()


def test_a_text_nested_beyond_reading_says_nothing() -> None:
    assert speaking(">" * 200 + "/cmd") == set()


def test_a_comment_of_nothing_but_html_says_nothing_and_takes_no_time() -> None:
    assert speaking("<br>\n\n" * MOST_HTML + "/cmd") == {2 * MOST_HTML}
    assert speaking("<br>\n\n" * (MOST_HTML + 1) + "/cmd") == set()
