"""Names that a new file may have, so that every system which clones the repository can hold it."""

import re

_LONGEST_PART = 255
"""Bytes of one name: the limit of ext4, APFS and NTFS, and of most others."""

_LONGEST_PATH = 1_000
"""Bytes of a path inside the repository; systems allow 1,024 to 4,096 for the whole of it."""

# Source: "Naming Files, Paths, and Namespaces", Win32 documentation. An ending changes nothing: aux.c is the device, too.
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?:\..*)?", re.IGNORECASE)
_SIGNS = frozenset('<>:"|?*')


def fault(path: str) -> str:
    """Why no new file should have this path, in words for the model; empty if one may."""
    for part in path.split("/"):
        if _DEVICE.fullmatch(part):
            return f"Windows keeps the name {part} for a device; choose another one."
        if signs := sorted(_SIGNS & set(part)):
            return f"the name {part} has {' '.join(signs)}, which file names on Windows cannot have."
    return ""


def too_long(path: str) -> str:
    """Why no system would take this path at all; empty if it is short enough."""
    if any(len(part.encode("utf-8", "replace")) > _LONGEST_PART for part in path.split("/")):
        return f"a name in this path is longer than {_LONGEST_PART} bytes."
    if len(path.encode("utf-8", "replace")) > _LONGEST_PATH:
        return f"this path is longer than {_LONGEST_PATH:,} bytes."
    return ""
