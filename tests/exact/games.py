"""Small games with known values: Kuhn poker, and a game for every way to draw."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import (
    Chance,
    Drawing,
    Facts,
    Field,
    Game,
    Mask,
    Notation,
    Observation,
    ObservationPart,
    ObservationSpec,
    Record,
    Rules,
    compiled,
    rng,
)

OVER = -1


def notation() -> Notation:
    """Actions by their numbers."""
    return Notation(
        action_to_text=lambda _, action: str(action), text_to_action=lambda _, text: int(text)
    )


# Kuhn poker (Kuhn 1950): three cards, an ante of 1, one bet of 1. Pass (0) or bet (1). Its value is
# -1/18 for the first seat.

KUHN_FIELDS = (
    Field("deck", "i1", (3,), -1, 2, hidden="all"),
    Field("left", "i1", (), 0, 3),
    Field("hand", "i1", (2,), 0, 2, hidden="others"),
    Field("history", "i1", (3,), -1, 1),
)


@compiled
def kuhn_new(state: Record, seed: np.uint64) -> None:
    """Deals a card to each seat."""
    state.seed = seed
    state.winners = 0
    state.ply = 0
    state.seat = 0
    state.left = 3
    state.history[:] = -1
    for card in range(3):
        state.deck[card] = card
    rng.shuffle(state.deck, 3, seed, 0, 0)
    for seat in range(2):
        state.left -= 1
        state.hand[seat] = state.deck[state.left]
        state.deck[state.left] = -1


@compiled
def kuhn_legal(state: Record, mask: Mask) -> None:
    """Pass and bet, until the end."""
    mask[:] = state.seat != OVER


@compiled
def kuhn_apply(state: Record, action: int) -> None:
    """The game ends after two passes, after a bet and its answer."""
    ply = int(state.ply)
    state.history[ply] = action
    bets = 0
    for step in range(ply + 1):
        bets += state.history[step]
    state.ply = ply + 1
    state.seat = (ply + 1) % 2
    if ply == 2 or (ply == 1 and action == state.history[0]):
        state.winners = 1 << int(state.hand[1] > state.hand[0])
        if bets == 1:
            state.winners = 1 << int(state.history[1])
        state.seat = OVER
    elif ply == 1 and bets == 1 and action == 0:
        state.winners = 1
        state.seat = OVER


@compiled
def kuhn_payoffs(state: Record, out: NDArray[np.float32]) -> None:
    """One chip, two after a bet that was called; 1 is two chips."""
    bets = 0
    for step in range(int(state.ply)):
        bets += state.history[step]
    chips = 0.5
    if bets == 2:
        chips = 1.0
    for seat in range(2):
        out[seat] = -chips
        if (int(state.winners) >> seat) & 1:
            out[seat] = chips


@compiled
def kuhn_observe(state: Record, seat: int, out: NDArray[Any]) -> None:
    """The own card and all actions."""
    out[0] = seat
    out[1] = state.hand[seat]
    for step in range(3):
        out[2 + step] = state.history[step]


@compiled
def kuhn_reveal(state: Record, seat: int, out: NDArray[Any]) -> None:
    """The other card."""
    out[0] = state.hand[1 - seat]


@compiled
def kuhn_determinize(state: Record, seat: int, seed: np.uint64) -> None:
    """The other seat may have either of the other cards."""
    state.seed = seed
    other = (int(state.hand[seat]) + 1 + rng.below(2, seed, 0, 1)) % 3
    state.hand[1 - seat] = other
    state.deck[0] = 3 - other - int(state.hand[seat])


KUHN = Game(
    name="kuhn",
    version=0,
    title="Kuhn poker",
    players=(2, 2),
    num_actions=2,
    fields=KUHN_FIELDS,
    rules=Rules(
        new_game=kuhn_new,
        legal_actions=kuhn_legal,
        apply=kuhn_apply,
        payoffs=kuhn_payoffs,
        determinize=kuhn_determinize,
    ),
    observation=Observation(
        spec=ObservationSpec(
            (
                ObservationPart("seat", (1,), 0, 1, "own seat"),
                ObservationPart("hand", (1,), 0, 2, "own card"),
                ObservationPart("history", (3,), -1, 1, "actions"),
            )
        ),
        observe=kuhn_observe,
        privileged_spec=ObservationSpec((ObservationPart("hand", (1,), 0, 2, "other card"),)),
        reveal=kuhn_reveal,
    ),
    notation=notation(),
    drawing=Drawing(text=lambda state, _=None: f"{state.history}\n"),
    facts=Facts(typical_length=2, max_length=3, open_moves=True),
    chance=Chance(pile="deck", size="left"),
)

# A solitaire for every way to draw: roll a die of three (0), draw a tile (1), draw two (2), or draw
# all, shuffle the discarded tiles into a new pile and draw one of it (3). After `LENGTH` actions an
# even sum wins.

TILES = np.array([1, 1, 2, 3])
LENGTH = 3
DRAWS_FIELDS = (
    Field("pile", "i1", (4,), 0, 3),
    Field("left", "i1", (), 0, 4),
    Field("discard", "i1", (4,), 0, 3),
    Field("discarded", "i1", (), 0, 4),
    Field("total", "i1", (), 0, 100),
    Field("last", "i1", (), 0, 6),
)


@compiled
def draws_new(state: Record, seed: np.uint64) -> None:
    """Shuffles the pile."""
    state.seed = seed
    state.winners = 0
    state.ply = 0
    state.seat = 0
    state.left = 4
    state.discarded = 0
    state.discard[:] = 0
    state.total = 0
    state.last = 0
    for place in range(4):
        state.pile[place] = TILES[place]
    rng.shuffle(state.pile, 4, seed, 0, 0)


@compiled
def draws_legal(state: Record, mask: Mask) -> None:
    """All that the pile allows."""
    mask[:] = 0
    if state.seat != OVER:
        mask[0] = 1
        mask[1] = state.left > 0
        mask[2] = state.left > 1
        mask[3] = state.discarded > 0


@compiled
def draw_tile(state: Record) -> None:
    """Draws a tile and discards it."""
    state.left -= 1
    state.last = state.pile[state.left]
    state.pile[state.left] = 0
    state.total += state.last
    state.discard[state.discarded] = state.last
    state.discarded += 1


@compiled
def draws_apply(state: Record, action: int) -> None:
    """Draws."""
    if action == 0:
        state.last = 1 + rng.below(3, state.seed, 1, state.ply)
        state.total += state.last
    elif action == 3:
        while state.left > 0:
            draw_tile(state)
        for place in range(int(state.discarded)):
            state.pile[place] = state.discard[place]
        state.left = state.discarded
        state.discard[:] = 0
        state.discarded = 0
        rng.shuffle(state.pile, int(state.left), state.seed, 2, state.ply)  # type: ignore[arg-type]  # an integer
        draw_tile(state)
    else:
        for _ in range(action):
            draw_tile(state)
    total = int(state.total)
    state.ply += 1
    if state.ply == LENGTH:
        state.seat = OVER
        state.winners = 1 + total % 2


@compiled
def draws_observe(state: Record, seat: int, out: NDArray[Any]) -> None:
    """Everything but the order of the pile."""
    out[0] = state.ply
    out[1] = state.total
    out[2] = state.left


@compiled
def draws_payoffs(state: Record, out: NDArray[np.float32]) -> None:
    """An even sum wins."""
    out[0] = 1.0 - 2.0 * (state.total % 2)
    out[1] = -out[0]


@compiled
def draws_determinize(state: Record, seat: int, seed: np.uint64) -> None:
    """Shuffles the pile."""
    state.seed = seed
    rng.shuffle(state.pile, int(state.left), seed, 3, 0)


DRAWS = Game(
    name="draws",
    version=0,
    title="Draws",
    players=(2, 2),
    num_actions=4,
    fields=DRAWS_FIELDS,
    rules=Rules(
        new_game=draws_new,
        legal_actions=draws_legal,
        apply=draws_apply,
        payoffs=draws_payoffs,
        determinize=draws_determinize,
    ),
    observation=Observation(
        spec=ObservationSpec(
            (
                ObservationPart("ply", (1,), 0, LENGTH, "ply"),
                ObservationPart("total", (1,), 0, 100, "sum"),
                ObservationPart("left", (1,), 0, 4, "tiles in the pile"),
            )
        ),
        observe=draws_observe,
    ),
    notation=notation(),
    drawing=Drawing(text=lambda state, _=None: f"{state.total}\n"),
    facts=Facts(typical_length=3, max_length=LENGTH),
    chance=Chance(pile="pile", size="left"),
)


@compiled
def put_back(state: Record, action: int) -> None:
    """Draws a tile, looks at it, and puts it below the pile."""
    last = int(state.left) - 1
    tile = int(state.pile[last])
    for place in range(last, 0, -1):
        state.pile[place] = state.pile[place - 1]
    state.pile[0] = tile
    state.last = tile
    state.ply += 1
    if state.ply == LENGTH:
        state.seat = OVER
        state.winners = 1


@compiled
def roll_raw(state: Record, action: int) -> None:
    """Draws by the generator itself."""
    state.total += int(rng.random_u64(int(state.seed), 1, int(state.ply)) % np.uint64(3))
    state.ply += 1
    state.seat = OVER
    state.winners = 1


PUTS_BACK = replace(DRAWS, name="puts_back", rules=replace(DRAWS.rules, apply=put_back))
ROLLS_RAW = replace(DRAWS, name="rolls_raw", rules=replace(DRAWS.rules, apply=roll_raw))


@compiled
def legal_by_hand(state: Record, mask: Mask) -> None:
    """Only the highest card may bet."""
    mask[:] = 0
    if state.seat != OVER:
        mask[0] = 1
        mask[1] = state.hand[state.seat] == 2


@compiled
def see_nothing(state: Record, seat: int, out: NDArray[Any]) -> None:
    """Forgets the hand."""
    out[:] = 0


BLIND = replace(
    KUHN,
    name="blind",
    rules=replace(KUHN.rules, legal_actions=legal_by_hand),
    observation=replace(KUHN.observation, observe=see_nothing),
)


@compiled
def only_bet(state: Record, mask: Mask) -> None:
    """Nobody may pass."""
    mask[:] = 0
    mask[1] = state.seat != OVER


# Liar's dice for two with a die of three faces each, as OpenSpiel plays it: in turn a higher bid
# (action (quantity - 1) * 3 + face - 1), or a challenge (6) of the last bid. The highest face
# counts as every other. The dice are rolled by `rng.below`: there is no pile.

FACES = 3
CHALLENGE = 2 * FACES
DICE_FIELDS = (
    Field("dice", "i1", (2,), 1, FACES, hidden="others"),
    Field("bids", "i1", (CHALLENGE + 1,), 0, 1),
    Field("last", "i1", (), -1, CHALLENGE),
)


@compiled
def dice_new(state: Record, seed: np.uint64) -> None:
    """Rolls a die for each seat."""
    state.seed = seed
    state.winners = 0
    state.ply = 0
    state.seat = 0
    state.bids[:] = 0
    state.last = -1
    for seat in range(2):
        state.dice[seat] = 1 + rng.below(FACES, seed, 0, seat)


@compiled
def dice_legal(state: Record, mask: Mask) -> None:
    """A higher bid, or a challenge of one."""
    mask[:] = 0
    if state.seat != OVER:
        for bid in range(state.last + 1, CHALLENGE):
            mask[bid] = 1
        mask[CHALLENGE] = state.last >= 0


@compiled
def dice_apply(state: Record, action: int) -> None:
    """Bids, or shows the dice."""
    seat = int(state.seat)
    bid = int(state.last)
    state.bids[action] = 1
    state.last = action
    state.ply += 1
    state.seat = 1 - seat
    if action == CHALLENGE:
        count = 0
        for other in range(2):
            count += state.dice[other] == 1 + bid % FACES or state.dice[other] == FACES
        state.winners = 1 << seat
        if count > bid // FACES:
            state.winners = 1 << (1 - seat)
        state.seat = OVER


@compiled
def dice_observe(state: Record, seat: int, out: NDArray[Any]) -> None:
    """The own die and all bids."""
    out[0] = seat
    out[1] = state.dice[seat]
    for action in range(CHALLENGE + 1):
        out[2 + action] = state.bids[action]


@compiled
def dice_reveal(state: Record, seat: int, out: NDArray[Any]) -> None:
    """The other die."""
    out[0] = state.dice[1 - seat]


@compiled
def dice_determinize(state: Record, seat: int, seed: np.uint64) -> None:
    """The other die shows any face."""
    state.seed = seed
    state.dice[1 - seat] = 1 + rng.below(FACES, seed, 1, 0)


LIARS_DICE = Game(
    name="liars_dice",
    version=0,
    title="Liar's dice",
    players=(2, 2),
    num_actions=CHALLENGE + 1,
    fields=DICE_FIELDS,
    rules=Rules(
        new_game=dice_new,
        legal_actions=dice_legal,
        apply=dice_apply,
        determinize=dice_determinize,
    ),
    observation=Observation(
        spec=ObservationSpec(
            (
                ObservationPart("seat", (1,), 0, 1, "own seat"),
                ObservationPart("die", (1,), 1, FACES, "own die"),
                ObservationPart("bids", (CHALLENGE + 1,), 0, 1, "bids so far"),
            )
        ),
        observe=dice_observe,
        privileged_spec=ObservationSpec((ObservationPart("die", (1,), 1, FACES, "other die"),)),
        reveal=dice_reveal,
    ),
    notation=notation(),
    drawing=Drawing(text=lambda state, _=None: f"{state.bids}\n"),
    facts=Facts(typical_length=3, max_length=CHALLENGE + 1, open_moves=True),
    chance=Chance(),
)
