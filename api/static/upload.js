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

// One file goes as it is; several go as one form, since some belong together (a batch's input and output).
function body(files) {
  if (files.length === 1) return files[0];
  const form = new FormData();
  for (const file of files) form.append("file", file);
  return form;
}

function send(files, row) {
  const id = newId();
  const request = new XMLHttpRequest();
  const bar = row.appendChild(element("progress", "", { max: "1", value: "0", "aria-label": `Upload of ${named(files)}` }));
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
    request.open("PUT", `/v1/uploads/${id}?name=${encodeURIComponent(files[0].name)}`);
    const token = form.querySelector("input[name=form_token]");
    if (token) request.setRequestHeader("X-CSRF-Token", token.value);
    request.responseType = "json";
    request.send(body(files));
  });
}

function conclude(row, { status, answer }) {
  const uploads = answer?.uploads ?? [];
  const refused = answer?.refused ?? (uploads.length ? [] : [{ detail: answer?.detail ?? "the connection broke off; nothing of it was kept" }]);
  for (const upload of uploads) row.append(taken(upload, uploads.length + refused.length > 1));
  for (const { status: own, detail } of refused) {
    row.append(element("p", `refused (${own ?? (status || "no answer")}): ${visible(detail)}`, { class: "note bad" }));
  }
}

function taken(upload, named) {
  const { new_generations, events, lines, quarantined } = upload;
  const [brought, told, read, not] = [new_generations, events, lines, quarantined].map((each) => number.format(each));
  const made = element("div", named ? `${visible(upload.path)}: ` : "");
  made.append(element("span", `${brought} new generations and ${told} events in ${read} lines, ${not} not understood. `));
  if (upload.upload_id !== null) made.append(element("a", "Open", { href: `/uploads/${upload.upload_id}` }), " ", element("a", "See the rates", { href: "/" }));
  if (upload.warning) made.append(element("p", upload.warning, { class: "leaks" }));
  if (upload.unsure) made.append(guessed(upload.unsure));
  return made;
}

// Why the format is a guess, and what it made of the first generations.
function guessed({ why, examples, override }) {
  const told = element("div", "", { class: "note" });
  told.append(element("p", `${why}. If these are not its first generations, send it with leakdown ingest ${override}:`));
  const list = told.appendChild(element("ul", ""));
  for (const example of examples) {
    const said = Object.entries(example).filter(([, text]) => text).map(([channel, text]) => `${channel}: ${text}`);
    list.append(element("li", visible(said.join("; ") || "no text")));
  }
  return told;
}

async function refreshList() {
  const page = new DOMParser().parseFromString(await (await fetch("/uploads")).text(), "text/html");
  document.getElementById("list").replaceWith(page.getElementById("list"));
}

const named = (files) => (files.length === 1 ? visible(files[0].name) : `${files.length} files`);
const AT_ONCE = 100;

async function sendAll(files) {
  for (let at = 0; at < files.length; at += AT_ONCE) {
    const some = files.slice(at, at + AT_ONCE);
    const row = arriving.appendChild(element("li", ""));
    row.append(element("b", named(some)), " ");
    conclude(row, await send(some, row));
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
