"""Patterns of paths in settings; and the table of protected paths: files that run, decide or
instruct by themselves somewhere, each group with its reason.

A change to one of them waits for a person. The table is the only one: edits of models, reports of
MCP clients, commits of the bot's worker and the sandbox all use it. A repository adds patterns
under `protected` in .forge/config.yml.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from forge_bot.artifacts.task_checks import normal_path
from forge_bot.forge import FOLDER
from forge_bot.sentences import say
from forge_bot.text_format import names

_PIECES = re.compile(r"\*\*/|\*\*|\*|\?|[^*?]+|.")
_MEANINGS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def checked_pattern(text: str) -> str:
    """Return a pattern. Raises ValueError for one that names paths outside of the repository, and
    for signs that other tools give a meaning to: taken as they stand, they would protect nothing.
    """
    if set(text) & set("[]{}!"):
        raise ValueError(
            "in a pattern only * and ? stand for other signs: write ? for a bracket of a name, and"
            " several patterns for {a,b}"
        )
    if not normal_path(text) or normal_path(text).startswith("../"):
        raise ValueError("a pattern names paths inside the repository, such as db/migrations/**")
    return text


def matches_path(path: str, patterns: Sequence[str]) -> bool:
    """Return whether one of the patterns fits a path, or a folder that it lies in. A pattern of one
    name fits at any depth, one with a slash inside counts from the root.
    """
    return _compiled(tuple(patterns)).fullmatch(_folded(path)) is not None


@lru_cache(maxsize=256)
def _compiled(patterns: tuple[str, ...]) -> re.Pattern[str]:
    wholes = [_folded(pattern) for pattern in patterns]
    anywhere = "|".join(pattern_expression(whole) for whole in wholes if "/" not in whole)
    rooted = [pattern_expression(whole) for whole in wholes if "/" in whole]
    return re.compile(
        f"(?:{'|'.join(filter(None, (anywhere and f'(?:.*/)?(?:{anywhere})', *rooted))) or '(?!)'})"
        "(?:/.*)?",
        re.DOTALL,
    )


def pattern_expression(pattern: str) -> str:
    """Return a pattern as a regular expression for the whole path, without what lies below it."""
    parts: list[str] = _PIECES.findall(pattern)
    return "".join(_MEANINGS.get(piece) or re.escape(piece) for piece in parts)


@dataclass(frozen=True)
class ProtectionRule:
    """Patterns of paths that are protected for one reason, which `reason` names as a sentence.

    A pattern of one name covers that file, or everything below that folder, at any depth. One with
    a slash inside counts from the root. `*` and `?` stand for letters within one name. `in_sandbox`
    says whether project commands may not write there either; it is False where tools write such
    files when dependencies are installed. With `of_files` no folder of the name counts.
    """

    reason: str
    patterns: tuple[str, ...]
    in_sandbox: bool = True
    of_files: bool = False


RULES = (
    ProtectionRule("settings.protected_paths.own_files", names(".forge/ .specs/ forge-mcp.json")),
    ProtectionRule(
        "settings.protected_paths.ci_service",
        names(f"""
            {FOLDER}/ .gitlab-ci.yml *.gitlab-ci.yml .gitlab/ .circleci/ .travis.yml Jenkinsfile
            Jenkinsfile.* *.jenkinsfile azure-pipelines*.yml azure-pipelines*.yaml .azure-pipelines/
            .azuredevops/ .vsts-ci.yml .buildkite/ bitbucket-pipelines.yml .drone.* .woodpecker/
            .woodpecker.* appveyor.yml .appveyor.yml .semaphore/ .teamcity/ cloudbuild.yaml
            cloudbuild.yml cloudbuild.json *.cloudbuild.yaml buildspec*.yml buildspec*.yaml
            codemagic.yaml bitrise.yml .cirrus.* codeship-*.yml wercker.yml .harness/ .tekton/
            *.gocd.yaml bamboo-specs/ screwdriver.yaml .prow.yaml .zuul.yaml zuul.yaml .zuul.d/
            zuul.d/ .build.yml .builds/ .gitea/ .forgejo/ .onedev-buildspec.yml ci_scripts/ .cds/
            .spacelift/ atlantis.yaml .platform/ .platform.app.yaml .do/ apprunner.yaml amplify.yml
            netlify.toml vercel.json now.json wrangler.toml wrangler.json wrangler.jsonc .cpanel.yml
            captain-definition nixpacks.toml render.yaml railway.json railway.toml heroku.yml
            Procfile .readthedocs.yml .readthedocs.yaml action.yml action.yaml
            """),
    ),
    ProtectionRule(
        "settings.protected_paths.bot",
        names("""
            CODEOWNERS dependabot.yml dependabot.yaml .dependabot/ renovate.json renovate.json5
            .renovaterc .renovaterc.* .pyup.yml .depfu.yml .scala-steward.conf .whitesource .snyk
            .mergify.yml .mergify/ .kodiak.toml bors.toml .bulldozer.yml .policy.yml .asf.yaml
            .releaserc .releaserc.* release.config.* release-please-config.json .release-it.*
            .goreleaser.* codecov.yml .codecov.yml
            """),
    ),
    ProtectionRule(
        "settings.protected_paths.development_container",
        names("""
            .devcontainer/ .devcontainer.json .gitpod.* devfile.yaml .devfile.yaml .codesandbox/
            .stackblitzrc .replit replit.nix .idx/
            """),
    ),
    ProtectionRule(
        "settings.protected_paths.editor",
        names("""
            .vscode/ *.code-workspace .idea/ .run/ .fleet/ .zed/ .vs/ .theia/ .nova/ .helix/
            *.sublime-project .externalToolBuilders/ nbproject/ .dir-locals.el
            .dir-locals-2.el .exrc .vimrc _vimrc .lvimrc .nvimrc .nvim.lua .lazy.lua .vim/
            .luarc.json .luarc.jsonc .lite_project.lua .ycm_extra_conf.py
            """),
    ),
    ProtectionRule(
        "settings.protected_paths.debugger",
        names("""
            .gdbinit .lldbinit .pdbrc .pdbrc.py .irbrc .pryrc .Rprofile .Renviron .ghci .ocamlinit
            .iex.exs .erlang .byebugrc .psysh.php .octaverc startup.m jupyter_*config.py
            jupyter_*config.json
            """),
    ),
    ProtectionRule(
        "settings.protected_paths.shell",
        names("""
            .envrc .env .flaskenv .autoenv .autoenv.* .rvmrc .config/mise/ mise.toml
            mise.*.toml .mise.toml .mise.*.toml .mise/ .tool-versions .sdkmanrc .nvmrc
            .node-version .python-version .ruby-version .java-version .go-version
            rust-toolchain rust-toolchain.toml devenv.nix devenv.yaml devbox.json
            flake.nix shell.nix default.nix
            """),
        in_sandbox=False,
    ),
    ProtectionRule(
        "settings.protected_paths.python_start",
        names("sitecustomize.py usercustomize.py *.pth"),
        in_sandbox=False,
    ),
    ProtectionRule(
        "settings.protected_paths.git", names(".gitattributes .gitmodules .lfsconfig .gitconfig")
    ),
    ProtectionRule("settings.protected_paths.repository", names("*.git/ .hg/ .sl/ .jj/ .bzr/")),
    # Without this file git takes no folder for a repository; its settings lie beside it.
    ProtectionRule(
        "settings.protected_paths.bare_repository", names("HEAD"), in_sandbox=False, of_files=True
    ),
    ProtectionRule(
        "settings.protected_paths.git_hooks",
        names("""
            .husky/ .huskyrc .huskyrc.* lefthook.* .lefthook.* lefthook-local.* .lefthook-local.*
            .lefthook/ .lefthook-local/ .pre-commit-config.yaml .pre-commit-config.yml
            .pre-commit-hooks.yaml prek.toml .githooks/ .git-hooks/ githooks/ .overcommit.yml
            .lintstagedrc .lintstagedrc.* lint-staged.config.* .simple-git-hooks.*
            simple-git-hooks.* captainhook.json grumphp.yml grumphp.yml.dist hk.pkl .trunk/ .qlty/
            """),
        in_sandbox=False,
    ),
    ProtectionRule(
        "settings.protected_paths.package_manager",
        names("""
            .npmrc .yarnrc .yarnrc.yml .yarn/ .pnp.* .pnpmfile.cjs .pnpmfile.mjs pnpmfile.js
            pnpm-workspace.yaml bunfig.toml .bowerrc lerna.json rush.json pip.conf pip.ini .pypirc
            uv.toml poetry.toml pdm.toml .pdm.toml hatch.toml pixi.toml .condarc .cargo/ gradlew
            gradlew.bat gradle-wrapper.jar gradle-wrapper.properties gradle.properties init.gradle
            init.gradle.kts mvnw mvnw.cmd .mvn/ .jvmopts .sbtopts .bundle/ nuget.config
            dotnet-tools.json Directory.Build.props Directory.Build.targets Directory.Packages.props
            .bazelrc .bazelversion .bazeliskrc tools/bazel .buckconfig .swiftpm/ .pixi/ ansible.cfg
            """),
        in_sandbox=False,
    ),
    ProtectionRule(
        "settings.protected_paths.manifest",
        names("""
            pyproject.toml setup.py setup.cfg Pipfile *requirements*.txt *requirements*.in
            *constraints*.txt *constraints*.in requirements/*.txt requirements/*.in package.json
            Cargo.toml go.mod pom.xml composer.json pubspec.yaml environment.yml environment.yaml
            Gemfile gems.rb *.gemspec build.gradle build.gradle.kts settings.gradle
            settings.gradle.kts libs.versions.toml build.sbt mix.exs Package.swift Podfile *.podspec
            project.clj deps.edn rebar.config cpanfile package.yaml package.json5 deno.json
            deno.jsonc go.work WORKSPACE.bazel MODULE.bazel build.rs *.csproj *.fsproj
            *.vbproj *.cabal stack.yaml *.opam build.zig build.zig.zon conanfile.py conanfile.txt
            vcpkg.json
            """),
        in_sandbox=False,
    ),
    ProtectionRule(
        "settings.protected_paths.lock_file",
        names("""
            uv.lock poetry.lock pdm.lock pylock.toml pylock.*.toml pixi.lock Pipfile.lock
            conda-lock.yml package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock
            bun.lockb deno.lock Cargo.lock go.sum go.work.sum Gemfile.lock gems.locked composer.lock
            mix.lock pubspec.lock Podfile.lock Package.resolved packages.lock.json gradle.lockfile
            verification-metadata.xml MODULE.bazel.lock flake.lock devenv.lock devbox.lock mise.lock
            """),
        in_sandbox=False,
    ),
    ProtectionRule(
        "settings.protected_paths.coding_agents",
        names("""
            AGENTS.md AGENTS.override.md AGENT.md .agents/ .agent/ CLAUDE.md CLAUDE.local.md
            .claude/ .claude-plugin/ .codex/ .cursor/ .cursorrules .cursorignore GEMINI.md .gemini/
            QWEN.md .qwen/ copilot-instructions.md *.instructions.md *.prompt.md *.chatmode.md
            *.agent.md SKILL.md .windsurf/ .windsurfrules .mcp.json mcp.json .aider* .clinerules
            .cline/ .roo/ .roorules* .roomodes .kilocode/ .kilocodemodes .continue/ .continuerules
            .continuerc.json .junie/ .aiassistant/ .amazonq/ .kiro/ .augment/ .augment-guidelines
            .goose/ .goosehints .trae/ .openhands/ .openhands_instructions .devin/ .cody/
            .sourcegraph/ .tabnine/ .rules .crush/ crush.json .crush.json CRUSH.md opencode.json
            opencode.jsonc .opencode/ WARP.md .warp/ .factory/ .firebender/ .jules/ .qodo/
            .pr_agent.toml .coderabbit.yml .coderabbit.yaml .greptile/ greptile.json ellipsis.yaml
            sweep.yaml replit.md .ruler/ .rulesync/ .zencoder/
            """),
    ),
    ProtectionRule("settings.protected_paths.option", names("-*")),
    ProtectionRule("settings.protected_paths.short_name", names("*~? *~?.*")),
)
"""Every protected path, by the reason for which it is protected."""

_SEPARATOR = re.compile(r"[/\\]")
_LEFT_OUT = dict.fromkeys(
    (*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF)
)
_OWN_REASON = "settings.protected_paths.own_pattern"


def reason_for(path: str, patterns: Sequence[str] = ()) -> str:
    """Return why a path is protected by the table or by a repository's own patterns; empty if it is
    not.

    Case does not matter, since some file systems do not see it, nor does anything else in a name
    that one of them leaves out.
    """
    name = _folded(path).rpartition("/")[2]
    for rule in RULES:
        if matches_path(name if rule.of_files else path, rule.patterns):
            return say(rule.reason)
    return say(_OWN_REASON) if matches_path(path, patterns) else ""


def protected_changes(paths: Iterable[str], patterns: Sequence[str] = ()) -> dict[str, str]:
    """Return the changed paths that wait for a person, sorted, each with the reason.

    `patterns` are a repository's own, beside the table.
    """
    reasons = {path: reason_for(path, patterns) for path in sorted(set(paths))}
    return {path: reason for path, reason in reasons.items() if reason}


def held_in_sandbox() -> tuple[str, ...]:
    """Return the names at the top of a work tree that project commands may not write."""
    names = [pattern.strip("/") for rule in RULES if rule.in_sandbox for pattern in rule.patterns]
    return tuple(name for name in names if "/" not in name and not set(name) & set("*?["))


def _folded(path: str) -> str:
    return "/".join(_fold(part) for part in _SEPARATOR.split(path) if part not in {"", "."})


def _fold(part: str) -> str:
    """Return a name as the most careless file system reads it: HFS+ leaves characters out (git's
    utf8.c lists them), NTFS dots and spaces at the end and what follows a colon.
    """
    seen = part.translate(_LEFT_OUT).partition(":")[0].rstrip(". ")
    return unicodedata.normalize("NFC", seen or part).casefold()
