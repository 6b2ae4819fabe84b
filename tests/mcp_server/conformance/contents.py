"""Fixtures of the conformance suite, first part: every kind of content, as tools, resources and
prompts.

Names and texts are the suite's.
"""

import base64
import json

from mcp.server.mcpserver.prompts.base import Message, UserMessage
from mcp.types import (
    AudioContent,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    TextContent,
    TextResourceContents,
)

from forge_bot.mcp_server.sdk_server.protocol import ForgeServer

_PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
_WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
_IMAGE = ImageContent(type="image", data=_PNG, mime_type="image/png")


def _embedded(uri: str, text: str, kind: str = "text/plain") -> EmbeddedResource:
    return EmbeddedResource(
        type="resource", resource=TextResourceContents(uri=uri, mime_type=kind, text=text)
    )


def add_contents(server: ForgeServer) -> None:
    """Everything that only answers."""
    _tools(server)
    _resources(server)
    _prompts(server)


def _tools(server: ForgeServer) -> None:
    @server.tool(structured_output=False)
    def test_simple_text() -> str:
        """Answers with a text."""
        return "This is a simple text response for testing."

    @server.tool(structured_output=False)
    def test_image_content() -> list[ImageContent]:
        """Answers with a picture."""
        return [_IMAGE]

    @server.tool(structured_output=False)
    def test_audio_content() -> list[AudioContent]:
        """Answers with a sound."""
        return [AudioContent(type="audio", data=_WAV, mime_type="audio/wav")]

    @server.tool(structured_output=False)
    def test_embedded_resource() -> list[EmbeddedResource]:
        """Answers with a resource."""
        return [_embedded("test://embedded-resource", "This is an embedded resource content.")]

    @server.tool(structured_output=False)
    def test_multiple_content_types() -> list[ContentBlock]:
        """Answers with a text, a picture and a resource."""
        text = TextContent(type="text", text="Multiple content types test:")
        return [
            text,
            _IMAGE,
            _embedded(
                "test://mixed-content-resource",
                json.dumps({"test": "data", "value": 123}),
                "application/json",
            ),
        ]

    @server.tool(structured_output=False)
    def test_error_handling() -> str:
        """Goes wrong."""
        raise RuntimeError("This tool intentionally returns an error for testing")


def _resources(server: ForgeServer) -> None:
    @server.resource("test://static-text", mime_type="text/plain")
    def static_text() -> str:
        """A text."""
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", mime_type="image/png")
    def static_binary() -> bytes:
        """A picture."""
        return base64.b64decode(_PNG)

    @server.resource("test://template/{id}/data", mime_type="application/json")
    def of_template(id: str) -> str:  # noqa: A002 - the name in the address
        """A text by number."""
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})

    @server.resource("test://watched-resource", mime_type="text/plain")
    def watched() -> str:
        """A text that can be listened for."""
        return "Watched resource content"


def _prompts(server: ForgeServer) -> None:
    @server.prompt()
    def test_simple_prompt() -> list[Message]:
        """A prompt without arguments."""
        return [UserMessage("This is a simple prompt for testing.")]

    @server.prompt()
    def test_prompt_with_arguments(arg1: str, arg2: str) -> list[Message]:
        """A prompt with two arguments."""
        return [UserMessage(f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")]

    @server.prompt()
    def test_prompt_with_embedded_resource(
        resourceUri: str,  # noqa: N803 - the suite's name
    ) -> list[Message]:
        """A prompt with a resource."""
        embedded = UserMessage(_embedded(resourceUri, "Embedded resource content for testing."))
        return [embedded, UserMessage("Please process the embedded resource above.")]

    @server.prompt()
    def test_prompt_with_image() -> list[Message]:
        """A prompt with a picture."""
        return [UserMessage(_IMAGE), UserMessage("Please analyze the image above.")]
