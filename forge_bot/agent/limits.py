"""The limits of one assignment: its duration, and how much it may read and write."""

from pydantic import Field

from forge_bot.values import Frozen


class WorkLimits(Frozen):
    """The limits of one assignment. Each ends it with its own reason."""

    turns: int = Field(
        default=8, ge=1, description="answers that may ask for something, the last excepted"
    )
    requests_per_turn: int = Field(default=8, ge=1, description="things looked up for one answer")
    corrections: int = Field(
        default=3, ge=0, description="answers in a row that may go back to the model"
    )
    result_chars: int = Field(default=8_000, ge=200, description="characters of one result")
    file_chars: int = Field(
        default=16_000, ge=200, description="characters of one result of read_file"
    )
    total_input_tokens: int = Field(
        default=1_000_000, ge=1, description="tokens sent to the model, all turns together"
    )
    output_tokens: int = Field(default=16_000, ge=1, description="tokens one answer may have")
    lookup_seconds: float = Field(
        default=60.0, gt=0, description="time for one request that only reads"
    )
    command_seconds: float = Field(
        default=3_600.0, gt=0, description="time for one request that runs commands"
    )
    tries: int = Field(
        default=0, ge=0, description="times that edits may go back because commands are newly red"
    )
    try_seconds: float = Field(default=900.0, gt=0, description="time for all of these commands")
    seconds: float = Field(default=1_800.0, gt=0, description="time for all of it, in this process")
