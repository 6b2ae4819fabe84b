"""The command line: who, week, load."""

from datetime import date
from pathlib import Path

from rota.reading import BadRota, read_rota

USAGE = """\
usage: rota who FILE DATE
       rota week FILE DATE
       rota load FILE DATE DATE"""


def main(arguments: list[str]) -> int:
    """Run one command; 0 if it worked, 1 if the rota or a date is bad, 2 for bad usage."""
    try:
        return _run(arguments)
    except (BadRota, OSError, ValueError) as error:
        print(f"rota: {error}")
        return 1


def _run(arguments: list[str]) -> int:
    match arguments:
        case ["who", file, day]:
            print(_read(file).on_call(date.fromisoformat(day)))
        case ["week", file, day]:
            for each, person in _read(file).week(date.fromisoformat(day)):
                print(f"{each:%a %Y-%m-%d}  {person}")
        case ["load", file, first, last]:
            for person, days in _read(file).load(date.fromisoformat(first), date.fromisoformat(last)).items():
                print(f"{person}  {days}")
        case _:
            print(USAGE)
            return 2
    return 0


def _read(file: str):
    return read_rota(Path(file).read_text(encoding="utf-8"))
