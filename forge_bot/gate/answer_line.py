"""An answer that was typed at a question, read by the same words as in a comment."""

from forge_bot.gate.grammar import ANSWERS, NAMED, AnswerCommand
from forge_bot.gate.parse_comment import named_word
from forge_bot.gate.written_command import LONGEST_SHOWN, Mistyped, WrittenCommand
from forge_bot.sentences import say


def read_answer(text: str, prefix: str = "") -> AnswerCommand | Mistyped:
    """Read an answer that was typed at a question, such as `approve 1a2b3c4` or `revise shorter`.

    The words are those of a comment: `approved` is never a yes. A slash before the word is
    allowed, and a colon after `reject`. A rejection may come without notes: a terminal asks for
    them, and the engine refuses it.
    """
    first, _, below = text.strip().partition("\n")
    name, word, rest = named_word(first)
    if name not in ANSWERS:
        return Mistyped(1, first[:LONGEST_SHOWN], say("gate.answer_line.no_answer"))
    takes_notes = name in NAMED and NAMED[name].takes_notes
    written = WrittenCommand(1, word, rest, below.rstrip(), prefix)
    if written.below and not takes_notes:
        return written.wrong(say("gate.answer_line.nothing_follows", name=name))
    return ANSWERS[name](written)
