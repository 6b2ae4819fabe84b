"""Rows as a table, for a terminal and for Markdown."""

from collections.abc import Sequence

from benchmarks.measuring import Figure, Row

_HEAD = ("measure", "size", "median", "fastest – slowest", "times")
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def plain(rows: Sequence[Row]) -> str:
    """Columns filled with blanks."""
    cells = [_HEAD, *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(_HEAD))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    )


def markdown(rows: Sequence[Row]) -> str:
    """A Markdown table, numbers to the right."""
    lines = [_HEAD, ("---", "---:", "---:", "---:", "---:"), *(_cells(row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cells(row: Row) -> tuple[str, ...]:
    figure = row.figure
    return (
        row.what,
        row.size,
        said(figure.median, figure),
        f"{said(figure.low, figure)} – {said(figure.high, figure)}",
        str(row.times),
    )


def said(value: float, figure: Figure) -> str:
    """A value of a figure with two or three digits that count."""
    if figure.unit != "s":
        return f"{_short(value)} {figure.unit}".strip()
    factor, unit = next((each for each in _UNITS if value >= each[0]), _UNITS[-1])
    return f"{_short(value / factor)} {unit}"


def _short(value: float) -> str:
    # Three digits.
    whole = value >= 100 or value == int(value)  # noqa: PLR2004
    return f"{value:.0f}" if whole else f"{value:.3g}"
