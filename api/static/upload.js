// Sends dropped or chosen files one after the other, with their progress; without it the form works as a plain one.
"use strict";

const form = document.getElementById("drop");
const arriving = document.getElementById("arriving");
const number = new Intl.NumberFormat("en");

// A file's name with what cannot be seen in it, and marks that pile up, spelled out.
const visible = (text) => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|(?<=\p{M}{4})\p{M}/gu, (each) => `[U+${each.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}]`);

function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return "page-" + Array.from(bytes, (each) => each.toString(16).padStart(2, "0")).join("");
}

// Reports how far the service has read, until `ended`.
async function follow(id, told, ended) {
  while (!ended()) {
    await new Promise((resolve) => setTimeout(resolve, 400));
    if (ended()) return;
    const answer = await fetch(`/v1/uploads/${id}`);
    if (answer.ok && !ended()) told(await answer.json());
  }
}

function send(file, row) {
  const id = newId();
  const request = new XMLHttpRequest();
  const bar = row.appendChild(element("progress", "", { max: "1", value: "0", "aria-label": `Upload of ${visible(file.name)}` }));
  const state = row.appendChild(element("span", " sending"));
  let ended = false;
  request.upload.onprogress = (event) => {
    if (event.lengthComputable) bar.value = event.loaded / event.total;
    state.textContent = ` ${number.format(event.loaded)} bytes sent`;
  };
  const told = (arrival) => {
    if (arrival.total_bytes) bar.value = arrival.read_bytes / arrival.total_bytes;
    const left = arrival.seconds_left === null ? "" : `, ${number.format(Math.ceil(arrival.seconds_left))} s left`;
    const rate = arrival.bytes_per_second === null ? "" : `, ${number.format(Math.round(arrival.bytes_per_second / 1e5) / 10)} MB/s`;
    state.textContent = ` ${number.format(arrival.lines)} lines read${rate}${left}`;
  };
  request.upload.onload = () => {
    bar.removeAttribute("value");
    follow(id, told, () => ended).catch(() => {}); // the answer itself tells how it ended
  };
  return new Promise((resolve) => {
    request.onloadend = () => {
      ended = true;
      bar.remove();
      state.remove();
      resolve({ status: request.status, answer: request.response });
    };
    request.open("PUT", `/v1/uploads/${id}?name=${encodeURIComponent(file.name)}`);
    request.responseType = "json";
    request.send(file);
  });
}

function conclude(row, { status, answer }) {
  const [upload] = answer?.uploads ?? [];
  if (!upload) {
    const why = answer?.detail ?? "the connection broke off; nothing of it was kept";
    row.className = "note bad";
    row.append(element("span", `refused (${status || "no answer"}): ${visible(why)}`));
    return;
  }
  const { new_generations, events, lines, quarantined } = upload;
  const [brought, told, read, not] = [new_generations, events, lines, quarantined].map((each) => number.format(each));
  row.append(element("span", `${brought} new generations and ${told} events in ${read} lines, ${not} not understood. `));
  if (upload.upload_id !== null) row.append(element("a", "Open", { href: `/uploads/${upload.upload_id}` }), " ", element("a", "See the rates", { href: "/" }));
  if (upload.warning) row.append(element("p", upload.warning, { class: "leaks" }));
}

async function refreshList() {
  const page = new DOMParser().parseFromString(await (await fetch("/uploads")).text(), "text/html");
  document.getElementById("list").replaceWith(page.getElementById("list"));
}

async function sendAll(files) {
  for (const file of files) {
    const row = arriving.appendChild(element("li", ""));
    row.append(element("b", visible(file.name)), " ");
    conclude(row, await send(file, row));
    await refreshList();
  }
}

const over = (on) => (event) => (event.preventDefault(), form.classList.toggle("over", on));
form.addEventListener("dragover", over(true));
form.addEventListener("dragleave", over(false));
form.addEventListener("drop", (event) => {
  over(false)(event);
  sendAll([...event.dataTransfer.files]);
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  sendAll([...form.elements.file.files]).then(() => form.reset());
});
