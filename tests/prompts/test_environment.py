"""Templates are found, rendered with plain data, and fail with their name and line."""

import pytest

from forge_bot.errors import BadTemplate
from forge_bot.prompts.environment import Environment
from forge_bot.values import Frozen
from tests.fakes.rows import rows

ROWS = rows(__file__)


class Facts(Frozen):
    word: str = "word"
    number: int = 3
    names: tuple[str, ...] = ("ann", "bob")


def render(text: str) -> str:
    return Environment({"_probe.md.j2": text}).render("_probe.md.j2", Facts())


def refusal(text: str) -> str:
    with pytest.raises(BadTemplate) as caught:
        render(text)
    return caught.value.message


def test_a_template_prints_the_facts_it_is_given() -> None:
    assert (
        render(
            "{% for name in names %}{{ loop.index }} {{ name }}{{ ', ' if not loop.last }}{%"
            " endfor %}"
        )
        == "1 ann, 2 bob"
    )


def test_a_tag_on_a_line_of_its_own_leaves_no_line_behind() -> None:
    assert render("a\n  {% if number == 3 %}\nb\n  {% endif %}\nc\n") == "a\nb\nc\n"


def test_a_text_is_printed_as_it_is_and_never_rendered_again() -> None:
    probe = Environment({"_probe.md.j2": "{{ word }}"})
    assert (
        probe.render("_probe.md.j2", Facts(word="<b>&{{ number }}{% raw %}"))
        == "<b>&{{ number }}{% raw %}"
    )


def test_a_syntax_error_is_told_with_template_and_line() -> None:
    assert (
        refusal("one\ntwo {% if %}")
        == ".forge/prompts/_probe.md.j2, line 2: Expected an expression, got 'end of statement"
        " block'."
    )


def test_an_unknown_name_is_told_with_template_and_line() -> None:
    assert (
        refusal("one\n\n{{ numbr }}")
        == ".forge/prompts/_probe.md.j2, line 3: 'numbr' is undefined."
    )


def test_an_error_in_a_partial_is_told_with_the_partial_and_its_line() -> None:
    probe = Environment(
        {"_outer.md.j2": "{% include '_inner.md.j2' %}", "_inner.md.j2": "\n{{ nobody }}"}
    )
    with pytest.raises(
        BadTemplate, match=r"^\.forge/prompts/_inner\.md\.j2, line 2: 'nobody' is undefined\.$"
    ):
        probe.render("_outer.md.j2", Facts())


def test_a_missing_partial_is_told_with_the_line_that_wants_it() -> None:
    assert (
        refusal("\n{% include '_gone.md.j2' %}")
        == ".forge/prompts/_probe.md.j2, line 2: there is no template '_gone.md.j2'."
    )


@pytest.mark.parametrize("text", ROWS["no_attribute_leads_out_of"])
def test_no_attribute_leads_out_of_the_sandbox(text: str) -> None:
    assert "line 1" in refusal(text)


@pytest.mark.parametrize(
    "text", ["{{ names.append('eve') }}", "{{ names.clear() }}", "{% set names.x = 1 %}"]
)
def test_a_template_cannot_change_what_it_was_given(text: str) -> None:
    assert "line 1" in refusal(text)


@pytest.mark.parametrize(
    "name", ["../pipelines/develop.yaml", "/etc/passwd", "shipped/../../pyproject.toml", "_again"]
)
def test_an_include_reads_templates_only(name: str) -> None:
    assert refusal(f"{{% include '{name}' %}}").endswith(f"there is no template '{name}'.")


@pytest.mark.parametrize(
    "text", ["{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "{% include '_probe.md.j2' %}"]
)
def test_a_template_that_calls_itself_is_told(text: str) -> None:
    assert "calls itself without end" in refusal(text)


def test_a_repository_can_replace_a_template_or_a_partial() -> None:
    assert Environment({"architect.md.j2": "Ours."}).render("architect.md.j2", Facts()) == "Ours."
    assert (
        Environment(
            {"_probe.md.j2": "{% include '_untrusted.md.j2' %}", "_untrusted.md.j2": "Ours."}
        ).render("_probe.md.j2", Facts())
        == "Ours."
    )


def test_an_override_can_build_on_the_template_it_replaces() -> None:
    ours = Environment({"_task.md.j2": "{% include 'shipped/_task.md.j2' %}\nOurs."})
    text = ours.render("_task.md.j2", Holder(task=Task()))
    assert "Task 7: Say hello" in text
    assert text.endswith("Ours.")


class Task(Frozen):
    id: str = "7"
    title: str = "Say hello"
    files: tuple[str, ...] = ()
    acceptance: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    mode: str = "sequential"


class Holder(Frozen):
    task: Task


def test_a_check_finds_an_override_that_nobody_would_render() -> None:
    with pytest.raises(BadTemplate, match=r"architekt\.md\.j2: no agent has this name") as caught:
        Environment({"architekt.md.j2": ""}).check(["architect"])
    assert caught.value.details == ("Expected: architect.md.j2.",)


def test_a_check_finds_an_agent_without_template() -> None:
    with pytest.raises(
        BadTemplate, match=r"auditor\.md\.j2: the pipeline has this agent, but it has no template"
    ):
        Environment().check(["auditor"])
    Environment({"auditor.md.j2": "Audit."}).check(["auditor"])


def test_a_check_finds_wrong_syntax_before_the_template_is_needed() -> None:
    with pytest.raises(BadTemplate, match="line 2"):
        Environment({"_again.md.j2": "\n{% endif %}"}).check(["architect"])
