"""The needs of a run that are checked before it begins: a way to test, and consent to a setup that
is not held to the proxy.
"""

from forge_bot.errors import NoTestCommand
from forge_bot.knowledge.profile import Profile
from forge_bot.sandbox.box import BackendName
from forge_bot.settings import Config

SETUP_NOT_WALLED = "runs.run_needs.setup_not_walled"
"""The name of the sentence for a setup that the proxy cannot hold."""


def waits_for_consent(backend: BackendName, config: Config) -> bool:
    """Return whether setup could bypass the proxy in this sandbox, without anybody's consent."""
    return backend is BackendName.LANDLOCK and not config.setup_without_namespace


def check_testable(profile: Profile, config: Config) -> None:
    """Raise NoTestCommand if nothing could be verified and the configuration does not say that this
    is intended.
    """
    if not profile.commands.test and config.commands.test is None:
        raise NoTestCommand(
            "No way to run tests was found in this repository.", details=profile.notes
        )
