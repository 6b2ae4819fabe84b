"""Completion of names in addresses of resources and in arguments of prompts."""

from typing import TYPE_CHECKING

from mcp.types import (
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)

from forge_bot.mcp_server.sdk_server.protocol import ForgeServer

if TYPE_CHECKING:
    from forge_bot.mcp_server.service import Service

_MOST = 100


def add_completion(server: ForgeServer) -> None:
    """Serve completion/complete."""

    @server.completion()
    async def complete(
        ref: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion | None:
        given = (context.arguments or {}) if context is not None else {}
        of_pipelines = isinstance(ref, ResourceTemplateReference) and "pipeline" in ref.uri

        def known(service: "Service") -> list[str]:
            match argument.name:
                case "run":
                    return [info.name for info in service.served.runs()]
                case "name":
                    artifacts = service.queries.snapshot(given.get("run", "")).state.artifacts
                    return list(dict.fromkeys(("request.md", *artifacts)))
                case "id":
                    return service.queries.pipelines() if of_pipelines else [service.served.id]
                case "project_path":
                    return [str(service.served.path)]
                case _:
                    return []

        try:
            names = await server.ask(known)
        except Exception:  # noqa: BLE001 - whoever types a name needs no error, and no words of one
            names = []
        fitting = [name for name in names if name.startswith(argument.value)]
        return Completion(values=fitting[:_MOST], total=len(fitting), has_more=len(fitting) > _MOST)
