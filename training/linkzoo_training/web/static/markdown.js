// The Markdown that rules are written in, as elements: headings, paragraphs, lists, tables, code,
// with emphasis and code in their lines.

import { make } from "./api.js";

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*]+)\*|\[([^\]]+)\]\([^)]*\)/g;

function inline(text) {
  const found = [];
  let last = 0;
  for (const { 0: all, 1: code, 2: strong, 3: soft, 4: link, index } of text.matchAll(INLINE)) {
    found.push(text.slice(last, index));
    if (code !== undefined) found.push(make("code", {}, code));
    else if (strong !== undefined) found.push(make("strong", {}, ...inline(strong)));
    else if (soft !== undefined) found.push(make("em", {}, ...inline(soft)));
    else found.push(link);
    last = index + all.length;
  }
  return [...found, text.slice(last)];
}

/** Consecutive lines of one kind: [kind, lines]. */
function blocks(text) {
  const found = [];
  let fenced = false;
  for (const line of text.split("\n")) {
    const fence = line.trim().startsWith("```");
    const kind = fence || fenced ? "code" : line.trim() === "" ? "" : /^#/.test(line) ? "heading" : line.startsWith("|") ? "table" : /^\s*(-|\d+\.) /.test(line) ? "item" : "text";
    if (fence) fenced = !fenced;
    const [before, lines] = found.at(-1) ?? [];
    const goes = kind === before && (kind === "table" || kind === "code" || kind === "text");
    if (goes || (kind === "text" && before === "item")) lines.push(line);
    else found.push([kind, [line]]);
  }
  return found;
}

const cells = (row) => row.replace(/^\||\|\s*$/g, "").split("|").map((cell) => cell.trim());

function table(rows) {
  const [head, , ...body] = rows.map(cells);
  const heads = head.map((cell) => (cell ? make("th", { scope: "col" }, ...inline(cell)) : make("td", {})));
  return make(
    "div",
    { className: "wide", tabIndex: 0, role: "region", "aria-label": "table" },
    make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...body.map((row) => make("tr", {}, ...row.map((cell) => make("td", {}, ...inline(cell))))))),
  );
}

/** Elements of a text; its headings begin at `<h{level}>`. */
export function markdown(text, level = 3) {
  const found = [];
  let list;
  for (const [kind, lines] of blocks(text)) {
    const words = lines.map((line) => line.trim()).join(" ");
    if (kind !== "item" && kind !== "") list = undefined;
    if (kind === "heading") {
      const depth = words.match(/^#+/)[0].length;
      found.push(make(`h${Math.min(6, level + Math.max(0, depth - 2))}`, {}, ...inline(words.replace(/^#+ */, ""))));
    } else if (kind === "item") {
      const tag = /^\d/.test(words) ? "ol" : "ul";
      if (!list) found.push((list = make(tag, {})));
      const item = words.replace(/^(-|\d+\.) +/, "");
      const [, rule] = item.match(/^\*\*(R\d+)/) ?? [];
      list.append(make("li", rule ? { "data-rule": rule } : {}, ...inline(item)));
    } else if (kind === "table") found.push(table(lines));
    else if (kind === "code") found.push(make("pre", { tabIndex: 0 }, lines.filter((line) => !line.trim().startsWith("```")).join("\n")));
    else if (kind === "text") found.push(make("p", {}, ...inline(words)));
  }
  return found;
}
