"""Language models as agents, against a local server that speaks the protocol, well or badly."""

import json
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkzoo import GameRecord, Positions, RandomAgent, get_game
from linkzoo.testing.play import positions as played
from linkzoo.text.moves import legal_moves
from linkzoo_training.agents.make import make_agent
from linkzoo_training.agents.named import NamedAgent
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.commands.cli import main
from linkzoo_training.evaluation.match import Match
from linkzoo_training.llm.agent import LlmAgent
from linkzoo_training.llm.journal import open_journal
from linkzoo_training.llm.settings import LlmSettings
from linkzoo_training.llm.usage import GivesUpError, LlmUsage
from linkzoo_training.selfplay.executors import ProcessExecutor
from linkzoo_training.web.offers import read_agent
from tests.driving import first_quick
from tests.llm.server import LlmServer, llm_server

pytest.importorskip("openai")

SMALL = {"board_size": 3, "threshold": 3}


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with llm_server() as running:
        yield running


def make(server: LlmServer, model: str, **settings: object) -> LlmAgent:
    agent = make_agent(server.agent(model, **settings), "linkage", SMALL)
    assert isinstance(agent, LlmAgent)
    return agent


def some_positions(count: int = 1) -> Positions:
    game = get_game("linkage")
    states = np.array([played(game, 2, SMALL, seed)[0] for seed in range(count)])
    return Positions(game, states, np.arange(count, dtype=np.uint64))


FIRST = 0  # the first legal action: W a1-b1


def test_the_model_is_told_rules_and_position(server: LlmServer) -> None:
    agent, positions = make(server, "first", temperature=0.5, max_tokens=77), some_positions()
    assert agent.act(positions).tolist() == [FIRST]
    (asked,) = server.requests
    rules, prompt = asked.pop("messages")
    assert asked == {"model": "first", "temperature": 0.5, "max_tokens": 77}
    assert rules["role"] == "system"
    assert "board_size = 3 instead of 7" in rules["content"]
    assert prompt["role"] == "user"
    assert prompt["content"].startswith("You are player 0 (More) of 2 in Linkage.")
    assert positions.comments == ["The first is fine.\n\nI take the first.\nMove: 1"]
    usage = agent.usage
    assert (usage.decisions, usage.legal, usage.refused, usage.drawn) == (1, 1, 0, 0)
    assert (usage.requests, usage.prompt_tokens, usage.completion_tokens) == (1, 100, 10)
    assert usage.cost is None


@pytest.mark.parametrize(("rules", "size"), [("none", 1), ("short", 2), ("full", 2)])
def test_rules_are_short_or_full_or_absent(server: LlmServer, rules: str, size: int) -> None:
    settings = {"rules": rules, "tokens_field": "max_completion_tokens"}
    make(server, "first", **settings).act(some_positions())
    (asked,) = server.requests
    assert len(asked["messages"]) == size
    assert ("## Rules" in asked["messages"][0]["content"]) == (rules == "full")
    assert asked["max_completion_tokens"] == 4096
    assert "max_tokens" not in asked
    assert "temperature" not in asked


def test_the_model_is_told_the_moves_so_far(server: LlmServer) -> None:
    """In matches, both players' moves are in the prompt; the budget of thoughts in the request."""
    name = server.agent("first", reasoning_effort="low", thinking_tokens=99)
    agent = make_agent(name, "linkage", SMALL)
    Match("linkage", agent, RandomAgent(), 1, openings="0", options=SMALL).play(batch=1)
    assert all(request["reasoning_effort"] == "low" for request in server.requests)
    prompts = [request["messages"][-1]["content"] for request in server.requests]
    assert all("Think in at most 99 tokens" in prompt for prompt in prompts)
    moves = "^Moves so far:\n1. player 0: [A-Z] .*\n2. player 1: [A-Z] "
    assert any(re.search(moves, prompt, re.MULTILINE) for prompt in prompts)


def test_the_model_may_ask_for_the_moves(server: LlmServer) -> None:
    """Once, and it is no illegal answer."""
    server.answers = ["Move: ?", "Move: 1"]
    agent = make(server, "says", moves="on_request", tries=1)
    positions = some_positions()
    assert agent.act(positions).tolist() == [FIRST]
    first, second = (request["messages"] for request in server.requests)
    assert "## Notation" in first[0]["content"]
    assert "1. W a1-b1" not in first[1]["content"]
    assert second[-1]["content"].startswith("Legal moves:\n")
    assert (agent.usage.legal, agent.usage.refused, agent.usage.drawn) == (1, 0, 0)
    server.answers = ["Move: 1", "Move: W a1-b1"]
    agent = make(server, "says", moves="hidden")
    assert agent.act(positions).tolist() == [FIRST]
    assert "a1-b1" not in server.requests[-1]["messages"][-1]["content"]
    assert agent.usage.refused == 1


def test_an_illegal_answer_is_refused_with_a_lesson(server: LlmServer) -> None:
    server.answers = ["Move: hole a1", "I give up", "Move: b c2-c3"]
    agent, positions = make(server, "says"), some_positions()
    (action,) = agent.act(positions)
    assert positions.game.notation.action_to_text(positions.states[0], int(action)) == "B c2-c3"
    first, second, third = (request["messages"] for request in server.requests)
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    assert second[-2] == {"role": "assistant", "content": "Move: hole a1"}
    assert "hole a1 is not legal here. Legal moves" in second[-1]["content"]
    assert "states no move" in third[-1]["content"]
    assert (agent.usage.legal, agent.usage.refused, agent.usage.drawn) == (0, 2, 0)
    assert "(refused: hole a1 is not legal here" in positions.comments[0]


@pytest.mark.parametrize(
    ("model", "why"),
    first_quick(
        [
            ("rambling", "(refused: "),
            ("huge", "(no reply: it has more than 2,097,152 bytes)"),
            ("compressed", "(no reply: it is compressed)"),
            ("no_text", "(no reply: its content is not text)"),
            ("drips", "(no reply: it takes more than 0.3 s)"),
        ],
        2,
        3,
    ),
)
def test_after_bad_answers_the_move_is_drawn(server: LlmServer, model: str, why: str) -> None:
    timeout = 0.3 if model == "drips" else 60
    agent = make(server, model, tries=2, retries=0, timeout=timeout)
    positions = some_positions()
    assert agent.act(positions).tolist() == RandomAgent().act(positions).tolist()
    assert len(server.requests) == 2
    assert (agent.usage.legal, agent.usage.refused, agent.usage.drawn) == (0, 2, 1)
    assert why in positions.comments[0]
    assert positions.comments[0].endswith("(drawn at random)")
    assert len(positions.comments[0]) < 10_000


_COMPLETION = '{"choices": [{"message": {"content": "Move: 1"}}]}'


@pytest.mark.parametrize(
    ("body", "status"),
    first_quick(
        [
            ('{"error": {"code": 429, "message": "too many"}}', 429),
            ('{"error": {"code": "rate_limit_exceeded", "status": "429"}}', 429),
            ('{"error": "overloaded"}', 502),
            ('{"object": "error", "message": "no such model", "code": 404}', 404),
            ('{"choices": [{"error": {"code": 503}, "message": {"content": "Mo"}}]}', 503),
            ('{"choices": [{"finish_reason": "error", "message": {"content": "Move: 1"}}]}', 502),
            ('{"error": {"code": 500}, "choices": [{"message": {"content": "Move: 1"}}]}', 500),
            ('{"detail": "Not authenticated"}', 502),
            ("<html>log in first</html>", 502),
            ('{"choices": [{"mess', 502),
            ('{"choices": []}', 502),
            ('{"choices": {}}', 502),
            ("null", 502),
            ("[]", 502),
        ],
        2,
        12,
    ),
)
def test_an_error_with_status_200_is_never_an_answer(
    server: LlmServer, body: str, status: int
) -> None:
    """It ends a match, and is tried again if the status is one that passes."""
    server.answers = [body]
    agent = make(server, "reports", retries=0)
    with pytest.raises(GivesUpError, match=f"Error code: {status}|{re.escape(body)}"):
        agent.act(some_positions())
    assert agent.usage == LlmUsage()
    if status != 404:
        server.answers = [body, _COMPLETION]
        assert make(server, "reports", retries=1).act(some_positions()).tolist() == [FIRST]


def test_failed_requests_are_tried_again(server: LlmServer) -> None:
    assert make(server, "fails_once").act(some_positions()).tolist() == [FIRST]
    assert len(server.requests) == 2


def test_a_server_says_when_to_come_back(server: LlmServer) -> None:
    start = time.perf_counter()
    assert make(server, "limited").act(some_positions()).tolist() == [FIRST]
    assert time.perf_counter() - start >= 0.2
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("model", "message"),
    first_quick(
        [
            ("refusing", "AuthenticationError: .*Bearer \\*\\*\\*"),
            ("failing", "InternalServerError: (Error code: 500|<html>out of order)"),
            ("slow", "APITimeoutError"),
            ("elsewhere", "307"),
        ],
        1,
        3,
    ),
)
def test_it_gives_up_where_the_server_fails(
    server: LlmServer, model: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "sesame-1234")
    agent = make(server, model, retries=0, timeout=0.2, key_env="SECRET")
    with pytest.raises(GivesUpError, match=message) as caught:
        agent.act(some_positions())
    assert server.url in str(caught.value)
    assert "sesame" not in str(caught.value)
    assert set(server.keys) == {"Bearer sesame-1234"}


def test_no_server_at_all() -> None:
    agent = make_agent("llm:x,base_url=http://127.0.0.1:9/v1,retries=0", "linkage")
    with pytest.raises(GivesUpError, match=r"http://127.0.0.1:9/v1.*APIConnectionError"):
        agent.act(some_positions())


def test_keys_stay_out_of_records_and_go_where_they_should(
    server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sesame-1234")
    positions = some_positions()
    make(server, "echoes").act(positions)  # a server that no key was named for
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    agent = make_agent("llm:echoes", "linkage")
    agent.act(positions)
    assert server.keys == ["Bearer none", "Bearer sesame-1234"]
    assert positions.comments == ["You sent Bearer ***.\nMove: 1"]
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ValueError, match="set the environment variable OPENAI_API_KEY"):
        make_agent("llm:echoes", "linkage")
    with pytest.raises(ValueError, match="set the environment variable MISSING"):
        make(server, "first", key_env="MISSING")


@pytest.mark.parametrize("key", first_quick(["1", "Move", "EMPTY"], slow=2))
def test_a_short_key_damages_no_answer(
    key: str, server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", key)
    positions = some_positions()
    server.answers = ["Move: EMPTY", "Move: 1"]
    agent = make(server, "says", key_env="SECRET")
    assert agent.act(positions).tolist() == [FIRST]
    assert server.keys == [f"Bearer {key}"] * 2
    assert "Move: EMPTY" in positions.comments[0]
    assert positions.comments[0].endswith("Move: 1")


def test_a_move_is_read_from_an_answer_with_the_key(
    server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key hides in the record, not from the reader: here it is a move's text."""
    positions = some_positions()
    secret = list(legal_moves(positions.game, positions.states[0]))[-1]
    monkeypatch.setenv("SECRET", f"{secret}.")  # eight characters
    server.answers = [f"Move: {secret}."]
    agent = make(server, "says", key_env="SECRET", tries=1)
    (action,) = agent.act(positions)
    assert agent.usage.legal == 1
    assert positions.game.notation.action_to_text(positions.states[0], int(action)) == secret
    assert positions.comments == ["Move: ***"]


def test_many_positions_are_asked_at_once(server: LlmServer) -> None:
    agent = make(server, "at_once", concurrency=4)
    assert agent.act(some_positions(12)).tolist() == [FIRST] * 12
    assert 1 < server.most_at_once <= 2 * 4  # an answered one may not have ended yet
    assert agent.usage.requests == agent.usage.legal == 12


def test_money_and_tokens_are_counted(server: LlmServer) -> None:
    agent = make(server, "first", price_in=2, price_out=30)
    agent.act(some_positions(5))
    assert agent.usage.cost == pytest.approx(5 * (100 * 2 + 10 * 30) / 1e6)
    assert str(agent.usage) == (
        "100.0% of 5 moves legal at once, 0 drawn at random, 500 + 50 tokens in 5 requests, "
        "cost 0.0025"
    )
    agent.begin_match()
    assert (agent.usage.requests, agent.usage.cost) == (0, 0.0)
    agent = make(server, "absurd_usage")
    agent.act(some_positions())
    messages = server.requests[-1]["messages"]
    expected = -(-sum(len(message["content"]) for message in messages) // 3)
    assert (agent.usage.prompt_tokens, agent.usage.completion_tokens) == (expected, 3)
    assert agent.usage.estimated == 1
    assert "about " in str(agent.usage)


def test_content_may_come_in_parts(server: LlmServer) -> None:
    server.answers = [
        json.dumps({"choices": [{"message": {"content": parts}}]})
        for parts in (
            [
                {"type": "thinking", "thinking": "The first?"},
                {"type": "text", "text": "Move: "},
                {"type": "text", "text": "1"},
                {"type": "image", "image": "x"},
            ],
            [{"type": "text", "text": 5}],
        )
    ]
    positions = some_positions()
    agent = make(server, "reports", tries=1)
    assert agent.act(positions).tolist() == [FIRST]
    assert positions.comments == ["The first?\n\nMove: 1"]
    agent.act(positions)
    assert "(no reply: its content is not text)" in positions.comments[0]


def test_a_stopped_match_resumes_without_asking_twice(server: LlmServer, tmp_path: Path) -> None:
    """The result is that of a match that never stopped, its cost included."""
    match: dict[str, Any] = {"blocks": 3, "openings": "0", "options": SMALL}
    settings = {"price_in": 2, "price_out": 30, "concurrency": 1}
    expected = Match("linkage", make(server, "first", **settings), RandomAgent(), **match).play()
    asked = len(server.requests)
    journal = tmp_path / "answers" / "journal.jsonl"
    stopping = make(server, "first", **settings, journal=journal, budget_tokens=900)
    with pytest.raises(GivesUpError):
        Match("linkage", stopping, RandomAgent(), **match).play()
    known = len(server.requests) - asked
    assert 0 < known < asked
    journal.write_bytes(journal.read_bytes() + b'{"key": "cut o')
    open_journal.cache_clear()
    agent = make(server, "first", **settings, journal=journal)
    result = Match("linkage", agent, RandomAgent(), **match).play()
    assert len(server.requests) == 2 * asked
    report, wanted = result.reports[0], expected.reports[0]
    assert report is not None
    assert wanted is not None
    assert report.data == {**wanted.data, "replayed": known}
    assert f"{known} of them from the journal" in report.summary
    assert (result.share == expected.share).all()
    open_journal.cache_clear()
    journal.write_text("{}\n")
    with pytest.raises(ValueError, match="line 1: no answer of a journal"):
        make(server, "first", journal=journal)


def test_agents_share_a_rate_limit(server: LlmServer) -> None:
    start = time.perf_counter()
    for _ in range(2):
        make(server, "first", requests_per_minute=1200).act(some_positions(3))
    assert time.perf_counter() - start >= 5 * 60 / 1200


def test_a_move_has_its_time(server: LlmServer) -> None:
    """No further answer is asked for after it."""
    agent = make(server, "slow_talk", tries=9, move_seconds=0.15)
    positions = some_positions()
    agent.act(positions)
    assert 1 <= len(server.requests) <= 3
    assert (agent.usage.drawn, agent.usage.refused) == (1, len(server.requests))
    assert positions.comments[0].endswith("(drawn at random)")


@pytest.mark.parametrize(
    ("budget", "message"),
    first_quick(
        [
            ({"budget_cost": 0.005, "price_in": 2, "price_out": 30}, "budget of 0.005 is spent"),
            ({"budget_tokens": 1000}, "the budget of 1,000 tokens is spent"),
        ]
    ),
)
def test_a_budget_is_kept(server: LlmServer, budget: dict[str, float], message: str) -> None:
    """10 requests, and those under way."""
    agent = make(server, "first", concurrency=2, **budget)
    with pytest.raises(GivesUpError, match=message):
        agent.act(some_positions(20))
    assert 10 <= agent.usage.requests <= 12


@pytest.mark.slow
def test_a_spent_budget_ends_a_match_with_its_finished_games(server: LlmServer) -> None:
    name = server.agent("first", budget_tokens=500, concurrency=1)
    agent = NamedAgent(AgentSpec.parse(name), "linkage", SMALL)
    other = RandomAgent()
    match, message = Match("linkage", agent, other, 9, options=SMALL), "500 tokens is spent"
    for _ in range(2):  # each match has the budget
        result = match.play(batch=1, partial=True)
        assert 0 < result.games < 18
        assert result.interrupted
        assert message in result.stopped
        assert message in "\n".join(result.notes())
        report, none = result.reports
        assert report is not None
        assert none is None
        assert report.data["requests"] == 5
        assert result.to_dict()["reports"] == [report.data, None]
    with pytest.raises(GivesUpError, match=message):
        match.play(batch=9)


@pytest.mark.slow
def test_matches_are_played_and_recorded(
    server: LlmServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, games = server.agent("markup"), tmp_path / "games"
    command = f"evaluate {name} greedy --game linkage --games 4 --openings 0 --record {games}"
    settings = [f"{name}={value}" for name, value in SMALL.items()]
    assert main([*command.split(), "--json", str(tmp_path / "m.json"), *settings]) == 0
    assert "legal at once" in capsys.readouterr().out
    data = json.loads((tmp_path / "m.json").read_text())
    assert data["reports"][0]["legal"] == data["reports"][0]["decisions"] == data["moves"][0] > 0
    files = sorted(games.iterdir())
    assert len(files) == 4
    for file, side in zip(files, [0, 1, 0, 1], strict=True):
        record = GameRecord.load(file)
        states = list(record.replay())
        own = [i for i in range(len(record.actions)) if states[i].seat == side]
        assert sorted(record.comments) == own
        assert set(record.comments.values()) == {"<script>alert(1)</script>\x1b[2J Move: 1"}
        assert "<script" not in record._repr_html_()
        assert GameRecord.from_dict(record.to_dict()) == record


@pytest.mark.slow
def test_tournaments_take_models(server: LlmServer, tmp_path: Path) -> None:
    name = server.agent("first")
    settings = [f"{name}={value}" for name, value in SMALL.items()]
    command = f"tournament {name} random --game linkage --games 2 --output {tmp_path}"
    assert main([*command.split(), *settings]) == 0
    assert f"| {name} |" in (tmp_path / "ratings.md").read_text()


def test_pages_ask_for_models_of_the_command_line_alone(server: LlmServer) -> None:
    name = server.agent("first")
    linkage = get_game("linkage")
    assert str(read_agent(name, linkage, 2, {}, {name: AgentSpec.parse(name)})) == name
    with pytest.raises(ValueError, match="the page doesn't offer it"):
        read_agent(name, linkage, 2, {})
    with pytest.raises(ValueError, match="the page doesn't offer it"):
        read_agent("llm:gpt", linkage, 2, {})


def test_workers_play_no_models(server: LlmServer) -> None:
    name = server.agent("first")
    agent = NamedAgent(AgentSpec.parse(name), "linkage", SMALL)
    match = Match("linkage", agent, agent, 1, options=SMALL)
    with pytest.raises(ValueError, match="play in this process"):
        match.play(executor=ProcessExecutor(2))


def test_a_stop_ends_what_is_under_way(server: LlmServer) -> None:
    """An exception of one request ends the others, as Ctrl-C does."""
    agent = make(server, "drips", timeout=30, retries=0, concurrency=8)

    def stop() -> None:
        while agent._client is None:
            time.sleep(0.01)
        time.sleep(0.3)
        agent._client.close()

    threading.Thread(target=stop).start()
    start = time.perf_counter()
    with pytest.raises(GivesUpError):
        agent.act(some_positions(8))
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "name a model"),
        ("m,heat=3", "no setting 'heat'; there are base_url, key_env, "),
        ("m,temperature=hot", "temperature: 'hot' is not a number in 0..10"),
        ("m,temperature=nan", "temperature: nan is not in 0..10|not a number"),
        ("m,tries=0", "tries: 0 is not in 1..100"),
        ("m,tries=2.5", "tries: '2.5' is not an integer in 1..100"),
        ("m,rules=all", r"rules='all' is not one of \['short', 'full', 'none'\]"),
        ("m,base_url=", "base_url: no text"),
        ("m,price_in=1", "set both price_in and price_out"),
        ("m,budget_cost=1", "set both price_in and price_out"),
    ],
)
def test_wrong_names(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LlmSettings.parse(text)
    with pytest.raises(ValueError, match=message):
        AgentSpec.parse(f"llm:{text}").check("linkage")


def test_names_of_models_are_kept_as_they_are() -> None:
    for name in ("llm:meta/Llama-3.1:70b@latest~1", "llm:m,temperature=0,base_url=http://h:1/v1"):
        spec = AgentSpec.parse(name)
        assert (spec.kind, str(spec)) == ("llm", name)
        assert spec.with_simulations(3) == spec
    assert LlmSettings.parse("a/b:c@d").model == "a/b:c@d"


@pytest.mark.slow
def test_benchmarks_take_models(
    server: LlmServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every part is counted; the same command asks for nothing that is in the file."""
    name, path = server.agent("reads", price_in=1, price_out=1), tmp_path / "b.json"
    command = f"llm benchmark {name} --game linkage --positions 5 --games 0 --json {path}".split()
    assert main(command) == 0
    assert "blunders" in capsys.readouterr().out
    (part,) = json.loads(path.read_text())["parts"].values()
    assert part["report"] == {
        "decisions": 5,
        "legal": 5,
        "refused": 0,
        "drawn": 0,
        "requests": 5,
        "replayed": 0,
        "estimated": 0,
        "prompt_tokens": 500,
        "completion_tokens": 50,
        "cost": pytest.approx(550 / 1e6),
    }
    assert main(command) == 0
    assert len(server.requests) == 5
    assert main([*command, "--seed", "1"]) == 2
    assert "has other settings" in capsys.readouterr().err
