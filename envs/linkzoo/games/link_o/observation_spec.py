"""The layout of a seat's observation of LINK-O, and of the information hidden from it (R2)."""

from linkzoo.core.observation import ObservationPart as Part
from linkzoo.core.observation import ObservationSpec
from linkzoo.games.link_o.board import BAG, HAND, TILES, Board
from linkzoo.games.link_o.components import MAX_PLAYERS, TYPES, VALUES
from linkzoo.games.link_o.options import MAX_ROUNDS

MAX_SHOWN = 9999  # points; a higher score looks the same
_SEATS = (MAX_PLAYERS,)


def make_spec(board: Board) -> ObservationSpec:
    """Returns the layout of a seat's observation on a board."""
    spaces = (len(board.spaces),)
    by_value = (VALUES, *spaces)
    connectors = (len(board.connectors),)
    constraints = (VALUES, *connectors)
    points = f"points, hundreds and rest; {MAX_SHOWN} is or more"
    parts = (
        Part("hand", (TYPES,), 0, 2, "tiles of each type in the own hand"),
        Part("unseen", (TYPES,), 0, 2, "tiles of each type in the other hands and the bag"),
        Part("occupied", spaces, 0, 1, "1 where a tile lies"),
        Part("linko", spaces, 0, 1, "1 where a LINK-O lies"),
        Part("left_shows", by_value, 0, 1, "1 where the left neighbour shows a value (R11)"),
        Part("right_shows", by_value, 0, 1, "1 where the right neighbour shows a value"),
        Part("placed_by", spaces, 0, MAX_PLAYERS, "1 placed by the observer, 2 by the next seat"),
        Part("constraint", constraints, 0, 1, "1 for values that a connector meets (R12)"),
        Part("blocked", connectors, 0, 1, "1 if a connector meets two values (R12)"),
        Part("hand_size", _SEATS, 0, HAND + BAG, "tiles in each hand"),
        Part("bag_size", (1,), 0, BAG, "tiles in the bag"),
        Part("scores", (MAX_PLAYERS, 2), 0, 99, points),
        Part("target", (2,), 0, 99, "points that win (R20), hundreds and rest"),
        Part("first_turn", _SEATS, 0, 1, "1 while a first turn is to come (R6)"),
        Part("starter", _SEATS, 0, 1, "1 for the seat that started the round"),
        Part("to_act", _SEATS, 0, 1, "1 for the seat to act"),
        Part("round", (1,), 1, MAX_ROUNDS, "number of the round"),
        Part("num_players", (1,), 2, MAX_PLAYERS, "players", categorical=True),
        Part("lacks", (MAX_PLAYERS, TYPES), 0, 1, "1 for types that a seat certainly lacks"),
        Part("dug", _SEATS, 0, BAG, "tiles dug in each seat's latest turn"),
        Part("passed", _SEATS, 0, 1, "1 if a seat's latest turn was a pass"),
    )
    return ObservationSpec(parts)


_ORDER = "tiles by type, second LINK-Os last: 52 is drawn next, then 51; 0 is not in the bag"
PRIVILEGED_SPEC = ObservationSpec(
    (
        Part("hands", (MAX_PLAYERS - 1, TYPES), 0, 2, "tiles of each type in the other hands"),
        Part("draw_order", (TILES,), 0, BAG, _ORDER),
    )
)
