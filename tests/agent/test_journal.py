"""The journal: nothing that was answered is forgotten, nothing secret is written, and a torn line
harms nobody.
"""

import base64
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from urllib.parse import quote

import pytest

from forge_bot.agent.capabilities import CapabilityResult, ResultStatus
from forge_bot.agent.journal import Journal
from forge_bot.agent.models.base import ChatMessage, FinishReason, Image, MessageRole, ModelReply
from forge_bot.agent.redaction import redactor
from forge_bot.errors import DiskFull
from forge_bot.values import Usage
from tests.fakes.rows import rows

ROWS = rows(__file__)

REPLY = ModelReply(
    text="answer ✓",
    usage=Usage(calls=1, input_tokens=5, cost=Decimal("0.1")),
    finish=FinishReason.STOP,
)
NOTE = CapabilityResult(
    key="1.1-x",
    capability="look",
    params="{}",
    status=ResultStatus.OK,
    content="found ✓",
    note="lines 1-2",
)
PICTURE = Image(label="shot.png", media_type="image/png", digest="0" * 64)
QUESTION = (ChatMessage(role=MessageRole.USER, text="Why?", images=(PICTURE,)),)


SECRET = 'pa+ss/w=rd&"with" signs?1234'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "journal.jsonl"


def ask(journal: Journal, key: str, reserved: str = "0.5") -> None:
    journal.started(key, "a:b", Decimal(reserved), QUESTION)


def test_replies_and_observations_come_back_whole_in_another_process(path: Path) -> None:
    journal = Journal(path, {})
    ask(journal, "a1@#1")
    journal.finished("a1@#1", REPLY)
    journal.looked("a1@#1.1-x", NOTE)
    again = Journal(path, {})
    assert again.answered("a1@#1") == REPLY
    assert again.sent("a1@#1") == QUESTION
    assert again.observed("a1@#1.1-x") == NOTE
    assert again.take_lost("a1@#") == ()


def test_what_a_skill_cost_counts_with_its_result_and_what_nobody_reads_counts_once(
    path: Path,
) -> None:
    journal = Journal(path, {})
    for key in ("a1/2@x#1", "a1/2@x#1.1-ab/2@#1", "a1/2@y#1", "a2@x#1"):
        journal.finished(key, REPLY)
    journal.looked("a1/2@x#1.1-ab", NOTE)
    again = Journal(path, {})
    again.answered("a1/2@x#1")
    again.observed("a1/2@x#1.1-ab")
    assert again.unread("a1/2@") == REPLY.usage


def test_what_was_sent_counts_as_such_only_with_its_answer(path: Path) -> None:
    journal = Journal(path, {})
    ask(journal, "a1@#1")
    assert Journal(path, {}).sent("a1@#1") == ()
    journal.finished("a1@#1", REPLY)
    assert Journal(path, {}).sent("a1@#1") == QUESTION


def test_only_its_owner_can_read_it(path: Path) -> None:
    ask(Journal(path, {}), "a1@#1")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_call_that_never_ended_counts_what_was_reserved_for_it_once(path: Path) -> None:
    first = Journal(path, {})
    ask(first, "a1@#1", "0.5")
    ask(first, "a1/T2@#1", "0.25")
    second = Journal(path, {})
    assert second.take_lost("a1@#") == (Decimal("0.5"),)
    assert second.take_lost("a1@#") == ()
    assert second.take_lost("a1/T2@#") == (Decimal("0.25"),)
    ask(second, "a1@#1", "0.5")
    second.finished("a1@#1", REPLY)
    assert Journal(path, {}).take_lost("a1@#") == (Decimal("0.5"),)


def test_a_call_that_failed_is_not_charged_unless_the_provider_may_have_worked(path: Path) -> None:
    journal = Journal(path, {})
    for key, paid in (("a1@#1", False), ("a1@#2", True)):
        ask(journal, key)
        journal.failed(key, "busy", paid=paid)
    assert Journal(path, {}).take_lost("a1@#") == (Decimal("0.5"),)


def test_a_torn_last_line_is_dropped_wherever_it_was_torn(path: Path) -> None:
    journal = Journal(path, {})
    journal.finished("a1@#1", REPLY)
    whole = path.read_bytes()
    journal.finished("a1@#2", REPLY)
    torn = path.read_bytes()
    for length in range(len(whole), len(torn)):
        path.write_bytes(torn[:length])
        again = Journal(path, {})
        assert again.answered("a1@#1") == REPLY
        assert again.answered("a1@#2") is None
        again.looked("a1@#1.1-x", NOTE)
        assert Journal(path, {}).observed("a1@#1.1-x") == NOTE


def test_a_damaged_line_in_the_middle_costs_only_itself(path: Path) -> None:
    journal = Journal(path, {})
    journal.finished("a1@#1", REPLY)
    with path.open("ab") as file:
        file.write(b'{"entry": "finished", "key": 7}\n\xff\xfe\n')
    journal.finished("a1@#2", REPLY)
    again = Journal(path, {})
    assert again.answered("a1@#1") == again.answered("a1@#2") == REPLY


def test_secrets_of_the_environment_never_reach_the_file_and_the_kept_text_is_what_is_used(
    path: Path,
) -> None:
    secret = 'sk-"quoted"\\key-1234'
    journal = Journal(path, {"ANTHROPIC_API_KEY": secret, "HOME": "/home/somebody"})
    journal.started(
        "a1@#1",
        "a:b",
        Decimal(0),
        (ChatMessage(role=MessageRole.USER, text=f"the key is {secret}"),),
    )
    reply = journal.finished("a1@#1", ModelReply(text=f"I saw {secret} in /home/somebody"))
    found = journal.looked("a1@#1.1-x", NOTE.model_copy(update={"content": f"KEY={secret}"}))
    journal.failed("a1@#2", f"refused {secret}", paid=False)
    assert reply.text == "I saw [ANTHROPIC_API_KEY] in /home/somebody"
    assert found.content == "KEY=[ANTHROPIC_API_KEY]"
    assert "1234" not in path.read_text()
    assert Journal(path, {}).answered("a1@#1") == reply


@pytest.mark.parametrize(("name", "value", "struck"), ROWS["a_variable_is_a_secret"])
def test_a_variable_is_a_secret_by_its_name_and_if_it_is_long_enough(
    name: str, value: str, struck: bool
) -> None:
    assert (value not in redactor({name: value})(f"<{value}>")) is struck


@pytest.mark.parametrize(
    "address",
    ["postgresql://app:hunter2hunter2@db:5432/app", "https://:hunter2hunter2@host/simple"],
)
def test_a_password_in_an_address_is_struck_and_the_rest_of_the_address_stays(address: str) -> None:
    strike = redactor({"DATABASE_URL": address})
    assert strike(f"<{address}>") == f"<{address.replace('hunter2hunter2', '[DATABASE_URL]')}>"
    assert strike("hunter2hunter2") == "[DATABASE_URL]"
    assert redactor({"DOCS_URL": "https://host:8080/a@b"})("8080/a@b") == "8080/a@b"


def test_of_two_secrets_the_longer_is_struck_first() -> None:
    strike = redactor({"A_TOKEN": "12345678", "B_TOKEN": "12345678-and-more"})
    assert strike("12345678-and-more") == "[B_TOKEN]"


def test_lines_from_several_threads_stay_whole(path: Path) -> None:
    journal = Journal(path, {})
    big = NOTE.model_copy(update={"content": "x" * 50_000})
    with ThreadPoolExecutor(8) as pool:
        for number in range(32):
            pool.submit(journal.looked, f"a1@#1.{number}-x", big)
    again = Journal(path, {})
    assert all(again.observed(f"a1@#1.{number}-x") == big for number in range(32))
    assert path.stat().st_size > 32 * 50_000


def test_an_entry_that_finds_no_room_leaves_no_half_of_itself(path: Path) -> None:
    # In a process of its own, since a limit on the size of files holds for all that a process
    # writes.
    code = f"""
import resource
from pathlib import Path
from forge_bot.agent.journal import Journal
from forge_bot.agent.models.base import ModelReply
journal = Journal(Path({str(path)!r}), {{}})
journal.finished("a1@#1", ModelReply(text="short"))
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
try:
    journal.finished("a1@#2", ModelReply(text="long" * 4096))
except OSError as error:
    print(error.strerror)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
journal.finished("a1@#3", ModelReply(text="after"))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "File too large\n"
    again = Journal(path, {})
    assert [again.answered(key) is not None for key in ("a1@#1", "a1@#2", "a1@#3")] == [
        True,
        False,
        True,
    ]


def test_no_question_goes_out_whose_answer_could_not_be_kept() -> None:
    with pytest.raises(DiskFull, match="could not be kept"):
        ask(Journal(Path("/proc/self/journal.jsonl"), {}), "a1@#1")


FORMS = {
    "plain": SECRET,
    "base 64": base64.b64encode(SECRET.encode()).decode(),
    "base 64, one off": base64.urlsafe_b64encode(b"x:" + SECRET.encode() + b"yz").decode(),
    "hexadecimal": SECRET.encode().hex(),
    "large hexadecimal": SECRET.encode().hex().upper(),
    "address": quote(SECRET, safe=""),
    "path": quote(SECRET),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_a_secret_is_struck_in_every_form_that_programs_print(form: str) -> None:
    struck = redactor({"DB_PASSWORD": SECRET})(f"It is {form}.")
    assert "[DB_PASSWORD]" in struck
    assert len(struck) < len("It is [DB_PASSWORD].") + 16, (
        "at most the signs of base 64 that depend on their neighbours are left"
    )


def test_each_line_of_a_key_of_several_lines_is_struck() -> None:
    key = (
        "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\nAASCBKcwggSjAgEAAoIBAQC7VJTU\n-----END"
        " KEY-----\n"
    )
    struck = redactor({"SIGNING_KEY": key})(
        "first MIIEvQIBADANBgkqhkiG9w0BAQEF then AASCBKcwggSjAgEAAoIBAQC7VJTU; -----BEGIN KEY-----"
    )
    assert struck == "first [SIGNING_KEY] then [SIGNING_KEY]; -----BEGIN KEY-----"
