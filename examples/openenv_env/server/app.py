"""OpenEnv's server for one seat of a game.

The environment variables GAME and OPPONENT are names; other agents than random play need the extra
`train`:

    GAME=love_links OPPONENT=greedy python -m server.app --port 8000
"""

import argparse
import os

import uvicorn

from linkzoo.integrations.openenv import make_app

app = make_app(os.environ.get("GAME", "linkage"), opponent=os.environ.get("OPPONENT"))


def main() -> None:
    """Serves until it is stopped."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    args = parser.parse_args()
    uvicorn.run(app, host=args.host, port=args.port)


if __name__ == "__main__":
    main()
