"""How often GitHub is asked for one event; docs/github.md says the same numbers."""

import re
from pathlib import Path

from tests.bot.stage import Stage, heard

DOCS = Path(__file__).parents[2] / "docs" / "github.md"


def test_an_event_costs_as_many_requests_as_the_docs_say(stage: Stage) -> None:
    found: dict[str, int] = {}

    def counted(name: str, since: int) -> int:
        asked = [words for words in stage.hub.asked(since=since) if ".git/" not in words]
        found[name] = len(asked)
        return len(stage.hub.exchanges)

    heard(stage.say("Just a remark.", by="stranger"))
    place = counted("a comment without a command", 0)
    heard(stage.say("/approve", by="stranger"))
    place = counted("a command of somebody who may not", place)
    stage.label()
    place = counted("a start, up to the first question", place)
    heard(stage.say("/forge status"))
    place = counted("`status`", place)
    heard(stage.say("/approve"))
    counted("an approval, with all work to the pull request", place)

    rows = re.findall(r"^\| (.+?) \| (\d+)", DOCS.read_text(encoding="utf-8").partition("## Events")[2], re.MULTILINE)
    assert {name: int(number) for name, number in rows} == found
