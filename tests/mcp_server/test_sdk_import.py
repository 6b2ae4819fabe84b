"""A server over stdio imports the SDK without building its models; each is built when it is used, and
nobody else's models are late.
"""

import json
import subprocess
import sys
from typing import Any

PROGRAM = """
import json
from forge_bot.mcp_server.sdk_server.sdk_import import import_for_stdio
import_for_stdio()
import inspect, sys
import mcp_types
from mcp_types import _v2025_11_25, _v2026_07_28
from pydantic import BaseModel, TypeAdapter

def models(module):
    found = vars(module).values()
    return [each for each in found if inspect.isclass(each) and issubclass(each, BaseModel)]

defined = {each for module in (mcp_types, _v2025_11_25, _v2026_07_28) for each in models(module)}
defined -= {BaseModel}
late = [each.__name__ for each in defined if not each.__pydantic_complete__]
adapters = [each for each in vars(mcp_types).values() if isinstance(each, TypeAdapter)]
waiting = [each for each in adapters if not each.pydantic_complete]

class Ours(BaseModel):
    number: int

listed = {"id": 1, "jsonrpc": "2.0", "method": "tools/list", "params": {}}
parsed = mcp_types.jsonrpc_message_adapter.validate_python(listed)
print(json.dumps({
    "defined": len(defined),
    "late": len(late),
    "adapters": len(adapters),
    "waiting": len(waiting),
    "ours": Ours.__pydantic_complete__ and TypeAdapter(int | str).pydantic_complete,
    "parsed": parsed.model_dump(by_alias=True, exclude_none=True),
    "unfit": [each.__name__ for each in defined if each.model_rebuild(raise_errors=True) is False],
    "unwritten": [each.__name__ for each in defined if not each.model_json_schema()],
    "hidden": [name for name in ("rich", "uvicorn") if name in sys.modules],
}))
import rich, uvicorn
"""
LISTED: dict[str, Any] = {"id": 1, "jsonrpc": "2.0", "method": "tools/list", "params": {}}


def _told() -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_models_of_the_sdk_are_built_when_they_are_used_and_all_can_be() -> None:
    told = _told()
    assert told["defined"] > 300
    assert told["late"] > told["defined"] * 0.9
    assert told["waiting"] == told["adapters"] >= 6
    assert (told["parsed"], told["unfit"], told["unwritten"]) == (LISTED, [], [])
    assert told["ours"]
    # Whoever wants these can still import them.
    assert told["hidden"] == []
