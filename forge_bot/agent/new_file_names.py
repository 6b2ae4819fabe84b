"""Check the name of a new file, so that every system can clone the repository."""

import re

_LONGEST_PART = 255
"""The maximum bytes of one name: the limit of ext4, APFS and NTFS, and of most others."""

_LONGEST_PATH = 1_000
"""The maximum bytes of a path inside the repository.

Systems allow 1,024 to 4,096 for the whole path.
"""

# Source: "Naming Files, Paths, and Namespaces", Win32 documentation. An extension changes nothing:
# aux.c is the device, too.
_DEVICE = re.compile(
    r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?:\..*)?", re.IGNORECASE
)
_SIGNS = frozenset('<>:"|?*')


def name_problem(path: str) -> str:
    """Return why no new file should have this path, in words for the model; empty if one may."""
    for part in path.split("/"):
        if _DEVICE.fullmatch(part):
            return f"Windows keeps the name {part} for a device; choose another one."
        if signs := sorted(_SIGNS & set(part)):
            return (
                f"the name {part} has {' '.join(signs)}, which file names on Windows cannot have."
            )
    return ""


def too_long(path: str) -> str:
    """Return why no system would accept this path; empty if it is short enough."""
    if any(len(part.encode("utf-8", "replace")) > _LONGEST_PART for part in path.split("/")):
        return f"a name in this path is longer than {_LONGEST_PART} bytes."
    if len(path.encode("utf-8", "replace")) > _LONGEST_PATH:
        return f"this path is longer than {_LONGEST_PATH:,} bytes."
    return ""
