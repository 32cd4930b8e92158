"""The record of LINK-O.

A hand is a set of types, as bits, and a second set for the types held twice. On the board,
`shows[side, value]` has a bit for each space whose neighbour on that side shows the value. These
sets follow from the tiles on the board, and bits are only ever added in a round.
"""

from linkzoo.core.state import Field, record_dtype
from linkzoo.games.link_o import options
from linkzoo.games.link_o.board import BAG, HAND, MAX_SPACES, TILES
from linkzoo.games.link_o.components import MAX_PLAYERS, NONE, TYPES, VALUES, WILD

# Sides of a space.
LEFT = 0  # towards `prev`
RIGHT = 1  # towards `next`
PARTNER = 2
# The end of the last round.
NOT_YET = 0  # there was none
OUT = 1  # a seat went out (R17)
BLOCKED = 2  # (R18)
MAX_SCORE = 2**30
SCORE_SCALE = 64

FIELDS = (
    # The options.
    Field("digest", "u8"),  # of the board
    Field("target", "i2", (), 0, options.MAX_TARGET),
    Field("circle_bonus", "i1", (), 0, options.MAX_BONUS),
    Field("open_connectors", "i1", (), options.ANY_MATCHING_COLOR, options.ADJACENT_ONLY),
    Field("dig", "i1", (), options.UNTIL_PLAYABLE, options.ONE),
    Field("next_starter", "i1", (), options.LEFT_OF_PREVIOUS_STARTER, options.FIRST_SEAT),
    Field("blocked_tie", "i1", (), options.NO_SCORE, options.SPLIT),
    Field("max_rounds", "i1", (), 1, options.MAX_ROUNDS),
    Field("redeal_inference", "i1", (), 0, 1),
    # The match.
    Field("scores", "i4", (MAX_PLAYERS,), 0, MAX_SCORE),
    Field("round_number", "i1", (), 1, options.MAX_ROUNDS),
    Field("starter", "i1", (), 0, MAX_PLAYERS - 1),  # of the round
    Field("last_how", "i1", (), NOT_YET, BLOCKED),  # how the round before ended
    Field("last_winner", "i1", (), NONE, MAX_PLAYERS - 1),  # NONE without one
    Field("last_points", "i2", (), 0),
    # Hands, by seat, and the bag.
    Field("held", "u8", (MAX_PLAYERS,)),  # types
    Field("twice", "u8", (MAX_PLAYERS,)),  # types held twice: LINK-Os
    Field("hand_size", "i1", (MAX_PLAYERS,), 0, HAND + BAG),
    Field("bag", "i1", (TILES,), NONE, TYPES - 1),  # drawn from its end; NONE where drawn
    Field("bag_size", "i1", (), 0, BAG),
    # Public knowledge about each seat.
    Field("first_turn", "i1", (MAX_PLAYERS,), 0, 1),  # still to come (R6)
    Field("dug", "i1", (MAX_PLAYERS,), 0, BAG),  # tiles, in its latest turn
    Field("passed", "i1", (MAX_PLAYERS,), 0, 1),  # its latest turn
    # Types that it certainly doesn't hold; while it is to act, the tile that it dug last excepted.
    Field("lacks", "u8", (MAX_PLAYERS,)),
    # The board, by space.
    Field("code", "i1", (MAX_SPACES,), NONE, WILD),  # of the tile, or NONE
    Field("value", "i1", (MAX_SPACES,), NONE, VALUES - 1),  # of a connector (R14), or NONE
    Field("owner", "i1", (MAX_SPACES,), NONE, MAX_PLAYERS - 1),  # who placed the tile, or NONE
    # Sets of spaces.
    Field("occupied", "u8"),
    Field("adjacent", "u8"),  # to an occupied one (R10)
    Field("shows", "u8", (3, VALUES)),
)
STATE = record_dtype(FIELDS)
