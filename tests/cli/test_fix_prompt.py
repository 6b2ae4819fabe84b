"""A task that mends what commands or a review found gets the source as it is now, the change so
far, and the words of what found it.
"""

import json
import re

import pytest

from tests.fakes.sample import Sample
from tests.fakes.script import BREAKS, GUARD, MENDS, TEST, Answer, change, review

pytestmark = pytest.mark.slow

TASK = "`rota who` names somebody for days before the rota starts"
BROKEN = change(GUARD, TEST, BREAKS)


def shown_to_fix(sample: Sample, answers: dict[tuple[str, str, str], Answer]) -> dict[str, str]:
    """Take a run to its end; what the prompt of its task to mend something shows, by name."""
    model = sample.model(answers)
    assert sample.forge("run", TASK, "--effort", "S", "--model", model).code == 3
    done = sample.forge("approve", "--model", model)
    assert done.code == 0, done.err
    (journal,) = sample.path.parent.rglob("journal.jsonl")
    entries = [json.loads(line) for line in journal.read_text().splitlines()]
    asked = [message["text"] for each in entries for message in each.get("messages", ())]
    prompt = next(text for text in asked if "\nTask fix-1: " in text)
    marked = r'<untrusted-text source="([^"]*)">\n(.*?)\n?</untrusted-text'
    return dict(re.findall(marked, prompt, re.DOTALL))


def test_what_the_verification_found_comes_with_source_diff_and_tracebacks(sample: Sample) -> None:
    shown = shown_to_fix(
        sample,
        {
            ("implementer", "*", "1/1.1"): BROKEN,
            # The same again when it comes back red: then the verification finds it.
            ("implementer", "*", "1/1.1~2"): BROKEN,
            ("implementer", "*", "fix-1/1.1"): change(MENDS),
        },
    )
    assert "        return self.people[0]\n" in shown["rota/schedule.py, as it is now"]
    diff = shown["all changes of the run"]
    assert "-        return self.people[shift % len(self.people)]\n" in diff
    assert "+++ b/tests/test_before.py" in diff
    said = shown["final-verification.md"]
    new = said.partition("but these are new: ")[2].partition(".\n")[0]
    titles = re.findall(r"(\w+) \(", new)
    assert len(titles) == 4
    begins = [said.index(f"\nFAIL: {title} ") for title in titles]
    failed_before = said.find("\nFAIL: test_a_stranger_is_told ")
    assert all(failed_before == -1 or place < failed_before for place in begins)
    assert said.count("Traceback (most recent call last):") >= 4
    assert {"tests/test_schedule.py", "tests/test_cli.py"} <= set(shown), "named in tracebacks"


def test_what_a_review_found_comes_with_source_and_diff(sample: Sample) -> None:
    shown = shown_to_fix(
        sample,
        {
            ("implementer", "*", "1/1.1"): change(GUARD, TEST),
            ("implementer", "*", "fix-1/1.1"): change(),
            ("comprehensive-reviewer", "*", "1.1"): review(
                "FAIL", "[MAJOR] `rota/cli.py` does not say so", extra=["Requirements"]
            ),
        },
    )
    assert "`rota/cli.py` does not say so" in shown["comprehensive-review.md"]
    assert "if day < self.start:" in shown["rota/schedule.py, as it is now"]
    command = "".join(text for name, text in shown.items() if name.startswith("rota/cli.py"))
    whole = (sample.path / "rota/cli.py").read_text().splitlines()
    assert {*whole} <= {*command.splitlines()}, "in the parts that stand before and with the task"
    assert "+            return None\n" in shown["all changes of the run"]
