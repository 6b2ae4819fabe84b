"""Private files in a work tree: they have the names of secrets, and git does not track them."""

import re
from pathlib import Path

from forge_bot.agent.providers.git_read_only import git
from forge_bot.lazy_regex import lazy_regex

_SECRET_NAME = lazy_regex(
    r"\.env(?:\.(?!example$|sample$|template$|dist$).+)?|\.netrc|\.npmrc|\.pypirc|id_"
    r"(?:rsa|dsa|ecdsa|ed25519)|.+\.(?:pem|key|p12|pfx)",
    re.IGNORECASE,
)


def is_private(root: Path, path: str) -> bool:
    """Return whether git does not know the file and its name says that it holds secrets."""
    named = _SECRET_NAME.fullmatch(path.rpartition("/")[2])
    return bool(named and git(root, "ls-files", "--error-unmatch", "--", f":(literal){path}").code)
