"use strict";
(() => {
  const by = (id) => document.getElementById(id);
  const made = (name, text, kind) => {
    const node = document.createElement(name);
    if (text !== undefined) node.textContent = text;
    if (kind) node.className = kind;
    return node;
  };

  // Tables: a button in each heading sorts by what the cells hold.
  const keyOf = (row, at) => {
    const key = row.cells[at].dataset.key;
    return key === undefined ? null : key !== "" && isFinite(key) ? Number(key) : key;
  };
  const order = (one, other) => (typeof one === "number" && typeof other === "number" ? one - other : String(one).localeCompare(String(other), "en"));
  const sort = (table, at) => {
    const heads = [...table.tHead.rows[0].cells];
    const first = typeof keyOf(table.tBodies[0].rows[0], at) === "number" ? "descending" : "ascending";
    const opposite = { ascending: "descending", descending: "ascending" };
    const way = opposite[heads[at].getAttribute("aria-sort")] || first;
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[at].setAttribute("aria-sort", way);
    const rows = [...table.tBodies[0].rows].map((row) => [keyOf(row, at), row]);
    const known = rows.filter((row) => row[0] !== null).sort((one, other) => (way === "ascending" ? 1 : -1) * order(one[0], other[0]));
    table.tBodies[0].append(...known.concat(rows.filter((row) => row[0] === null)).map((row) => row[1]));
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    if (table.tBodies[0].rows.length < 2) continue;
    [...table.tHead.rows[0].cells].forEach((head, at) => {
      const button = made("button", head.textContent);
      button.type = "button";
      button.addEventListener("click", () => sort(table, at));
      head.replaceChildren(button);
    });
  }

  // Questions: packed in parts, each unpacked when one of its questions is opened.
  const unpacked = async (id) => {
    const bytes = Uint8Array.from(atob(by(id).textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  };
  const models = JSON.parse(by("models").textContent);
  const WORDS = VERDICTS_BY_SIGN;
  const PAGE = 50;
  const kept = new Map();
  let index = null, shown = [], start = 0;

  const part = (at) => {
    let number = index.starts.length - 1;
    while (index.starts[number] > at) number -= 1;
    if (!kept.has(number)) {
      if (kept.size > 3) kept.delete(kept.keys().next().value);
      kept.set(number, unpacked("part-" + number));
    }
    return kept.get(number).then((held) => held[at - index.starts[number]]);
  };

  const chip = (verdict, text) => {
    const node = made("span", text, "chip b-" + verdict);
    node.title = verdict;
    return node;
  };
  const box = (text) => {
    const node = made("div", undefined, "said");
    node.tabIndex = 0;
    node.setAttribute("role", "group");
    node.setAttribute("aria-label", "text");
    if (typeof text === "string") node.textContent = text || "(empty)";
    else node.append(text[0], made("i", " [… " + text[1].toLocaleString("en") + " characters are left out …] "), text[2]);
    return node;
  };
  const plain = (text) => (typeof text === "string" ? text : text[0] + "…" + text[2]);
  const talk = (messages) => messages.flatMap(([role, text]) => [made("p", role, "role"), box(text)]);

  const reply = (held) => {
    const head = made("h3");
    head.append(chip(held.verdict, held.verdict), made("span", models[held.model]));
    const how = [];
    if (held.attempt) how.push("attempt " + held.attempt);
    if (held.said !== undefined) how.push("read “" + plain(held.said) + "”");
    if (held.step) how.push("by step “" + held.step + "”");
    how.push(held.points + (held.points === "1" ? " point" : " points"));
    if (held.share !== undefined) how.push("partial credit " + held.share);
    head.append(made("span", how.join(", "), "how"));
    const rest = [];
    if (held.flags) rest.push(made("p", "Flags: " + held.flags.join(", ").replaceAll("_", " ")));
    if (held.mistakes) rest.push(made("p", "Named mistake: " + held.mistakes.join(", ")));
    if (held.error) rest.push(made("p", "Error: " + plain(held.error)));
    if (held.tools) rest.push(made("p", "Calls of tools"), ...talk(held.tools), made("p", "Reply"));
    if (held.text !== undefined) rest.push(box(held.text));
    for (const [name, messages] of held.sessions || []) rest.push(made("p", "Session " + name), ...talk(messages));
    return [head, ...rest];
  };

  const article = (held) => {
    const node = made("article");
    const labels = Object.entries(held.labels).map(([name, value]) => name + " " + value).join(" · ");
    if (labels) node.append(made("p", labels));
    if (held.messages) node.append(made("h3", "Asked"), ...talk(held.messages));
    if (held.truth !== "") node.append(made("h3", "Correct answer"), box(held.truth));
    for (const one of held.replies) node.append(...reply(one));
    return node;
  };

  const open = async (row, button, at) => {
    if (button.getAttribute("aria-expanded") === "true") {
      row.nextSibling.remove();
      button.setAttribute("aria-expanded", "false");
      return;
    }
    button.setAttribute("aria-expanded", "true");
    const more = made("tr"), cell = made("td", "Opening …", "opened");
    cell.colSpan = models.length + 1;
    more.append(cell);
    row.after(more);
    cell.replaceChildren(article(await part(at)));
  };

  const line = (at) => {
    const row = made("tr"), head = made("th"), button = made("button", index.ids[at]);
    head.scope = "row";
    button.type = "button";
    button.setAttribute("aria-expanded", "false");
    button.addEventListener("click", () => open(row, button, at));
    head.append(button);
    row.append(head);
    for (const sign of index.signs[at]) {
      const cell = made("td");
      if (WORDS[sign]) {
        const mark = chip(WORDS[sign]), letter = made("span", sign.toUpperCase());
        letter.setAttribute("aria-hidden", "true");
        mark.append(letter, made("span", WORDS[sign], "unseen"));
        cell.append(mark);
      } else cell.textContent = "–";
      row.append(cell);
    }
    return row;
  };

  const draw = () => {
    by("rows").replaceChildren(...shown.slice(start, start + PAGE).map(line));
    by("found").textContent = shown.length.toLocaleString("en") + " of " + index.ids.length.toLocaleString("en") + " questions";
    by("where").textContent = shown.length ? start + 1 + " to " + Math.min(start + PAGE, shown.length) : "none";
    by("before").disabled = start === 0;
    by("after").disabled = start + PAGE >= shown.length;
    by("pager").hidden = shown.length <= PAGE;
  };

  const choose = () => {
    const text = by("find").value.toLowerCase(), who = by("who").value, what = by("what").value;
    const fits = (signs) => {
      if (what === "!") return new Set(signs).size > 1;
      if (what) return who === "" ? signs.includes(what) : signs[who] === what;
      return who === "" || signs[who] !== "-";
    };
    shown = [];
    for (let at = 0; at < index.ids.length; at += 1)
      if (fits(index.signs[at]) && (!text || index.ids[at].toLowerCase().includes(text))) shown.push(at);
    start = 0;
    draw();
  };

  const turn = (step) => {
    start = Math.max(0, start + step);
    draw();
    by("list").focus();
  };

  unpacked("index").then((held) => {
    index = held;
    for (const id of ["finder", "list"]) by(id).hidden = false;
    by("find").addEventListener("input", choose);
    for (const id of ["who", "what"]) by(id).addEventListener("change", choose);
    by("before").addEventListener("click", () => turn(-PAGE));
    by("after").addEventListener("click", () => turn(PAGE));
    choose();
  });
})();
