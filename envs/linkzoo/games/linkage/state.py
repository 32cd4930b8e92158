"""The record of Linkage. A cell (r, c) is the bit 7r + c of a 49-bit set."""

from linkzoo.core.state import Field, record_dtype
from linkzoo.games.linkage import components
from linkzoo.games.linkage.components import CELLS, MAX_PIECES, NUM_COLOURS

# Phases.
PLAY = 0
HOLE = 1  # a seat places the hole (R11)
ROLE = 2  # a seat takes a role (R11)

NONE = -1
STANDARD_THRESHOLD = 12
MAX_THRESHOLD = 32767
MIN_SIZE = 3  # of the board

_ALL_CELLS = 2**CELLS - 1
FIELDS = (
    # The options.
    Field("free_hole", "i1", (), 0, 1),
    Field("board_size", "i1", (), MIN_SIZE, components.SIZE),
    Field("threshold", "i2", (), 1, MAX_THRESHOLD),
    # The game.
    Field("phase", "i1", (), PLAY, ROLE),
    Field("more", "i1", (), NONE, 1),  # the seat that plays More; NONE before it is chosen
    Field("hole", "i1", (), NONE, CELLS - 1),  # a cell, or NONE
    Field("num_pieces", "i1", (), 0, MAX_PIECES),
    # The piece that carries the green counter, or NONE.
    Field("counter", "i1", (), NONE, MAX_PIECES - 1),
    Field("groups", "i1", (), 0, MAX_PIECES),
    Field("supply", "i1", (NUM_COLOURS,), 0, components.MAX_SUPPLY),
    # colour * 84 + placement, in order
    Field("pieces", "i2", (MAX_PIECES,), 0, components.HOLE_ACTION - 1),
    Field("occupied", "u8", (), 0, _ALL_CELLS),  # covered cells and the hole
    Field("coloured", "u8", (NUM_COLOURS,), 0, _ALL_CELLS),
)
STATE = record_dtype(FIELDS)
