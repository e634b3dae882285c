// The plain page of a student: a lesson or a game, with its question, answers and moves as buttons.
"use strict";

// All that comes from the server is set as text, or is a picture that runs nothing. The name belongs to the visit: the
// tab remembers it, and the browser with the visit, for a tab that was closed.
const tell = (kind, text) => Lasting.present.send(JSON.stringify([kind, text]));

function button(id, label, about, press) {
  const made = make("button", "", label);
  made.type = "button";
  made.dataset.id = id;
  if (about) made.append(make("small", "", about));
  made.addEventListener("click", press);
  return made;
}

function choiceButton({ key, label, about, fits, chosen, right }) {
  const sign = right === undefined ? "" : right ? "\u2713 " : "\u00d7 ";
  const made = button(`choice ${key}`, sign + label, chosen ? "your answer" : about, () => tell("answer", key));
  made.disabled = fits === false || right !== undefined;
  made.className = `${chosen ? "-chosen" : ""} ${right === undefined ? "" : right ? "-right" : "-wrong"}`;
  if (chosen !== undefined) made.ariaPressed = chosen;
  return made;
}

const TAGS = { strong: "b", accent: "em", key: "code" };

function paragraphs(blocks) {
  let list = null;
  return (blocks || []).map(([isItem, spans]) => {
    const made = make(isItem ? "li" : "p");
    made.append(...spans.map(([text, style]) => make(TAGS[style] || "span", "", text)));
    if (isItem && list) return list.append(made);
    list = isItem ? make("ul") : null;
    list?.append(made);
    return list || made;
  }).filter(Boolean);
}

function drawn(svg) {
  const image = make("img");
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  image.alt = new DOMParser().parseFromString(svg, "image/svg+xml").querySelector("desc")?.textContent ?? "";
  return image;
}

function hearOfClass(view) {
  const { title, choices = [], told, right, moves = [] } = view;
  part("reply").textContent = told || "";
  part("reply").className = typeof right === "boolean" ? (right ? "-right" : "-wrong") : "";
  if (title === undefined) return;
  const isNew = title !== part("title").textContent;
  const focused = document.activeElement?.dataset.id;
  for (const name of ["place", "title", "asks", "facts"]) part(name).textContent = view[name] || "";
  part("text").replaceChildren(...paragraphs(view.text));
  part("then").replaceChildren(...paragraphs(view.then));
  part("pictures").replaceChildren(...(view.pictures ?? []).map(drawn));
  part("choices").replaceChildren(...choices.map(choiceButton));
  part("choices").classList.toggle("-long", choices.some(({ label, about }) => about || label.length > 8));
  part("typing").hidden = !view.types;
  part("answer").value = "";
  part("moves").replaceChildren(...moves.map(([key, label]) => button(key, label, "", () => tell("move", key))));
  if (focused) [...document.querySelectorAll("button")].find(({ dataset }) => dataset.id === focused)?.focus();
  if (isNew && !moves.some(([key]) => key === "undo")) scrollTo(0, 0);
  if (told && right !== undefined) part("reply").scrollIntoView({ block: "nearest" });
}

addEventListener("DOMContentLoaded", () => {
  const name = part("name");
  keyed.then(() => (name.value = sessionStorage.getItem("name") ?? ""));
  name.addEventListener("change", () => {
    sessionStorage.setItem("name", name.value);
    rememberThis();
    tell("name", name.value);
  });
  name.addEventListener("keydown", ({ key }) => key === "Enter" && name.blur());
  part("student").addEventListener("submit", (event) => {
    event.preventDefault();
    if (part("answer").value) tell("answer", part("answer").value);
  });
  part("to-terminal").href = `/?token=${ITS_CLASS}&terminal=1`;
  new Lasting(`${document.body.dataset.websocket}?plain=1`);
  Lasting.present.addEventListener("close", () => document.body.classList.add("-closed"));
});
