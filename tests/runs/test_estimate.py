"""What a run will take is estimated from earlier runs like it, else from the recorded run that
ships.
"""

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

from forge_bot.engine.pipeline import Pipeline
from forge_bot.git import Repository
from forge_bot.runs.estimate import Estimate, estimate, shipped_run
from forge_bot.values import Effort, Tier
from tests.fakes import clones
from tests.fakes.bench import DEVELOP
from tests.fakes.sample import Sample
from tests.knowledge.run_scene import past_state

SONNET = "anthropic:claude-sonnet-4-5"
DATED = "claude-sonnet-4-5-20250929"
UNKNOWN = "openai-chat:nobody-knows"
EFFORTS = Path(__file__).parents[2] / "docs" / "runs.md"


def used(
    *, tokens: int = 1_000, cost: str | None = "0.10", model: str = DATED
) -> dict[str, object]:
    """What state.json says of a run's or phase's usage; a tenth of the tokens are the answer's."""
    out = tokens // 10
    return {
        "calls": 3,
        "inputTokens": tokens - out,
        "cachedTokens": 0,
        "outputTokens": out,
        "cost": cost,
        "model": model,
    }


def state(
    usage: object,
    *,
    effort: str = "M",
    status: str = "completed",
    pipeline: str = "develop",
    batch: bool = False,
) -> str:
    return past_state(
        usage=usage,
        effort=effort,
        currentPhaseStatus=status,
        pipeline=pipeline,
        flags={"batch": batch},
    )


def remember(sample: Sample, states: Mapping[str, str]) -> None:
    """Commit the states of past runs."""
    for name, text in states.items():
        folder = sample.path / ".specs" / name
        folder.mkdir(parents=True)
        (folder / "state.json").write_text(text)
    clones.commit(sample)


def expect(
    sample: Sample,
    effort: Effort = Effort.M,
    model: str = SONNET,
    pipeline: Pipeline = DEVELOP,
    **tiers: str,
) -> Estimate:
    repository = Repository.find(sample.path)
    models = {tier: tiers.get(tier.value, model) for tier in Tier}
    return estimate(repository, repository.head().commit, pipeline, effort, models)


def test_batches_cost_half(sample: Sample) -> None:
    repository = Repository.find(sample.path)
    head = repository.head().commit

    def found(model: str, *, batch: bool) -> Estimate:
        models = dict.fromkeys(Tier, model)
        return estimate(repository, head, DEVELOP, Effort.S, models, batch=batch)

    live, batched = (found(SONNET, batch=batch) for batch in (False, True))
    assert live.cost is not None
    assert batched.cost is not None
    assert abs(batched.cost.p50 * 2 - live.cost.p50) <= Decimal("0.0002")
    assert "in batches" in batched.rests_on
    gemini = "google:gemini-2.5-pro"
    assert found(gemini, batch=True).cost == found(gemini, batch=False).cost


def days(count: int) -> list[str]:
    return [f"202601{day:02d}-run" for day in range(1, count + 1)]


def test_five_runs_here_are_evidence_by_themselves(sample: Sample) -> None:
    usages = [used(tokens=1_000 * n, cost=f"0.{n}0") for n in (5, 1, 4, 2, 3)]
    remember(sample, {name: state(usage) for name, usage in zip(days(5), usages, strict=True)})
    found = expect(sample)
    assert (found.tokens.p50, found.tokens.p90) == (3_000, 4_600)
    assert found.cost is not None
    assert (found.cost.p50, found.cost.p90) == (Decimal("0.3000"), Decimal("0.4600"))
    assert (found.runs, found.rests_on) == (5, "from 5 earlier M runs here")


def test_only_finished_runs_of_the_same_effort_and_pipeline_count(sample: Sample) -> None:
    huge = used(tokens=9_000_000, cost="99")
    remember(
        sample,
        {
            **{name: state(used(tokens=2_000)) for name in days(5)},
            "20260201-s": state(huge, effort="S"),
            "20260202-l": state(huge, effort="L"),
            "20260203-abandoned": state(huge, status="abandoned"),
            "20260204-waiting": state(huge, status="awaiting_human"),
            "20260205-other": state(huge, pipeline="theirs"),
            "20260206-batch": state(huge, batch=True),
        },
    )
    assert expect(sample).tokens.p90 == 2_000
    assert expect(sample, Effort.S).rests_on.startswith(
        "from 1 earlier S run here and the recorded run"
    )


def test_the_page_about_efforts_tells_these_figures(sample: Sample) -> None:
    told = EFFORTS.read_text()
    for effort in Effort:
        used = shipped_run(DEVELOP, effort, dict.fromkeys(Tier, SONNET), auto=False)
        dollars = Decimal(used.input_tokens * 3 + used.output_tokens * 15) / 1_000_000
        tokens = used.input_tokens + used.output_tokens
        assert expect(sample, effort).tokens.p50 == tokens
        assert f"| {effort} | {tokens:,} | ${dollars:.2f} |" in told


def test_few_runs_are_mixed_with_the_recorded_one(sample: Sample) -> None:
    alone = expect(sample).tokens.p50
    remember(sample, {name: state(used(tokens=10)) for name in days(2)})
    found = expect(sample)
    assert (found.tokens.p50, found.tokens.p90) == (10, 10 + round((alone - 10) * 8 / 10))
    assert (
        found.rests_on
        == "from 2 earlier M runs here and the recorded run that ships, one small task"
    )


def test_an_unknown_price_leaves_the_tokens(sample: Sample) -> None:
    found = expect(sample, model=UNKNOWN)
    assert found.cost is None
    assert found.tokens.p50 > 0
    assert (
        found.rests_on == "from the recorded run that ships, one small task;"
        f" the price of {UNKNOWN} is unknown, so only tokens"
    )
