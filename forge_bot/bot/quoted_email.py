"""Find the mail that somebody answered, where their program copies it below without a `>`."""

import re
from collections.abc import Callable, Sequence

_SAID = (
    r"wrote|schrieb(?: .{1,100})?|a écrit|escribió|escreveu|ha scritto|schreef(?:"
    r" .{1,100})?|napisał(?:\(a\))?|skrev|kirjoitti"
    r"|написал(?:\(?а\)?)?|пишет|のメール|写道|寫道|님이 작성"
)
# A date or an address has to stand in the line, or any sentence with "wrote:" at its end would
# silence what follows.
_ATTRIBUTION = re.compile(rf"(?=.*[0-9@]).{{4,400}}?\b(?:{_SAID})\s*[:：]", re.IGNORECASE)
_DIVIDER = re.compile(
    r"\W{0,3}[-_=]{2,}\s*(?:original message|forwarded message|begin forwarded"
    r" message|ursprüngliche nachricht"
    r"|message d['’]origine|mensaje original|mensagem original|messaggio originale|oorspronkelijk"
    r" bericht"
    r"|исходное сообщение|原始邮件|元のメッセージ)\s*[-_=]{2,}.*",
    re.IGNORECASE,
)
_FROM = re.compile(
    r"\W{0,3}(?:from|von|de|da|van|fra|från|od|от|发件人|寄件者|差出人|보낸"
    r" 사람)\s?\W{0,3}[:：].*\S.*",
    re.IGNORECASE,
)
_HEADER = re.compile(
    r"\W{0,3}(?:sent|date|to|cc|subject|gesendet|datum|an|betreff|envoyé|à|objet|enviado|enviada"
    r" em|para|asunto|assunto|inviato|data|a"
    r"|oggetto|verzonden|aan|onderwerp|sendt|skickat|till|ämne|дата|отправлено|кому|тема|日時|宛先|件名"
    r"|发送时间|收件人|主题)\s?\W{0,3}[:：].*",
    re.IGNORECASE,
)
# Below a sender's address such lines are headings in any language.
_ANY_HEADER = re.compile(r"\W{0,3}[^\W\d][^:：]{0,30}[:：].*\S.*")
_ANY_FROM = re.compile(r"\W{0,3}[^\W\d][^:：]{0,20}[:：].*[^\s<@]@[^\s>@]+>?\W{0,3}")
_LONGEST = 400


def mail_begins(lines: Sequence[str], prose: Callable[[int], bool]) -> int | None:
    """Return the first line of the copied mail, counted from 0. Lines for which `prose` is false
    are quoted or code and are passed over.

    `On … wrote:` followed by `>` begins a mail only if nothing but quotes comes after it: otherwise
    that is the answer.
    """
    own = max(
        (
            number
            for number, line in enumerate(lines)
            if line.strip() and not line.lstrip().startswith(">")
        ),
        default=0,
    )
    for number, line in enumerate(lines):
        if not line.strip() or len(line) > _LONGEST or not prose(number):
            continue
        if _DIVIDER.fullmatch(line.strip()) or _headers(lines, number):
            return number
        if (last := _attributed(lines, number)) is not None and (
            own == last or not _quote_follows(lines, last)
        ):
            return number
    return None


def _headers(lines: Sequence[str], number: int) -> bool:
    """Return whether this line begins a mail's header: `From:` and at least two more headings, or
    three lines of that form, in any language, the first with an address.
    """
    first, *rest = (line.strip()[:_LONGEST] for line in lines[number : number + 5])
    if _FROM.fullmatch(first) and sum(_HEADER.fullmatch(line) is not None for line in rest) > 1:
        return True
    return _ANY_FROM.fullmatch(first) is not None and all(
        _ANY_HEADER.fullmatch(line) for line in (*rest, "", "")[:2]
    )


def _attributed(lines: Sequence[str], number: int) -> int | None:
    """Return the last line of `On …, … wrote:` if it begins here; mail programs break it after 78
    characters.
    """
    joined = ""
    for last in range(number, min(number + 3, len(lines))):
        part = lines[last].strip()
        if not part or part.startswith(("/", ">")):
            return None
        joined = f"{joined} {part}"[-_LONGEST:].strip()
        if _ATTRIBUTION.fullmatch(joined):
            return last
    return None


def _quote_follows(lines: Sequence[str], last: int) -> bool:
    following = next((line for line in lines[last + 1 : last + 4] if line.strip()), "")
    return following.lstrip().startswith(">")
