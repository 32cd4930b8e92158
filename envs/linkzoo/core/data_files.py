"""Files of data that are compiled in, such as boards: those of the package, and any others."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from linkzoo.core.arguments import file_text

T = TypeVar("T")


@dataclass(frozen=True)
class DataFiles:
    """The values of an option that names data.

    Attributes:
        option: The name of the option.
        noun: What a value is, such as "board".
        folder: The folder of the package's JSON files; a file's name is that of its data.
        others: Other files of the package by name; None: data that need no file.
        kinds: What files may be, for messages.
    """

    option: str
    noun: str
    folder: Path
    others: Mapping[str, Path | None] = field(default_factory=dict)
    kinds: str = "JSON"

    def names(self) -> list[str]:
        """Returns the names of the package's data, `others` first."""
        return [*self.others, *sorted(path.stem for path in self.folder.glob("*.json"))]

    def full_name(self, name: str) -> str:
        """Returns a name of the package's data, or the whole path of another file."""
        if name in self.names():
            return name
        return os.path.abspath(name)  # noqa: PTH100  # takes any string

    def text(self, name: str) -> str:
        """Returns the text of a file.

        Args:
            name: A name of the package's data that has a file, or the path of a file.

        Raises:
            ValueError: There is no such file, or it can't be read.
        """
        path = name
        if name in self.names():
            path = str(self.others.get(name) or self.folder / f"{name}.json")
        text = file_text(self.option, path)
        if text is None:
            raise ValueError(
                f"{self.option}: no {self.noun} {name[:80]!r}; there are {self.names()}, or give a "
                f"{self.kinds} file"
            )
        return text

    def parsed(self, name: str, parse: Callable[[str], T]) -> T:
        """Returns the data of a file.

        Args:
            name: As for `text`.
            parse: Returns the data of the file's text, or raises ValueError.

        Raises:
            ValueError: There is no such file, or names the option, the data and their error.
        """
        text = self.text(name)
        try:
            return parse(text)
        except ValueError as error:
            reason = str(error).removeprefix(f"{self.option}: ")
            raise ValueError(f"{self.option}: {name}: {reason}") from error
