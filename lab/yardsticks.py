"""Measures an agent by fixed matches: `python -m lab.yardsticks AGENT --game GAME`.

The matches of `yardsticks.json` have fixed seeds, chosen before any agent was trained, and
thousands of games. Opponents are named with the SHA-256 of their weights; other weights under the
same name are refused. In `mixed` tables each agent has half of the seats
(`evaluation.mixed_tables`). `linear` and action networks play as compiled code (`search.duel`).

Every finished match is appended to `--out` as a line of JSON, so a stopped run resumes.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from linkzoo_training.agents.named import NamedAgent
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.evaluation.match import Match, blocks_of
from linkzoo_training.evaluation.mixed_tables import mixed_tables
from linkzoo_training.evaluation.statistics import Estimate

YARDSTICKS = Path(__file__).with_name("yardsticks.json")
_BATCH = 512  # blocks in lock-step: with 64 a network takes three times as long per move
_SETTINGS = ("game", "opponent", "num_players", "mixed", "games", "seed", "openings")


def yardsticks(game: str) -> list[dict[str, Any]]:
    """Returns the matches of a game.

    Raises:
        ValueError: An opponent has other weights than the file says.
    """
    matches = json.loads(YARDSTICKS.read_text(encoding="utf-8"))
    matches = [match for match in matches if match["game"] == game]
    for match in matches:
        digest = AgentSpec.parse(match["opponent"]).digest(game)
        if digest != match["sha256"]:
            raise ValueError(f"{match['opponent']} of {game} has changed: its SHA-256 is {digest}")
    return matches


def measure(spec: AgentSpec, match: dict[str, Any]) -> Estimate:
    """Plays a match; returns the agent's share of the wins."""
    game = match["game"]
    players = match["num_players"]
    agent = NamedAgent(spec, game)
    opponent = NamedAgent(AgentSpec.parse(match["opponent"]), game)
    blocks = blocks_of(game, players, match["games"])

    def progress(finished: int, total: int) -> None:
        print(f"\r{finished:,} of {total:,} blocks", end="", flush=True)

    if match["mixed"]:
        estimate = mixed_tables(
            game,
            agent,
            opponent,
            blocks,
            num_players=players,
            seed=match["seed"],
            openings=match["openings"],
            progress=progress,
        )
    else:
        played = Match(game, agent, opponent, blocks, match["seed"], match["openings"], players)
        estimate = played.play(batch=_BATCH, timed=False, progress=progress).win_share()
    print("\r", end="")
    return estimate


def finished(path: Path) -> list[dict[str, Any]]:
    """Returns the results of a file; there may be none."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("agent")
    parser.add_argument("--game", required=True)
    parser.add_argument("--out", type=Path, default=Path("yardsticks.jsonl"))
    arguments = parser.parse_args()
    spec = AgentSpec.parse(arguments.agent).resolved(arguments.game)
    known = finished(arguments.out)
    print("| agent | opponent | players | games | share of wins, % |")
    print("|---|---|---|---:|---|")
    for match in yardsticks(arguments.game):
        settings = {name: match[name] for name in _SETTINGS}
        entry = {"agent": str(spec), "sha256": spec.digest(arguments.game), **settings}
        result = next((line for line in known if entry.items() <= line.items()), None)
        if result is None:
            result = {**entry, "win_share": measure(spec, match)._asdict()}
            with arguments.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(result) + "\n")
        share = Estimate(**result["win_share"]).percent()
        table = " (mixed)" if match["mixed"] else ""
        row = (
            str(spec),
            match["opponent"],
            f"{match['num_players']}{table}",
            f"{match['games']:,}",
        )
        print("|", " | ".join((*row, share)), "|", flush=True)


if __name__ == "__main__":
    main()
