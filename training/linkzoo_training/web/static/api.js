// Requests to the server, and small helpers of the page.

import { waiting } from "./waiting.js";

let page = new AbortController();

/** Aborts the requests of the page that is left: the server stops its analyses. */
export function abandon() {
  page.abort();
  page = new AbortController();
}

export async function ask(path, body, method) {
  return JSON.parse(await askText(path, body === undefined ? undefined : JSON.stringify(body), method));
}

/** The answer to a request as JSON text. Records stay text: JavaScript would round their seeds. */
export async function askText(path, body, method) {
  const options = { method: method ?? (body === undefined ? "GET" : "POST"), signal: page.signal };
  if (body !== undefined) {
    options.headers = { "Content-Type": "application/json" };
    options.body = body;
  }
  const { response, answer } = await answered(path, options);
  if (!response.ok) {
    const error = new Error(errorIn(answer) ?? `the server says ${response.status}`);
    error.status = response.status;
    throw error;
  }
  return answer;
}

/** The response to a request, and its text. */
async function answered(path, options) {
  const done = waiting();
  try {
    const response = await fetch(`api/${path}`, options);
    return { response, answer: await response.text() };
  } catch (error) {
    throw error.name === "AbortError" ? error : new Error("the server doesn't answer");
  } finally {
    done();
  }
}

/** The message of an error; undefined if the answer is none of the server, but of a proxy. */
function errorIn(answer) {
  try {
    return JSON.parse(answer).error;
  } catch {
    return undefined;
  }
}

/** The answer to a request, cached in a map by its key; a failed request is repeated. */
export async function once(kept, key, question) {
  if (!kept.has(key)) kept.set(key, question());
  try {
    return await kept.get(key);
  } catch (error) {
    kept.delete(key);
    throw error;
  }
}

/** An element with properties (`aria-…` and `data-…` are attributes) and children. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role" || name === "for") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function labelled(words, input) {
  return make("label", {}, words, input);
}

export function button(label, onclick, properties = {}) {
  let running = false; // a second click while the first is answered does nothing
  const run = async () => {
    if (running) return;
    running = true;
    await guarded(onclick);
    running = false;
  };
  return make("button", { type: "button", onclick: run, ...properties }, label);
}

/** A button for what can't be undone: the first click asks, the second one does it. */
export function sureButton(label, question, onclick, properties = {}) {
  const sure = button(label, async () => {
    if (sure.textContent === label) {
      sure.textContent = question;
      return;
    }
    sure.textContent = label;
    await onclick();
  }, properties);
  sure.onblur = () => (sure.textContent = label);
  return sure;
}

export function say(error) {
  const place = document.getElementById("error");
  place.textContent = error === "" ? "" : `Sorry: ${error}`;
  place.hidden = error === "";
}

/** Runs an action and shows its error; returns whether it succeeded. */
export async function guarded(task) {
  say("");
  try {
    await task();
    return true;
  } catch (error) {
    if (error.name !== "AbortError") say(error.message);
    return false;
  }
}

/** The name of a player: a person's name, if there is one, or the agent's. */
export function called(who, name) {
  return name || (who === "human" ? "a person" : who);
}

export function result(view) {
  if (view.winners.length === (view.seats?.length ?? view.players)) return "The game is a draw.";
  const one = view.winners.length === 1;
  return `Player${one ? "" : "s"} ${view.winners.join(" and ")} ${one ? "wins" : "win"}.`;
}

export function download(name, text) {
  const address = URL.createObjectURL(new Blob([text]));
  make("a", { href: address, download: name }).click();
  URL.revokeObjectURL(address);
}
