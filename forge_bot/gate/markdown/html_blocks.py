"""Where a block of HTML begins and ends in CommonMark, and what a tag looks like (sections 4.6 and
6.6 of its text).
"""

import re

_ATTRIBUTE = r"\s++[A-Za-z_:][\w.:-]*+(?:\s*+=\s*+(?:[^\s\"'=<>`]++|'[^']*+'|\"[^\"]*+\"))?+"
OPEN_TAG = rf"<(?P<opens>[A-Za-z][A-Za-z0-9-]*+)(?:{_ATTRIBUTE})*+\s*+/?>"
CLOSE_TAG = r"</(?P<closes>[A-Za-z][A-Za-z0-9-]*+)\s*+>"
TAG = re.compile(rf"{OPEN_TAG}|{CLOSE_TAG}", re.ASCII)
COMMENT = re.compile(r"<!--(?:-?>|.*?--!?>)|<(?:[!?](?!--)|/(?![A-Za-z]))[^>]*+>", re.DOTALL)
"""A comment as browsers read it, which take much for one: `<?…>`, `<![CDATA[…>`, `</ …>`."""

_BLOCK_NAMES = (
    "address article aside base basefont blockquote body caption center col colgroup dd details"
    " dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6"
    " head header hr html iframe legend li link main menu menuitem nav noframes ol optgroup option"
    " p param search section summary table tbody td tfoot th thead title tr track ul"
)
BLOCK_ELEMENTS = frozenset(_BLOCK_NAMES.split())

ENDS_AT_BLANK = re.compile(r"(?!)")
"""Never found in a line: such a block ends with the next blank one."""

_STARTS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = (
    (
        re.compile(r"<(?:script|pre|style|textarea)(?:\s|>|$)", re.IGNORECASE),
        re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE),
    ),
    (re.compile(r"<!--"), re.compile(r"-->")),
    (re.compile(r"<\?"), re.compile(r"\?>")),
    (re.compile(r"<![A-Za-z]"), re.compile(r">")),
    (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>")),
)
_ELEMENT = re.compile(r"</?([A-Za-z][A-Za-z0-9]*)(?:\s|/?>|$)")
_LONE_TAG = re.compile(rf"(?:{OPEN_TAG}|{CLOSE_TAG})\s*$", re.ASCII)


def html_start(text: str, within_paragraph: bool) -> re.Pattern[str] | None:
    """What ends the block of HTML that begins with this text; None when none does. A lone tag does
    not break a paragraph.
    """
    if text[0] != "<":
        return None
    for start, end in _STARTS:
        if start.match(text):
            return end
    if (element := _ELEMENT.match(text)) is not None and element[1].lower() in BLOCK_ELEMENTS:
        return ENDS_AT_BLANK
    return ENDS_AT_BLANK if not within_paragraph and _LONE_TAG.match(text) else None
