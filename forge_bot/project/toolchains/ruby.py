"""Ruby: Bundler, RSpec or a Rake task for the tests, and RuboCop if it is configured."""

import re

from forge_bot.project.detected_commands import Command, DetectedCommands, ProjectCommands, command
from forge_bot.project.file_list import Listing

_TEST_TASK = re.compile(
    r"Rake::TestTask|Minitest::TestTask|^[^\S\n]*task\s+:?[\"']?test\b", re.MULTILINE
)


def find(listing: Listing) -> DetectedCommands:
    """Return the commands of the Ruby project at the root, which has a Gemfile."""
    if not listing.has("Gemfile"):
        return DetectedCommands()
    test = _tests(listing)
    gems = listing.text("Gemfile") + "".join(
        listing.text(path) for path in listing.files if path.endswith(".gemspec")
    )
    rubocop = listing.has(".rubocop.yml") and "rubocop" in gems
    lint = (
        (command(".rubocop.yml", "bundle", "exec", "rubocop", "--format", "emacs"),)
        if rubocop
        else ()
    )
    locked = listing.has("Gemfile.lock")
    frozen = ("env", "BUNDLE_FROZEN=true") if locked else ()
    manifest = "Gemfile.lock" if locked else "Gemfile"
    install = command(manifest, *frozen, "bundle", "install", "--quiet")
    setup = (install,) if test or lint else ()
    return DetectedCommands(commands=ProjectCommands(setup=setup, test=test, lint=lint))


def _tests(listing: Listing) -> tuple[Command, ...]:
    if listing.has(".rspec") or any(
        path.startswith("spec/") and path.endswith("_spec.rb") for path in listing.files
    ):
        return (command("specs in spec/", "bundle", "exec", "rspec"),)
    if _TEST_TASK.search(listing.text("Rakefile")):
        return (command("Rakefile has a test task", "bundle", "exec", "rake", "test"),)
    return ()
