// The viewer of samples: one entry an item, the sides beside each other.

/** Samples of one side and item as [outcome, reward, answer, detail]; null stands for a sample that was not played. */
function samplesOf(side, item, all) {
  const each = side.seeds.length * side.repeats, found = [];
  for (let at = item * each; at < (item + 1) * each; at += 1) {
    const code = all.legend.letters.indexOf(side.outcomes[at]);
    if (code < 0) { found.push(null); continue; }
    const reward = side.rewards ? (side.rewards[at] < 0 ? null : side.palette[side.rewards[at]]) : null;
    const text = (places) => (places && places[at] >= 0 ? all.texts[places[at]] : null);
    found.push([code, reward, text(side.answers), text(side.details)]);
  }
  return found;
}

/** Share of right samples by item; NaN where none was scored. */
function shares(side, items, legend) {
  const each = side.seeds.length * side.repeats, right = legend.letters[legend.outcomes.indexOf("right")];
  const scored = new Set([...legend.letters].filter((_, code) => !legend.unscored.includes(code)));
  return Float64Array.from({ length: items }, (_, item) => {
    let n = 0, won = 0;
    for (let at = item * each; at < (item + 1) * each; at += 1) {
      n += scored.has(side.outcomes[at]);
      won += side.outcomes[at] === right;
    }
    return won / n;
  });
}

function samples(viewer) {
  const all = data("samples"), form = viewer.querySelector("form"), labels = all.labels;
  let restart = () => {};
  const again = () => restart();
  const names = all.benchmarks.map((one, n) => [n, one.name]);
  const benchmark = choice(form, "benchmark", "benchmark", names, () => { categories(); again(); });
  const against = labels.length < 2 ? null
    : choice(form, "against", `compared with ${labels[0]}`, labels.slice(1).map((label, n) => [n + 1, label]), again);
  const flips = labels.length < 2 ? null : choice(form, "flips", "items", [["", "all"], ["flipped", "flipped"],
    ["better", "flipped to better"], ["worse", "flipped to worse"], ["same", "not flipped"]], again);
  const outcomes = all.legend.outcomes.map((name, n) => [n, name]);
  const outcome = choice(form, "outcome", "an outcome is", [["", "any"], ...outcomes], again);
  const category = choice(form, "category", "category", [["", "all"]], again);
  const text = search(form, "text in id, answer, detail", again);

  function categories() {
    const one = all.benchmarks[benchmark.value], names = one.categories;
    one.shares ||= one.sides.map((side) => side && shares(side, one.items.length, all.legend));
    const options = [["", "all"], ...names.map((name, n) => [n, name])];
    category.replaceChildren(...options.map(([value, name]) => make("option", { value }, name)));
  }

  /** better, worse, same, or "" where one of the two has nothing that was scored or they may not be compared. */
  function flip(one, item) {
    if (!against) return "";
    const place = Number(against.value), first = one.shares[0], other = one.shares[place];
    if (!first || !other || one.sides[place].refused) return "";
    const gap = other[item] - first[item];
    return Number.isNaN(gap) ? "" : gap > 0 ? "better" : gap < 0 ? "worse" : "same";
  }

  function list() {
    const one = all.benchmarks[benchmark.value], found = [], wanted = matcher(text.value);
    const group = category.value, code = outcome.value, turn = flips ? flips.value : "";
    const letter = code === "" ? "" : all.legend.letters[code];
    for (let item = 0; item < one.items.length; item += 1) {
      if (group !== "" && one.category[item] !== Number(group)) continue;
      if (turn) {
        const way = flip(one, item);
        if (turn === "flipped" ? way !== "better" && way !== "worse" : way !== turn) continue;
      }
      if (letter && !one.sides.some((side) => side && slice(side, item).includes(letter))) continue;
      if (wanted && !wanted(one.items[item]) && !one.sides.some((side) => side && answered(side, item, wanted))) continue;
      found.push(item);
    }
    return [found, one.items.length];
  }

  function slice(side, item) {
    const each = side.seeds.length * side.repeats;
    return side.outcomes.slice(item * each, (item + 1) * each);
  }

  function answered(side, item, wanted) {
    const each = side.seeds.length * side.repeats;
    return [side.answers, side.details].some((places) => places
      && places.slice(item * each, (item + 1) * each).some((place) => place >= 0 && wanted(all.texts[place])));
  }

  function draw(item) {
    const one = all.benchmarks[benchmark.value], way = flip(one, item);
    const words = { better: "flipped to better", worse: "flipped to worse" }[way];
    const head = make("header", {}, make("b", {}, make("code", {}, one.items[item])),
      make("span", { class: "fine" }, one.categories[one.category[item]]), words ? make("span", { class: way }, words) : null);
    const cells = one.sides.map((side, n) => cell(side, n, item, one));
    return make("article", { class: "entry" }, head, make("div", { class: "cells" }, ...cells));
  }

  /** What a side did with an item; samples that are alike stand there once, with their number. */
  function cell(side, place, item, one) {
    const box = make("div", { class: `cell s${place % COLOURS}` }, make("p", { class: "fine" }, labels[place]));
    if (!side) { box.append(make("p", { class: "empty" }, "does not have this benchmark")); return box; }
    const counted = new Map();
    for (const sample of samplesOf(side, item, all)) {
      const key = JSON.stringify(sample);
      counted.set(key, [sample, (counted.get(key) || [sample, 0])[1] + 1]);
    }
    for (const [sample, times] of counted.values()) {
      const often = times > 1 ? ` × ${times}` : "";
      if (!sample) { box.append(make("p", { class: "empty" }, `not played${often}`)); continue; }
      const name = all.legend.outcomes[sample[0]];
      const reward = sample[1] === null ? "" : ` reward ${figure(sample[1])}`;
      box.append(make("p", {}, make("i", { class: `swatch o-${name}`, "aria-hidden": "true" }), `${name}${often}`,
        reward ? make("span", { class: "fine" }, reward) : null));
      if (sample[3] !== null) box.append(make("p", { class: "fine detail" }, sample[3]));
      if (sample[2] !== null) box.append(make("pre", { class: "text", tabindex: "0" }, sample[2]));
    }
    if (side.refused && one.sides[0]) box.append(make("p", { class: "fine" }, "not compared with the first"));
    return box;
  }

  restart = pages(viewer, "items", 20, list, draw);
  categories();
  restart();
}
