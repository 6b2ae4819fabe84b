"""Name who is waited for under `approvals`, in words; a question mentions these people."""

from forge_bot.interaction.markdown_templates import Markdown, render
from forge_bot.prompts import escape
from forge_bot.sentences import say
from forge_bot.settings.approvals import Standing, is_address


def awaited_approvals(standing: Standing, *, mention: bool = False) -> Markdown:
    """Return one sentence on a need that is not met."""
    need = standing.need
    done = {name.casefold() for name in (*standing.given, need.barred, *standing.missing)}
    left = [name for name in need.names if name.casefold() not in done]
    told = any("/" in name or name.casefold() == need.barred.casefold() for name in need.names)
    mentioned = {name: f"@{name}" for name in left if mention and not is_address(name)}
    names = [mentioned.get(name) or escape.code(name) for name in left]
    lacking = need.count - len(standing.given)
    admins = [say("words.with_admin", count=lacking)] if standing.asks_admin else []
    return render(
        "parts.awaited_approvals",
        names=[*names, *admins],
        lacking=lacking,
        count=need.count,
        given=standing.given,
        asks_admin=standing.asks_admin,
        unowned=need.unowned,
        missing=standing.missing,
        barred=need.barred if told else "",
    )
