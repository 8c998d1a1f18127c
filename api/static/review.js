// Presses the button whose key was typed; typing in a field stays typing.
"use strict";

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.target.closest("input, textarea, select")) return;
  const wanted = event.key.toLowerCase();
  const button = [...document.querySelectorAll("[data-keys]")].find((each) => each.dataset.keys.split(" ").includes(wanted));
  if (button) button.click();
});
