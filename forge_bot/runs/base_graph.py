"""The additions of the base commit's graph: the reach of a design, and the rules on tiers that a
change breaks.

A repository without a language whose imports are read pays for none of it.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from forge_bot.artifacts.design_outline import read_outline
from forge_bot.git import Repository
from forge_bot.sentences import listed, say
from forge_bot.values import Inspection

if TYPE_CHECKING:
    from forge_bot.project.graph.project_graph import ProjectGraph

MOST_READ = 4_000
"""Files that a run reads for the graph where nothing is kept of them: about six seconds of work."""
_NAMED = 3
_BROKEN_NAMED = 20


def with_graph(
    repository: Repository, base: str, inspection: Inspection, text: str, *, plans: bool
) -> Inspection:
    """Return the facts of a document with those that the graph adds. `plans` says that the document
    plans the change.
    """
    if plans and (files := tuple(file.path for file in read_outline(text).files)):
        return inspection.replace(reach=_reach(files, graph_at(repository, base)))
    return inspection


def broken_rules(repository: Repository, base: str, head: str) -> tuple[str, ...]:
    """Return the rules that hold at the base and not at the head, a sentence each.

    Only where the base has a manifest: nobody agreed to rules that are written down nowhere. A
    manifest that cannot be read, at the base or at the head, is broken too: it switches off all
    rules.
    """
    if not has_rules(repository, base):
        return ()
    before, after = graph_at(repository, base), graph_at(repository, head)
    if before is None or after is None:
        return ()
    from forge_bot.errors import BadManifest
    from forge_bot.project.graph.verify_graph import newly_broken, verify

    try:
        verify(before)
        violations = newly_broken(after, before)
    except BadManifest as error:
        return (f"{error.code}: {error.message} {' '.join(error.details)}".strip(),)
    sentences = [
        f"{violation.code} {violation.path}:{violation.line}: {violation.message}"
        for violation in violations
    ]
    more = len(sentences) - _BROKEN_NAMED
    return (*sentences[:_BROKEN_NAMED], *([f"{more} more rules are broken"] if more > 0 else []))


def has_rules(repository: Repository, commit: str) -> bool:
    """Return whether a commit has a manifest."""
    from forge_bot.project.graph.manifest import MANIFEST

    return repository.read(commit, MANIFEST) is not None


@lru_cache(maxsize=4)
def graph_at(repository: Repository, commit: str) -> "ProjectGraph | None":
    """Return the graph of a commit; None if no file has imports that are resolved, or too many
    files would have to be read.
    """
    if not _has_imports(repository, commit):
        return None
    from forge_bot.project.graph.read_graph import GraphReader

    return GraphReader(repository).if_quick(commit, MOST_READ)


@lru_cache(maxsize=4)
def _has_imports(repository: Repository, commit: str) -> bool:
    from forge_bot.project.graph.stacks.all_stacks import resolves

    return any(map(resolves, repository.list_files(commit)))


def _reach(files: Sequence[str], graph: "ProjectGraph | None") -> str:
    """Return in a line or two what depends on the changed files, and those of them that no test
    imports, not through other files either.
    """
    if graph is None:
        return ""
    from forge_bot.project.graph.graph_query import reach_of

    changed = [path for path in files if path in graph.files and graph.files[path].kind.is_code]
    reach = reach_of(graph, changed)
    sentences: list[str] = []
    if reach.code:
        tests = (
            say("question.and_tests", count=len(reach.tests))
            if reach.tests
            else say("question.and_no_test")
        )
        sentences.append(say("question.reaches", count=len(reach.code), tests=tests))
    untested = [
        path for path in changed if not path.endswith(".pyi") and not reach_of(graph, [path]).tests
    ]
    if untested:
        names = listed(untested, "words.or", most=_NAMED)
        sentences.append(say("question.no_test_reaches", names=names))
    return " ".join(sentences)
