"""Access to GitHub: one repository through PyGithub, with types of our own, and issues by URL.

The other rooms have their client from `connect`, and know it as `Forge`. Another forge is a folder
beside this one whose class has the methods of `GitHub`; it is chosen here.
"""

from forge_bot.github_api.pygithub import GitHub as Forge


def connect(name: str, token: str | None, api: str, *, patience: float = 60.0) -> Forge:
    """Return a client of the repository `name` (owner/name). Where a person waits who can call
    again, `patience` is 0: nothing is waited for.
    """
    return Forge(name, token, api, patience=patience)
