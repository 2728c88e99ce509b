// Starts what the page has.

const raw = byId("raw");
if (raw) {
  const all = data("curves");
  document.querySelectorAll(".chart").forEach((box) => chart(box, all));
  const choices = [...document.querySelectorAll("#shown input")];
  choices.forEach((choice) => choice.addEventListener("change", () => shown(choices)));
  shown(choices);
  raw.addEventListener("change", () => document.body.classList.toggle("show-raw", raw.checked));
}
for (const [name, start] of [["samples", samples], ["environments", environments]]) {
  const viewer = byId(`${name}-viewer`);
  if (viewer) start(viewer);
}
document.documentElement.dataset.ready = "yes";
