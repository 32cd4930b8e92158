"""The variants of Linkage."""

from dataclasses import dataclass

from linkzoo.core import options
from linkzoo.core.arguments import integer
from linkzoo.games.linkage.components import SIZE
from linkzoo.games.linkage.state import MAX_THRESHOLD, MIN_SIZE, STANDARD_THRESHOLD

EDITIONS = {
    "3x3": {"board_size": 3, "threshold": 4},
    "4x4": {"board_size": 4, "threshold": 6},
    "5x5": {"board_size": 5, "threshold": 8},
}


@dataclass(frozen=True)
class Options(options.Options):
    """Variants of Linkage; the section Options of RULES.md explains them.

    Raises:
        ValueError: Names a value that isn't allowed.
    """

    free_hole: bool = False
    board_size: int = SIZE
    threshold: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        integer("board_size", self.board_size, MIN_SIZE, SIZE)
        if self.threshold is None:
            if self.board_size != SIZE:
                raise ValueError(
                    f"threshold: a board of size {self.board_size} has no standard threshold; "
                    "give one (1 or more)"
                )
            object.__setattr__(self, "threshold", STANDARD_THRESHOLD)
        integer("threshold", self.threshold, 1, MAX_THRESHOLD)

    def decided(self) -> str:
        """Returns why one role always wins; "" if both can win: there are 1..pieces groups."""
        size = self.board_size
        threshold = self.threshold or 0
        cells = size * size
        if size % 2 == 1 or self.free_hole:
            cells -= 1  # the hole
        most = cells // 2  # pieces
        if 2 <= threshold <= most:
            return ""
        winner = "More" if threshold < 2 else "Fewer"
        return f"threshold: with {threshold} on size {size} {winner} always wins; use 2..{most}"
