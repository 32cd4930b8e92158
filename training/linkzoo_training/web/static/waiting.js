// What the page waits for: after a moment the server's reason is shown, until the answers are there.

const SOON = 300; // milliseconds until a wait is explained
const AGAIN = 1000; // milliseconds between two looks at the reason

let open = 0; // requests without an answer
let timer;
let place;

/** Begins a wait; returns the function that ends it. */
export function waiting() {
  open += 1;
  timer ??= setTimeout(explain, SOON);
  return () => {
    open -= 1;
    if (open) return;
    clearTimeout(timer);
    timer = undefined;
    if (place) place.hidden = true;
  };
}

async function explain() {
  tell("Waiting for the server …");
  let reasons = ["doesn’t answer yet"];
  try {
    const response = await fetch("api/waiting");
    ({ reasons } = await response.json());
  } catch {
    // Without an answer the page says so.
  }
  if (!open) return;
  tell(`Waiting: the server ${reasons.length ? reasons.join(", ") : "works on the answer"} …`);
  timer = setTimeout(explain, AGAIN);
}

function tell(words) {
  if (!open) return;
  if (!place) {
    place = document.createElement("p");
    place.id = "waiting";
    place.setAttribute("role", "status");
    document.body.append(place);
  }
  place.hidden = false;
  if (place.textContent !== words) place.textContent = words;
}
