"""The tools' arguments and answers, with the keys and words that hosts know."""

from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    AliasChoices,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    model_validator,
)

from forge_bot.gate.arguments import LEAST_TOKENS, MOST_TOKENS
from forge_bot.runs.question import Choice
from forge_bot.values import Effort, Frozen, Severity, Tier, Verdict, is_empty

Hint = Literal["proceed", "revision_required", "setup_continue"]

Words = Annotated[str, AfterValidator(lambda text: text.replace("\0", ""))]
"""Text that ends up in records and messages of commits, which cannot hold NUL."""

MODELS: dict[Tier, str] = {Tier.FAST: "haiku", Tier.STANDARD: "sonnet", Tier.STRONG: "opus"}
"""Tiers by the names hosts use for the models of their agents."""


# -- beginning
# --------------------------------------------------------------------------------------------------


class InitFlags(Frozen):
    """The options beside the task. The host hands it back unchanged."""

    auto: bool = False
    skip_pr: bool = False
    debug: bool = False
    discuss: bool = False
    effort_override: Effort | None = None
    budget: Decimal | None = Field(default=None, gt=0, lt=10_000, exclude_if=is_empty)
    """US dollars the run may cost; only named where it was given."""
    budget_tokens: int | None = Field(
        default=None, ge=LEAST_TOKENS, le=MOST_TOKENS, exclude_if=is_empty
    )
    """Tokens the run may use; only named where they were given."""
    pipeline: str = Field(default="", exclude_if=is_empty)
    """The pipeline of the run; the configured one if left out."""
    scope: str = Field(default="", exclude_if=is_empty)
    """The folder that the change stays in; only named where it was given."""
    current_branch: str | None = None


class ExternalContext(Frozen):
    """The data of an issue that the host read, by the names of any tracker or by those of GitHub
    and Jira. Further fields may come along and say nothing.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    title: str = Field(
        default="", validation_alias=AliasChoices("title", "github_title", "jira_summary")
    )
    body: str | None = Field(
        default=None, validation_alias=AliasChoices("body", "github_body", "jira_description")
    )
    labels: tuple[str | dict[str, JsonValue], ...] = Field(
        default=(), validation_alias=AliasChoices("labels", "github_labels")
    )
    type: str = Field(default="", validation_alias=AliasChoices("type", "jira_issue_type"))
    points: float | None = Field(
        default=None, validation_alias=AliasChoices("points", "jira_story_points")
    )
    tracker: Literal["github_issue", "jira_issue", "issue"] = "issue"

    @model_validator(mode="before")
    @classmethod
    def _tell_tracker(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Tell the tracker by the names of the fields."""
        names = " ".join(given)
        known = (f"{name}_issue" for name in ("github", "jira") if f"{name}_" in names)
        return {**given, "tracker": next(known, "issue")}

    @property
    def says_anything(self) -> bool:
        """Return whether the host read a title or a text."""
        return bool(self.title.strip() or (self.body or "").strip())

    @property
    def label_names(self) -> tuple[str, ...]:
        """Labels by name, whether the host gives names or GitHub's objects."""
        plain = (
            label if isinstance(label, str) else str(label.get("name", "")) for label in self.labels
        )
        return tuple(name.strip() for name in plain if name.strip())


class Confirmation(Frozen):
    """The person's choices."""

    effort: Effort
    workspace_slug: str = ""
    use_current_branch: bool = False
    enriched_request_body: str = ""


# -- going on
# --------------------------------------------------------------------------------------------------


class ReportedFinding(Frozen):
    """One thing a reviewer found."""

    severity: Severity
    description: str


class ReportResult(Frozen):
    """The effect of a report, beside the next action."""

    next_action_hint: Hint = "proceed"
    verdict_parsed: Verdict | None = None
    findings: tuple[ReportedFinding, ...] = ()
    warning: str = ""
    display_message: str = ""


class PhaseReport(ReportResult):
    """The answer of pipeline_report_result."""

    state_updated: bool
    artifact_written: str | None = None

    @property
    def result(self) -> ReportResult:
        """Return what stands beside the next action."""
        return ReportResult.model_validate(self.model_dump(include={*ReportResult.model_fields}))


_MOST_COUNTED = 10**12


def _whole(number: float) -> int:
    return int(min(number, _MOST_COUNTED))


Count = Annotated[int, BeforeValidator(_whole), Field(ge=0)]
"""A number that ends up in sums of the record; hosts pass fractions too."""


class Previous(Frozen):
    """The host's report on the action before, and the person's answer."""

    complete: bool = False
    tokens: Count = 0
    duration_ms: Count = 0
    model: Words = ""
    setup_only: bool = False
    error: Words = ""
    output: Words = ""
    action_id: str = ""
    user_response: Words = ""
    digest: str = ""

    @property
    def is_report(self) -> bool:
        """Return whether this reports on an action: by its flag, by an error, or by an action id
        with output.
        """
        return self.complete or bool(self.error) or bool(self.action_id and self.output)


class UIComponent(Frozen):
    """A question that any face can render; `forge://schema/ui` is its JSON Schema."""

    kind: Literal["confirmation", "input"]
    title: str
    data: dict[str, JsonValue]
    actions: tuple[Choice, ...] = ()
    requires_response: bool = True
