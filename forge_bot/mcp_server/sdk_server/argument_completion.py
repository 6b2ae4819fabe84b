"""Completion of names in addresses of resources and in arguments of prompts."""

from mcp.types import (
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)

from forge_bot.mcp_server.sdk_server.protocol import ForgeServer
from forge_bot.mcp_server.service_calls import LazyService, in_thread

_MOST = 100


def add_completion(server: ForgeServer, service: LazyService) -> None:
    """Serve completion/complete."""

    @server.completion()
    async def complete(
        ref: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion | None:
        given = (context.arguments or {}) if context is not None else {}
        address = ref.uri if isinstance(ref, ResourceTemplateReference) else ref.name
        try:
            known = await in_thread(lambda: _known(service, address, argument.name, given))
        except Exception:  # noqa: BLE001 - whoever types a name needs no error, and no words of one
            known = []
        fitting = [name for name in known if name.startswith(argument.value)]
        return Completion(values=fitting[:_MOST], total=len(fitting), has_more=len(fitting) > _MOST)


def _known(service: LazyService, address: str, argument: str, given: dict[str, str]) -> list[str]:
    looking = service().looking
    match argument:
        case "run":
            return list(
                dict.fromkeys(
                    location.info.name for location in service().roots.runs(service().roots.all)
                )
            )
        case "name":
            return [
                "request.md",
                *(
                    name
                    for name in looking.reading(given.get("run", "")).state.artifacts
                    if name != "request.md"
                ),
            ]
        case "id":
            return (
                list(looking.pipelines())
                if address.startswith("forge://pipeline/")
                else [root.id for root in service().roots.all]
            )
        case "project_path":
            return [str(root.path) for root in service().roots.all]
        case _:
            return []
