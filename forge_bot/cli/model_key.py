"""Look for the model's key before anything else of a run is imported, so that its absence is
reported at once.
"""

from forge_bot.agent.models.provider_keys import missing_key
from forge_bot.cli.options import CapabilityChoice, HostChoice, RunOptions
from forge_bot.errors import BadConfig
from forge_bot.git import Repository
from forge_bot.settings import Config, load_config
from forge_bot.store import SPECS
from forge_bot.values import Tier


def require_key(task: str, options: RunOptions) -> None:
    """Raise NoModelKey if the key of a new run's model is not set.

    Raises NoCommits or DetachedHead where there is no commit to begin at. Pipelines other than the
    usual one may need no model, and a run that goes on has its own. With an option or an address
    that may be mistyped the key is looked for after all of it is read, so that a person sets no key
    only to be told of the other.
    """
    if options.pipeline is not None or options.phase is not None or _may_be_mistyped(options):
        return
    if not any(map(str.isalnum, task)):
        return
    if task.strip().startswith((f"{SPECS}/", "http://", "https://")):
        return
    repository = Repository.find(options.repo)
    repository.head()
    try:
        config = load_config(repository.root)
    except BadConfig:
        return  # The run tells it together with the problems of all other files.
    if config.pipeline != Config().pipeline:
        return
    for spec in {options.model or config.model_for(tier) for tier in Tier}:
        if (missing := missing_key(spec)) is not None:
            raise missing


def _may_be_mistyped(options: RunOptions) -> bool:
    told = (options.effort, options.budget, options.branch, options.until, options.scope)
    return (
        any(each is not None for each in told)
        or bool(options.answers)
        or options.here
        or options.capabilities != CapabilityChoice()
        or options.host != HostChoice()
    )
