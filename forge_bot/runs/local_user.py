"""The user of this process."""

import getpass


def local_user() -> str:
    """Return the name of the user at the terminal, as the system knows it."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "somebody"
