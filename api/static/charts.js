// Draws each [data-figure] from its address, in the page's own colours, anew when those change.
"use strict";

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function axis(given) {
  return { ...given, gridcolor: colour("--line"), linecolor: colour("--line"), zerolinecolor: colour("--line"), fixedrange: true };
}

// A title is bold by its font: the markup for it would need a style attribute, which the page's policy forbids.
function annotation(given) {
  const title = given.xref === "paper";
  const font = { ...given.font, color: colour(title ? "--fg" : "--dim"), weight: title ? "bold" : "normal" };
  return { ...given, text: given.text.replace(/^<b>(.*)<\/b>$/s, "$1"), font };
}

function coloured(figure) {
  const layout = {
    ...figure.layout,
    paper_bgcolor: "transparent",
    plot_bgcolor: "transparent",
    font: { family: "system-ui, sans-serif", size: 12, color: colour("--dim") },
    hoverlabel: { bgcolor: colour("--panel"), bordercolor: colour("--line"), font: { color: colour("--fg") } },
  };
  for (const name of Object.keys(layout).filter((each) => /^[xy]axis/.test(each))) layout[name] = axis(layout[name]);
  layout.shapes = (layout.shapes || []).map((each) => each.type === "rect"
    ? { ...each, fillcolor: colour("--range"), opacity: 0.35 }
    : { ...each, line: { ...each.line, color: colour("--dim") } });
  layout.annotations = (layout.annotations || []).map(annotation);
  const data = figure.data.map((each) => ({
    ...each,
    line: { color: colour("--accent"), width: 1.5 },
    marker: each.type === "bar" ? { color: colour("--range") } : { color: colour("--accent"), size: 6 },
    error_x: { ...each.error_x, color: colour("--accent") },
    error_y: { ...each.error_y, color: colour("--range") },
  }));
  return { data, layout };
}

async function draw(place) {
  const answer = await fetch(place.dataset.figure, { headers: { Accept: "application/json" } });
  const figure = await answer.json();
  if (!answer.ok) {
    place.textContent = `No chart: ${figure.detail}`;
    return;
  }
  const show = () => {
    const { data, layout } = coloured(figure);
    return Plotly.react(place, data, layout, { responsive: true, displayModeBar: false });
  };
  await show();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
}

for (const place of document.querySelectorAll("[data-figure]")) {
  draw(place).catch(() => {
    place.textContent = "No chart: the service did not answer. Load the page again.";
  });
}
