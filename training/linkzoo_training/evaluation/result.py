"""What a match gave: every game's result, the estimates with their intervals, JSON for cards."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Game, get_game
from linkzoo_training.evaluation.statistics import Counts, Estimate, Sprt, elo, from_blocks

FORMAT = "linkzoo-match/3"


def variants_of(options: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """The options of each game of a block: every combination, where a value is a list of them.

    `{"threshold": [13, 14]}` is `[{"threshold": 13}, {"threshold": 14}]`.
    """
    choices = {
        name: value if isinstance(value, list) else [value]
        for name, value in (options or {}).items()
    }
    for name, values in choices.items():
        if not values:
            raise ValueError(f"{name}: a list of no values")
    return [dict(zip(choices, chosen, strict=True)) for chosen in product(*choices.values())]


def by_block(
    scores: NDArray[np.float64], side: int | None = None, variant: int | None = None
) -> NDArray[np.float64]:
    """The mean of each block [B] of scores [B, V, n], over all sides and variants or of one."""
    scores = scores if side is None else scores[..., side, None]
    scores = scores if variant is None else scores[:, variant, None]
    return np.asarray(scores.mean((1, 2)))


def settings_of(game: Game, options: Mapping[str, Any]) -> list[str]:
    """The options that aren't the standard ones, as on the command line: `threshold=[13,14]`."""
    standard = game.chosen_options(game.blank())
    return [
        f"{name}={json.dumps(value, separators=(',', ':'))}"
        for name, value in options.items()
        if value != standard[name]
    ]


def side_label(game: Game, num_players: int, side: int, roles: Sequence[str]) -> str:
    """`More (seat 0)`, or `seats 0, 2` for a team; `roles` are the game's (`Game.roles`)."""
    seats = [seat for seat, own in enumerate(game.sides(num_players)) if own == side]
    label = f"seat{'s' * (len(seats) > 1)} {', '.join(map(str, seats))}"
    return f"{roles[side]} ({label})" if roles else label


@dataclass(frozen=True)
class MatchResult:
    """What a match gave. In each of B blocks, V x n games differ in options and the side of A.

    Arrays [B, V, n], by block, by the variant (see `variants_of`; mostly there is one) and by the
    side of A: its seat or, where the game has teams, its team. Every action was checked: none was
    illegal.
    """

    game: str
    version: int
    num_players: int
    options: dict[str, Any]  # a list where the games of a block differ
    agents: tuple[str, str]  # the names of A and B
    seed: int
    openings: str  # how its blocks began (openings.py)
    requested: int  # blocks; fewer were played if `sprt` ended it or it was interrupted
    share: NDArray[np.float64]  # of the win that goes to A: 1, 0, or 1/k if k sides share it
    payoff: NDArray[np.float64]  # of A
    length: NDArray[np.int64]  # decisions, the opening's included
    moves: tuple[int, int]  # made by A and by B
    seconds_per_move: tuple[float | None, float | None]  # a batch's time counts once
    sprt: Sprt | None = None  # the test that could end the match before its last block

    @property
    def blocks(self) -> int:
        """Finished blocks."""
        return len(self.share)

    @property
    def games(self) -> int:
        """Finished games."""
        return self.share.size

    @property
    def num_sides(self) -> int:
        """Sides of the game: as many as players, but for teams."""
        return int(self.share.shape[2])

    @property
    def block_shares(self) -> NDArray[np.float64]:
        """A's mean share of the wins in each block, [B]."""
        return by_block(self.share)

    @property
    def interrupted(self) -> bool:
        """Whether it is a part of a match only: no result to publish."""
        decided = self.sprt is not None and self.sprt.verdict(self.block_shares) is not None
        return self.blocks < self.requested and not decided

    @property
    def side_scores(self) -> list[float]:
        """A's share of the wins on each side."""
        return [self.win_share(side).mean for side in range(self.num_sides)]

    def _repr_html_(self) -> str:
        """The table of the result, for notebooks."""
        from linkzoo_training.evaluation.tables import as_html, match_table

        return as_html(match_table(self))

    def counts(self, side: int | None = None) -> Counts:
        """A's wins, draws (wins shared with other sides) and losses, on all sides or on one."""
        share = self.share if side is None else self.share[..., side]
        won, lost = int((share == 1).sum()), int((share == 0).sum())
        return Counts(won, share.size - won - lost, lost)

    def win_share(self, side: int | None = None, variant: int | None = None) -> Estimate:
        """A's share of the wins, over all sides and variants or of one; intervals by blocks."""
        return from_blocks(by_block(self.share, side, variant), 0, 1)

    def mean_payoff(self, side: int | None = None) -> Estimate:
        """A's mean payoff, over all sides or on one; intervals by blocks."""
        return from_blocks(by_block(self.payoff, side), -1, 1)

    def elo(self) -> tuple[float | None, float | None, float | None]:
        """A's rating above B's in a game of two, with its interval; None where infinite."""
        share = self.win_share()
        return elo(share.mean), elo(share.low), elo(share.high)

    def side_label(self, side: int) -> str:
        """`More (seat 0)`: with the role, where the options can't have moved it elsewhere.

        A team is called by its seats: `seats 0, 2`.
        """
        rules = get_game(self.game)
        roles = {rules.roles(variant) for variant in variants_of(self.options)}
        return side_label(rules, self.num_players, side, roles.pop() if len(roles) == 1 else ())

    def to_dict(self) -> dict[str, Any]:
        """JSON data: the settings, the estimates, and A's results block by block."""
        data: dict[str, Any] = {
            "format": FORMAT,
            "game": self.game,
            "version": self.version,
            "num_players": self.num_players,
            "options": self.options,
            "agents": list(self.agents),
            "seed": self.seed,
            "openings": self.openings,
            "blocks": self.blocks,
            "blocks_requested": self.requested,
            "games": self.games,
            "moves": list(self.moves),
            "illegal_moves": 0,  # the first would have ended the match with an error
            "seconds_per_move": list(self.seconds_per_move),
        }
        if not self.blocks:
            return data
        data |= {
            **self.counts()._asdict(),
            "win_share": self.win_share()._asdict(),
            "mean_payoff": self.mean_payoff()._asdict(),
            "sides": [
                {
                    "label": self.side_label(side),
                    **self.counts(side)._asdict(),
                    "win_share": self.win_share(side)._asdict(),
                    "mean_payoff": self.mean_payoff(side)._asdict(),
                }
                for side in range(self.num_sides)
            ],
            "mean_length": float(self.length.mean()),
            "block_shares": self.share.tolist(),
        }
        variants = variants_of(self.options)
        if len(variants) > 1:
            data["variants"] = [
                {"options": options, "win_share": self.win_share(variant=index)._asdict()}
                for index, options in enumerate(variants)
            ]
        if self.num_sides == 2:
            data["elo"] = dict(zip(Estimate._fields, self.elo(), strict=True))
        if self.sprt is not None:
            data["sprt"] = self.sprt.to_dict(self.block_shares)
        return data

    def for_card(self) -> dict[str, Any]:
        """The result for a card: without the single blocks, with the command that repeats it.

        ValueError for a match that was interrupted.
        """
        if self.interrupted:
            raise ValueError(
                f"{self.agents[0]} against {self.agents[1]}: interrupted after {self.blocks:,} of "
                f"{self.requested:,} blocks, no result for a card"
            )
        data = self.to_dict()
        data.pop("block_shares", None)
        data["command"] = " ".join(
            [
                f"linkzoo evaluate {' '.join(self.agents)} --game {self.game}",
                f"--games {self.games} --seed {self.seed} --openings {self.openings}",
                f"--players {self.num_players}",
                *settings_of(get_game(self.game), self.options),
            ]
        )
        return data
