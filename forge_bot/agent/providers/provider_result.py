"""The result of a capability, and the error for a declined request."""

from forge_bot.agent.capabilities import CapabilityRequest, CapabilityResult, ResultStatus
from forge_bot.values import Frozen


class ProviderResult(Frozen):
    """Text for the model. `note` says in its heading which part of the whole it is."""

    content: str
    note: str = ""
    truncated: bool = False


class Declined(Exception):
    """Nothing can be shown. The sentence tells the model why.

    `sent` if a call was on its way, so that it may have been made.
    """

    sent = False

    def __init__(self, status: ResultStatus, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why


def head(text: str, limit: int, note: str = "") -> ProviderResult:
    """Return the beginning of a text, in whole lines if a line fits, and how much is left out."""
    if len(text) <= limit:
        return ProviderResult(content=text, note=note)
    cut = text.rfind("\n", 0, limit) + 1 or limit
    lines = text.count("\n", cut) + (not text.endswith("\n"))
    left = (
        f"cut: {lines:,} more lines"
        if cut < limit or text[cut - 1] == "\n"
        else f"cut at {limit:,} of {len(text):,} characters"
    )
    return ProviderResult(
        content=text[:cut], note=f"{note}; {left}" if note else left, truncated=True
    )


def ends(text: str, limit: int) -> ProviderResult:
    """Return the beginning and, three times as long, the end of a text.

    The last lines of a command's output matter most.
    """
    if len(text) <= limit:
        return ProviderResult(content=text)
    first = limit // 4
    left = len(text) - limit
    kept = (
        f"{text[:first]}\n[… {left:,} characters left out …]\n{text[len(text) - (limit - first) :]}"
    )
    return ProviderResult(
        content=kept, note=f"cut: {left:,} characters from the middle", truncated=True
    )


def result_of(
    wanted: CapabilityRequest,
    status: ResultStatus,
    content: str,
    shown: ProviderResult | None = None,
) -> CapabilityResult:
    return CapabilityResult(
        key=wanted.key,
        capability=wanted.capability,
        params=wanted.params,
        status=status,
        content=content,
        truncated=shown.truncated if shown else False,
        note=shown.note if shown else "",
    )
