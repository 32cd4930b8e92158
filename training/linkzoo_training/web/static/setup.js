// The first page: a new game, or a record from a file.

import { ask, button, guarded, make } from "./api.js";

export async function setupPage(page) {
  const { games, agents } = await ask("catalogue");
  const form = make("form", { className: "card" });
  const fields = make("div", { className: "fields" });
  const seats = make("div", { className: "fields" });
  const options = make("div", { className: "fields" });
  const names = make("select", { id: "game" }, ...games.map((g) => make("option", { value: g.name }, g.title)));
  const count = make("select", { id: "players" });
  const seed = make("input", { id: "seed", inputMode: "numeric", pattern: "[0-9]*", placeholder: "new each time" });
  const known = make("datalist", { id: "agents" });
  const game = () => games.find((one) => one.name === names.value);

  const showSeats = () => {
    const before = [...seats.querySelectorAll("input")].map((input) => input.value);
    seats.replaceChildren(
      ...Array.from({ length: Number(count.value) }, (_, seat) =>
        labelled(
          `Player ${seat}${game().roles[seat] ? ` (${game().roles[seat]})` : ""}`,
          agentField(`seat${seat}`, before[seat] ?? (seat === 0 ? "human" : "random")),
        ),
      ),
    );
  };
  const showGame = () => {
    const one = game();
    count.replaceChildren(...one.players.map((n) => make("option", { value: n }, `${n}`)));
    known.replaceChildren(...[...agents, ...one.agents].map((name) => make("option", { value: name })));
    options.replaceChildren(...one.options.map(optionField));
    seats.replaceChildren();
    showSeats();
  };
  names.onchange = showGame;
  count.onchange = showSeats;
  fields.append(labelled("Game", names), labelled("Players", count), labelled("Seed", seed));
  form.append(
    make("h1", {}, "New game"),
    fields,
    make("p", { className: "soft" }, "Each seat is “human” or an agent: random, greedy, uct-100, checkpoint, a checkpoint’s name, with :64 behind it for a search."),
    seats,
    known,
    make("details", {}, make("summary", {}, "Options of the game"), options),
    make("div", { className: "row" }, make("button", { type: "submit", className: "main" }, "Start")),
  );
  form.onsubmit = (event) => {
    event.preventDefault();
    guarded(async () => {
      const wanted = {
        game: names.value,
        seats: [...seats.querySelectorAll("input")].map((input) => input.value.trim()),
        options: Object.fromEntries([...options.querySelectorAll("[name]")].map((input) => [input.name, valueOf(input)])),
        seed: seed.value === "" ? null : Number(seed.value),
      };
      const start = form.querySelector("button.main");
      start.disabled = true;
      start.textContent = "Starting … (a game is compiled at its first use)";
      try {
        const { id } = await ask("tables", wanted);
        location.hash = `#/table/${id}`;
      } finally {
        start.disabled = false;
        start.textContent = "Start";
      }
    });
  };
  showGame();
  page.replaceChildren(form, recordCard());
}

function recordCard() {
  const file = make("input", { type: "file", accept: ".json,application/json", id: "file" });
  const open = async () => {
    if (!file.files.length) throw new Error("choose a file first");
    let data;
    try {
      data = JSON.parse(await file.files[0].text());
    } catch {
      throw new Error(`${file.files[0].name} is no JSON`);
    }
    const { id } = await ask("replays", data);
    location.hash = `#/replay/${id}/0`;
  };
  return make(
    "section",
    { className: "card" },
    make("h1", {}, "Replay a record"),
    make("div", { className: "row" }, labelled("A saved game (JSON)", file), button("Open", open)),
  );
}

function labelled(words, input) {
  return make("label", {}, words, input);
}

function agentField(id, value) {
  const input = make("input", { id, value, autocomplete: "off", spellcheck: false });
  input.setAttribute("list", "agents");
  return input;
}

function optionField(option) {
  if (option.kind === "choice") {
    const select = make("select", { name: option.name }, ...option.choices.map((c) => make("option", { value: c }, `${c}`)));
    select.dataset.kind = typeof option.choices[0] === "number" ? "number" : "text";
    select.value = option.default;
    return labelled(option.name, select);
  }
  if (option.kind === "flag") {
    const box = make("input", { type: "checkbox", name: option.name, checked: option.default });
    return make("label", { className: "flag" }, box, option.name);
  }
  return labelled(option.name, make("input", { type: "number", name: option.name, value: option.default }));
}

function valueOf(input) {
  if (input.type === "checkbox") return input.checked;
  return input.type === "number" || input.dataset.kind === "number" ? Number(input.value) : input.value;
}
