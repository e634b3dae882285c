// Above the terminal, in a class: the student's name, and the answer to the question of the common screen.
"use strict";

// All that comes from the server is set as text. The name belongs to the visit: the tab remembers it, and the browser
// with the visit, for a tab that was closed.
const part = (id) => document.getElementById(id);

const nameOf = () => sessionStorage.getItem("name") ?? "";

function tellName() {
  const name = nameOf();
  if (name) Lasting.present.send(JSON.stringify(["name", name]));
}

function answer(text) {
  if (text) Lasting.present.send(JSON.stringify(["answer", text]));
}

function hearOfClass({ asks, choices, told, open, right }) {
  const form = part("student");
  form.classList.toggle("-open", Boolean(open));
  part("reply").textContent = told || "";
  part("reply").className = right === undefined ? "" : right ? "-right" : "-wrong";
  if (open && asks === undefined) return;
  part("asks").textContent = asks || "";
  part("answer").value = "";
  const buttons = (choices || []).map(({ key, label }) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.addEventListener("click", () => answer(key));
    return button;
  });
  form.classList.toggle("-choices", buttons.length > 0);
  part("choices").replaceChildren(...buttons);
  if (open && !buttons.length) part("answer").focus();
}

addEventListener("DOMContentLoaded", () => {
  const name = part("name");
  keyed.then(() => (name.value = nameOf()));
  name.addEventListener("change", () => {
    sessionStorage.setItem("name", name.value);
    rememberThis();
    Lasting.present.send(JSON.stringify(["name", name.value]));
  });
  // A form of several fields without a button is not submitted by enter.
  part("student").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.target.tagName !== "INPUT") return;
    event.preventDefault();
    if (event.target === name) document.querySelector(".xterm-helper-textarea")?.focus();
    else answer(part("answer").value);
  });
  part("student").addEventListener("submit", (event) => event.preventDefault());
});
