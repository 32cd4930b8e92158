"""The variants of Love Links."""

from dataclasses import dataclass

from linkzoo.fields import boolean


@dataclass(frozen=True)
class Options:
    """Variants of Love Links; ValueError names a value that isn't allowed.

    - `short`: the game ends as soon as a side has 90 points (R21).
    - `skip_forced`: a decision with one legal action is taken without asking.
    """

    short: bool = False
    skip_forced: bool = False

    def __post_init__(self) -> None:
        boolean("short", self.short)
        boolean("skip_forced", self.skip_forced)
