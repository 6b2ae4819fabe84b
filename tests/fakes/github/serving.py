"""Answers on their way out: pages of lists, entity tags, and the parameters of an address."""

import hashlib
import json
from typing import Any
from urllib.parse import parse_qsl, urlencode

from tests.fakes.github.replies import Reply

_MOST_A_PAGE = 100


def paged(reply: Reply, address: str, query: dict[str, str]) -> Reply:
    """The page of a list that was asked for, with a Link header that names its neighbours."""
    if not reply.page:
        return reply
    size = min(int(query.get("per_page", "30")), _MOST_A_PAGE) or 30
    page = max(int(query.get("page", "1")), 1)
    items: list[Any] = reply.body
    last = max(-(-len(items) // size), 1)
    near = {"prev": page - 1, "next": page + 1, "last": last, "first": 1}
    shown = [
        rel
        for rel in near
        if (rel in {"prev", "first"} and page > 1) or (rel in {"next", "last"} and page < last)
    ]
    links = [f'<{address}?{urlencode({**query, "page": near[rel]})}>; rel="{rel}"' for rel in shown]
    part = items[(page - 1) * size : page * size]
    body = {"total_count": len(items), reply.envelope: part} if reply.envelope else part
    return Reply(
        reply.status, body, {**reply.headers, **({"Link": ", ".join(links)} if links else {})}
    )


def entity_tag(reply: Reply) -> str:
    """A weak tag of what is answered."""
    text = json.dumps(reply.body, sort_keys=True).encode() if reply.raw is None else reply.raw
    return f'W/"{hashlib.sha256(text).hexdigest()}"'


def query_of(text: str) -> dict[str, str]:
    """The parameters of an address."""
    return dict(parse_qsl(text, keep_blank_values=True))
