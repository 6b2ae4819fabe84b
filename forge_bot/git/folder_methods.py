"""Functions of a folder as methods of the classes that have one."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, Protocol, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")


class HasFolder(Protocol):
    """A repository or a work tree."""

    @property
    def folder(self) -> Path:
        """The top of its work tree."""
        ...


def of_folder(
    function: Callable[Concatenate[Path, Given], Result],
) -> Callable[Concatenate[HasFolder, Given], Result]:
    """Return a method that calls the function with the folder of its object."""

    @wraps(function)
    def method(owner: HasFolder, /, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        return function(owner.folder, *args, **kwargs)

    return method
