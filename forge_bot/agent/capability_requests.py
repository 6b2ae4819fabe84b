"""Sort the requests of an Explore: those to look up, and those answered without looking."""

from collections.abc import Sequence

from forge_bot.agent import model_feedback
from forge_bot.agent.capabilities import (
    CapabilityRequest,
    CapabilityResult,
    ResultStatus,
    canonical,
    effect_key,
)
from forge_bot.agent.model_answers import Explore
from forge_bot.agent.providers.provider_result import result_of
from forge_bot.values import Frozen


class SortedRequests(Frozen):
    """One turn's requests, sorted. The keys keep the order of the requests."""

    wanted: tuple[CapabilityRequest, ...]
    known: tuple[CapabilityResult, ...]
    notes: tuple[str, ...]


def sort_requests(
    asked: Explore,
    turn: int,
    before: Sequence[CapabilityResult],
    providers: Sequence[str],
    limit: int,
    running: Sequence[str] = (),
) -> SortedRequests:
    """Sort the requests of one turn, context before actions.

    The list that contains a request and its claimed type do not matter: the catalogue knows the
    names. Only requests that read are answered once; those named in `running` run again.
    """
    pairs = [(item.provider, item.params_json, item.reasoning) for item in asked.requests]
    pairs += [(item.capability, item.params_json, item.reasoning) for item in asked.actions]
    seen = {
        (item.capability, item.params): item.key
        for item in before
        if item.status is not ResultStatus.SKIPPED_DUPLICATE and item.capability not in running
    }
    wanted: list[CapabilityRequest] = []
    known: list[CapabilityResult] = []
    for index, (capability, params_json, reasoning) in enumerate(pairs[:limit], 1):
        params = canonical(params_json)
        item = CapabilityRequest(
            key=effect_key(turn, index, capability, params or params_json),
            capability=capability,
            params=params or params_json,
            reasoning=reasoning,
        )
        same = (item.capability, item.params)
        if (
            answer := _without_looking(item, params is None, seen.get(same), providers)
        ) is not None:
            known.append(answer)
        else:
            wanted.append(item)
        if capability not in running:
            seen.setdefault(same, item.key)
    return SortedRequests(
        wanted=tuple(wanted), known=tuple(known), notes=_left_out(len(pairs), limit)
    )


def _without_looking(
    item: CapabilityRequest, garbled: bool, first: str | None, providers: Sequence[str]
) -> CapabilityResult | None:
    if first is not None:
        return result_of(item, ResultStatus.SKIPPED_DUPLICATE, model_feedback.already_shown(first))
    if item.capability not in providers:
        offered = ", ".join(providers) or "none"
        return result_of(
            item,
            ResultStatus.UNKNOWN_CAPABILITY,
            f"There is no capability of that name. There are: {offered}.",
        )
    if garbled:
        return result_of(
            item, ResultStatus.INVALID_PARAMS, "The parameters are not the text of one JSON object."
        )
    return None


def _left_out(asked: int, limit: int) -> tuple[str, ...]:
    if asked <= limit:
        return ()
    return (
        (
            f"You asked for {asked} things; the first {limit} were looked up. Ask again for what"
            " you still need."
        ),
    )
