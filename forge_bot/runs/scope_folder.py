"""The folder that the change of a run stays in."""

from forge_bot.errors import BadOption
from forge_bot.git import Repository
from forge_bot.sentences import say
from forge_bot.settings.config import folder_of


def scope_folder(repository: Repository, wanted: str, commit: str = "HEAD") -> str:
    """Return the folder of `--in` as git names it; "" for the whole. Raises BadOption."""
    if not wanted:
        return ""
    way_out = "Give a folder from the root of the repository down, such as --in packages/api."
    try:
        folder = folder_of(wanted)
    except ValueError as error:
        raise BadOption(
            say("runs.scope_folder.bad_folder", wanted=wanted, error=error), hint=way_out
        ) from None
    if not repository.list_files(repository.commit_id(commit), folder):
        raise BadOption(say("runs.scope_folder.no_tracked_file", wanted=wanted), hint=way_out)
    return folder
