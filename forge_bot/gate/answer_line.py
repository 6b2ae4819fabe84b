"""An answer that was typed at a question, read by the same words as in a comment."""

import re

from forge_bot.gate.grammar import ANSWERS, NAMED, AnswerCommand, form_named
from forge_bot.gate.similar_words import nearest
from forge_bot.gate.written_command import Mistyped, WrittenCommand
from forge_bot.sentences import say


def read_answer(text: str, prefix: str = "") -> AnswerCommand | Mistyped:
    """Read an answer that was typed at a question, such as `approve 1a2b3c4` or `revise shorter`.

    The words are those of a comment: `approved` is a typo, never a yes. A slash before the word is
    allowed, and a colon after `reject`. A rejection may come without notes: a terminal asks for
    them, and the engine refuses it.
    """
    first, _, below = text.strip().partition("\n")
    word, *others = first.split(None, 1) or [""]
    name = word.casefold().removeprefix("/")
    form = form_named(name)
    name = name.removesuffix(":") if form is not None else name
    written = WrittenCommand(1, word, others[0].rstrip() if others else "", below.rstrip(), prefix)
    if name not in ANSWERS:
        return written.wrong(_meant_answer(name))
    if written.below and form is not NAMED["reject"]:
        return written.wrong(say("gate.answer_line.nothing_follows", name=name))
    return ANSWERS[name](written)


def _meant_answer(name: str) -> str:
    plain = re.sub(r"[^\w]|_", "", name)
    meant = plain if plain in ANSWERS else nearest(plain, ANSWERS)
    return say("gate.did_you_mean", meant=meant) if meant else say("gate.answer_line.no_answer")
