// Steps of a handout and the judging of answers. All texts are in the page, so that it also reads without this script.
"use strict";

const sections = [...document.querySelectorAll("main > section")];
const part = (id) => document.getElementById(id);
const judged = new Map();
let shown = -1;

// The steps

function show(index, moves) {
  shown = Math.min(Math.max(index, 0), sections.length - 1);
  sections.forEach((section, place) => (section.hidden = place !== shown));
  const section = sections[shown];
  const right = [...judged.values()].filter(Boolean).length;
  part("place").textContent = `${shown + 1} of ${sections.length}${judged.size ? `, ${right} of ${judged.size} right` : ""}`;
  part("back").setAttribute("aria-disabled", shown === 0);
  part("next").setAttribute("aria-disabled", shown === sections.length - 1);
  const later = document.querySelector(".later");
  if (later) later.hidden = false;
  if (later) later.style.left = `${section.dataset.x}%`;
  if (!moves) return;
  history.replaceState(null, "", `#${section.id}`);
  section.querySelector("h2").focus();
  scrollTo(0, later ? scrollY : section.offsetTop);
}

const linked = () => sections.findIndex(({ id }) => `#${id}` === location.hash);

addEventListener("hashchange", () => linked() >= 0 && show(linked(), true));
addEventListener("keydown", (event) => {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!by || event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input")) return;
  if (event.target.closest(".picture") && event.target.scrollWidth > event.target.clientWidth) return;
  event.preventDefault();
  show(shown + by, true);
});
part("back").addEventListener("click", () => show(shown - 1, true));
part("next").addEventListener("click", () => show(shown + 1, true));

// The answers

function tell(question, text, isRight) {
  const verdict = question.querySelector(".verdict");
  verdict.textContent = text;
  verdict.className = `verdict ${isRight ? "right" : "wrong"}`;
  const section = question.closest("section");
  if (!judged.has(section)) judged.set(section, isRight);
  section.querySelector(".answer").open ||= isRight;
  show(shown, false);
  verdict.scrollIntoView({ block: "nearest" });
}

// Seconds of a typed time: seconds, 12d4h30m, 2h05, d1 04:30 or 04:30:00; NaN if it is none.
function seconds(typed, now) {
  const clock = typed.match(/^(?:d(\d+))?\s*(?:(\d{1,2}):([0-5]\d)(?::([0-5]\d))?)?$/);
  if (clock && typed) {
    const [day, hours, minutes, rest] = clock.slice(1).map((each) => each && Number(each));
    return (day ?? Math.floor(now / 86400)) * 86400 + (hours ?? 0) * 3600 + (minutes ?? 0) * 60 + (rest ?? 0);
  }
  const number = "(\\d+(?:\\.\\d*)?)";
  const units = typed.match(RegExp(`^(?:${number}d)?(?:${number}h)?(?:${number}(?:min|m|(?<=h\\d\\d)$))?(?:${number}s?)?$`));
  if (!typed || !units) return NaN;
  return units.slice(1).reduce((sum, each, place) => sum + Number(each || 0) * [86400, 3600, 60, 1][place], 0);
}

function judgeTyped(form) {
  const { value, within, unit, now, less, more, help } = form.dataset;
  const typed = form.querySelector("input").value.toLowerCase().replace(/\s*([dhms])\s*(?=\d)/g, "$1").trim();
  const plain = /^-?[\d.,]+ ?%?$/.test(typed) ? parseFloat(typed.replaceAll(",", "")) : NaN;
  const given = ["moment", "span"].includes(unit) ? seconds(typed, Number(now)) : unit === "share" ? plain / 100 : plain;
  form.querySelector("input").setAttribute("aria-invalid", Number.isNaN(given));
  if (Number.isNaN(given)) {
    const verdict = form.querySelector(".verdict");
    verdict.className = "verdict wrong";
    verdict.textContent = help;
    return;
  }
  const off = given - Number(value);
  const section = form.closest("section");
  const told = section.querySelector(".told").textContent;
  if (Math.abs(off) <= Number(within)) return tell(form, `Right. ${told}`, true);
  const reasons = [...section.querySelectorAll("[data-since]")].filter(({ dataset }) => Number(dataset.since) <= given);
  tell(form, [off < 0 ? less : more, ...reasons.slice(-1).map((each) => each.textContent)].join(" "), false);
}

for (const button of document.querySelectorAll("[data-reason]")) {
  button.addEventListener("click", () => {
    for (const other of button.parentNode.children) other.setAttribute("aria-pressed", other === button);
    const reason = part(button.dataset.reason);
    tell(button.closest("form"), reason.textContent, reason.hasAttribute("data-right"));
  });
}
for (const form of document.forms) {
  for (const control of form.querySelectorAll("[hidden]")) control.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (form.dataset.value) judgeTyped(form);
  });
}
for (const picture of document.querySelectorAll("[data-left]")) {
  picture.addEventListener("click", (event) => {
    const { left, width, begin, end } = Object.fromEntries(Object.entries(picture.dataset).map(([key, each]) => [key, Number(each)]));
    const svg = picture.querySelector("svg");
    const box = svg.getBoundingClientRect();
    const share = (((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width - left) / width;
    const form = picture.closest("section").querySelector("form");
    if (share < 0 || share > 1) return;
    form.querySelector("input").value = `${Math.round(begin + share * (end - begin))}s`;
    judgeTyped(form);
  });
}

document.querySelector("footer").hidden = false;
show(Math.max(linked(), 0), false);
