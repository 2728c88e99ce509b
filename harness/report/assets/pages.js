// Filters, searches and pages of a viewer.

/** A labelled choice; `options` are [value, text] pairs. */
function choice(form, name, label, options, changed) {
  const select = make("select", { name }, ...options.map(([value, text]) => make("option", { value }, text)));
  select.addEventListener("change", changed);
  form.append(make("label", {}, label, select));
  return select;
}

function search(form, label, changed) {
  const input = make("input", { type: "search", name: "text", size: "18" });
  let timer = 0;
  input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(changed, 120); });
  form.append(make("label", {}, label, input));
  return input;
}

/** Case does not count and no character is special. */
function matcher(words) {
  const text = words.trim();
  if (!text) return null;
  const pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
  return (value) => value !== null && value !== undefined && pattern.test(value);
}

/** Shows `list()` page by page with `draw`; returns a function that starts again at the first page. */
function pages(viewer, what, size, list, draw) {
  const [previous, next] = [".previous", ".next"].map((name) => viewer.querySelector(name));
  const rows = viewer.querySelector(".rows"), status = viewer.querySelector(".status");
  let found = [], start = 0, total = 0;
  function show() {
    const shown = found.slice(start, start + size);
    rows.replaceChildren(...shown.map(draw));
    const range = found.length ? `${whole(start + 1)}–${whole(start + shown.length)} of ` : "";
    const all = found.length < total ? ` (${whole(total)} in all)` : "";
    status.textContent = `${range}${whole(found.length)} ${what}${all}`;
    previous.disabled = start === 0;
    next.disabled = start + size >= found.length;
  }
  function turn(by) {
    const to = start + by * size;
    if (to < 0 || to >= found.length) return;
    start = to;
    show();
  }
  previous.addEventListener("click", () => turn(-1));
  next.addEventListener("click", () => turn(1));
  viewer.addEventListener("keydown", (event) => {
    if (event.target.closest("input, select, .text") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ArrowLeft") turn(-1);
    else if (event.key === "ArrowRight") turn(1);
    else return;
    event.preventDefault();
  });
  viewer.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
  viewer.hidden = false;
  return () => { [found, total] = list(); start = 0; show(); };
}
