// The viewer of environments: scores, hint and source, which is coloured when it is opened.

const KEYWORDS = ("False None True and as assert async await break class continue def del elif else except finally for from "
  + "global if import in is lambda match nonlocal not or pass raise return self try while with yield").split(" ");
/** Comments, strings, keywords and numbers, as groups in this order. */
const PYTHON = new RegExp([
  "(#[^\\n]*)",
  "((?:\\b[rbfuRBFU]{1,2})?(?:\"\"\"[\\s\\S]*?(?:\"\"\"|$)|'''[\\s\\S]*?(?:'''|$)"
    + "|\"(?:\\\\.|[^\"\\\\\\n])*\"?|'(?:\\\\.|[^'\\\\\\n])*'?))",
  `\\b(${KEYWORDS.join("|")})\\b`,
  "\\b(\\d[\\d_.]*(?:e[+-]?\\d+)?)\\b",
].join("|"), "g");

/** Python's source as text nodes, with a class for comments, strings, keywords and numbers. */
function coloured(source) {
  const parts = [];
  let end = 0;
  for (const match of source.matchAll(PYTHON)) {
    if (match.index > end) parts.push(source.slice(end, match.index));
    const name = ["c", "t", "k", "l"][match.slice(1).findIndex((group) => group !== undefined)];
    parts.push(make("span", { class: name }, match[0]));
    end = match.index + match[0].length;
  }
  parts.push(source.slice(end));
  return parts;
}

function environments(viewer) {
  const all = data("environments"), form = viewer.querySelector("form");
  const said = (place) => (place < 0 ? null : all.texts[place]);
  const rows = all.rows.map(([side, run, step, id, skill, valid, reason, rate, regret, low, high, hint, source, author]) => (
    { side, run, step, id, valid, rate, regret, low, high, skill: said(skill), reason: said(reason), hint: said(hint),
      source: said(source), author: said(author) }));
  const skills = [...new Set(rows.map((row) => row.skill).filter((skill) => skill !== null))].sort();
  let restart = () => {};
  const again = () => restart();
  const sides = [...new Set(rows.map((row) => row.side))];
  const side = choice(form, "side", "run", [["", "all"], ...sides.map((place) => [place, all.labels[place]])], again);
  const skill = choice(form, "skill", "skill", [["", "all"], ...skills.map((name) => [name, name])], again);
  const state = choice(form, "state", "proposals", [["1", "accepted"], ["0", "rejected"], ["", "all"]], again);
  const order = choice(form, "order", "order", [["step", "by step"], ["-regret", "highest regret first"],
    ["regret", "lowest regret first"], ["-rate", "highest win rate first"], ["rate", "lowest win rate first"]], again);
  const text = search(form, "text in source or hint", again);

  function list() {
    const wanted = matcher(text.value), key = order.value.replace("-", ""), sign = order.value.startsWith("-") ? -1 : 1;
    const found = rows.filter((row) => (side.value === "" || row.side === Number(side.value))
      && (skill.value === "" || row.skill === skill.value)
      && (state.value === "" || row.valid === Number(state.value))
      && (!wanted || wanted(row.source) || wanted(row.hint) || wanted(row.id) || wanted(row.reason)));
    const missing = (row) => row[key] === null || row[key] === undefined;
    found.sort((a, b) => (missing(a) - missing(b)) || (missing(a) ? 0 : sign * (a[key] - b[key])));
    return [found, rows.length];
  }

  function draw(row) {
    const interval = row.low === null ? "" : ` [${figure(row.low)}, ${figure(row.high)}]`;
    const score = row.valid
      ? make("span", { class: "figure" }, `win rate ${figure(row.rate)} · regret ${figure(row.regret)}${interval}`)
      : make("span", { class: "worse" }, `rejected: ${or(row.reason, "no reason")}`);
    const head = make("summary", {}, make("span", { class: `s${row.side % COLOURS}` }, all.labels[row.side]),
      `step ${or(row.step, "–")}`, make("span", {}, or(row.skill, "no skill")), score,
      make("code", { class: "fine" }, or(row.id, "")));
    const body = make("div", {});
    const entry = make("details", { class: "entry" }, head, body);
    entry.addEventListener("toggle", () => {
      if (!entry.open || body.childNodes.length) return;
      const author = row.author === null ? "" : ` · written by ${row.author}`;
      const box = (name, ...parts) => make("pre", { class: name, tabindex: "0" }, ...parts);
      body.append(
        make("p", { class: "fine" }, `${all.runs[row.run]}${author}`), make("p", {}, make("b", {}, "hint")),
        row.hint === null ? make("p", { class: "empty" }, "none") : box("text", row.hint),
        box("text source", ...(row.source === null ? ["no program"] : coloured(row.source))));
    });
    return entry;
  }

  restart = pages(viewer, "environments", 10, list, draw);
  restart();
}
