"""A configuration broken in every way ends in a sentence with the place, at once, and never in a
traceback.
"""

import time

import pytest

from forge_bot.errors import BadConfig, BadPipeline
from forge_bot.settings.config import Config, parse_config
from tests.settings.own_pipelines import own_pipeline

LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9)
)

BROKEN = {
    "a list": ("- a\n", "file: Input should be a valid mapping"),
    "two documents": ("budget: 1\n---\nbudget: 2\n", "another document"),
    "an unknown key": ("bugdet: 4\n", ":1: bugdet: there is no such key; did you mean budget?"),
    "a key like no other": ("zzzz: 4\n", ":1: zzzz: there is no such key"),
    "a key twice": ("budget: 3\nbudget: 4\n", ":2: the key 'budget' stands twice"),
    "a number as key": ("1: 2\n", "Keys should be strings"),
    "a wrong type": ("budget: lots\n", ":1: budget"),
    "a mapping for a number": ("agent: 3\n", ":1: agent"),
    "an unknown tier": (
        "models: {huge: x}\n",
        ":1: models.huge: Input should be 'fast', 'standard' or 'strong'",
    ),
    "a word for a list": ("protected: docs\n", ":1: protected: Input should be a valid list"),
    "a set of letters in a pattern": (
        "protected: ['db/[a-z]*']\n",
        ":1: protected.0: in a pattern",
    ),
    "a choice in a pattern": ("protected:\n - 'db/{a,b}/**'\n", ":2: protected.0: in a pattern"),
    "a pattern that leads out": ("protected: [../x]\n", "inside the repository"),
    "a command that is a mapping": ("commands: {test: {a: b}}\n", ":1: commands.test"),
    "a quote that never closes": ('commands: {test: "echo \'x"}\n', "No closing quotation"),
    "tabs": ("budget:\n\t- 3\n", ":2: found character"),
    "an escape character": ("budget: \x1b[31m3\n", "characters are not allowed"),
    "brackets without end": ("a: " + "[" * 5_000, "nested more than 50 deep"),
    "a deep list by aliases": (
        "".join(f"k{i}: &k{i} [{'*k' + str(i - 1) if i else 'x'}]\n" for i in range(99)),
        "nested more than 50 deep",
    ),
    "a billion laughs": (LAUGHS, "more than 50,000 values"),
    "a list that holds itself": ("a: &a [*a]\n", "nested more than 50 deep"),
    "an alias for nothing": ("a: *nobody\n", "undefined alias"),
    "a program": (
        "model: !!python/object/apply:os.system [ls]\n",
        "could not determine a constructor",
    ),
    "a date there is not": ("budget: 2020-13-45\n", "month"),
    "a number of a thousand digits": ("budget: " + "9" * 5_000 + "\n", "digits"),
    "a megabyte": ("# " + "x" * 1_000_000, "500,000 are the most"),
    "no number": ("budget: .nan\n", ":1: budget"),
    "too much to mean it": ("budget: 1e999\n", ":1: budget"),
    "nothing": ("budget: 0\n", ":1: budget"),
    "yes": ("budget: yes\n", ":1: budget"),
    "a cap of nothing": ("caps: {month: 0}\n", ":1: caps.month"),
    "a cap of a week": ("caps: {week: 5}\n", ":1: caps.week"),
    "a reminder at once": ("wakes: {remind_after_days: 0}\n", ":1: wakes.remind_after_days"),
}


@pytest.mark.parametrize(("text", "said"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_configuration_is_told_at_once_with_its_place(text: str, said: str) -> None:
    began = time.process_time()
    with pytest.raises(BadConfig) as caught:
        parse_config(text, {})
    assert time.process_time() - began < 3
    told = "\n".join((caught.value.message, *caught.value.details))
    assert said in told
    assert ".forge/config.yml" in told
    assert len(told) < 3_000


def test_an_alias_that_saves_writing_is_welcome() -> None:
    config = parse_config("commands:\n  test: &all [[make, check]]\n  lint: *all\n", {})
    assert config.commands.lint == config.commands.test == (("make", "check"),)


@pytest.mark.parametrize("text", ["", "~\n", "# nothing\n", "\ufeff", "---\n", "\r\n"])
def test_a_file_without_keys_is_a_file_of_defaults(text: str) -> None:
    assert parse_config(text, {}) == Config()


@pytest.mark.parametrize(
    "text", ["", "- a", "kind: phases", LAUGHS, "a: &a [*a]", "\0", "kind: !!python/name:os.system"]
)
def test_a_broken_pipeline_of_ones_own_is_told_with_its_place(text: str) -> None:
    with pytest.raises(BadPipeline) as caught:
        own_pipeline("develop", text)
    assert ".forge/pipelines/develop.yaml" in "\n".join(
        (caught.value.message, *caught.value.details)
    )
