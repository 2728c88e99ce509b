// Read-outs of the training curves, by pointer and by keys.

function exact(v) {
  const far = v !== 0 && (Math.abs(v) < 0.001 || Math.abs(v) >= 1e5);
  return (far ? v.toExponential(1) : v === 0 ? "0" : v.toPrecision(3)).replace("-", "−");
}

/** Shows the lines that are chosen, and their bands while these are few. */
function shown(choices) {
  const charts = document.querySelector(".charts");
  charts.classList.toggle("crowded", choices.filter((choice) => choice.checked).length > Number(charts.dataset.bands));
  for (const choice of choices) {
    const lines = charts.querySelectorAll(`[data-side="${choice.value}"]`);
    lines.forEach((line) => line.classList.toggle("away", !choice.checked));
  }
}

function chart(box, all) {
  const own = all.find((one) => one.id === box.dataset.chart), plot = box.querySelector(".plot");
  const cursor = box.querySelector(".cursor"), readout = box.querySelector(".readout"), [low, high] = own.x;
  const steps = [...new Set(own.curves.flatMap((curve) => curve.points.map((point) => point[0])))].sort((a, b) => a - b);
  let at = -1;
  function show(place) {
    at = Math.max(0, Math.min(steps.length - 1, place));
    const step = steps[at];
    cursor.hidden = false;
    cursor.style.left = `${(100 * (step - low)) / (high - low)}%`;
    const said = own.curves.map((curve) => {
      const point = curve.points.find(([x]) => x === step);
      if (!point) return null;
      const range = curve.many ? ` (${exact(point[2])} to ${exact(point[3])})` : "";
      return `${curve.label} ${exact(point[1])}${range}`;
    });
    readout.textContent = [`step ${Math.round(step)}`, ...said.filter((words) => words !== null)].join(" · ");
  }
  function near(event) {
    const { left, width } = plot.getBoundingClientRect();
    const step = low + ((event.clientX - left) / width) * (high - low);
    show(steps.reduce((best, value, n) => (Math.abs(value - step) < Math.abs(steps[best] - step) ? n : best), 0));
  }
  plot.addEventListener("pointermove", near);
  plot.addEventListener("pointerdown", near);
  plot.addEventListener("keydown", (event) => {
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: steps.length - 1 }[event.key];
    if (to === undefined) return;
    show(to);
    event.preventDefault();
  });
}
