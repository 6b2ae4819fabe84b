"""A question as data. Gates, questions before a run, and control of a run have the same form."""

from typing import Any, Literal

from pydantic import JsonValue

from forge_bot.runs.question import Choice
from forge_bot.values import Frozen


class UIComponent(Frozen):
    """A question that any face can render; `forge://schema/ui` is its JSON Schema."""

    kind: Literal["confirmation", "input"]
    title: str
    data: dict[str, JsonValue]
    actions: tuple[Choice, ...] = ()
    requires_response: bool = True

    @property
    def shown(self) -> dict[str, JsonValue]:
        """Return the component in the form that accompanies an answer."""
        return self.model_dump(mode="json")


def ui_schema() -> dict[str, Any]:
    """Return the JSON Schema of the component."""
    return UIComponent.model_json_schema()
