// Steps of a handout and the judging of answers. All texts are in the page, so that it also reads without this script.
"use strict";

const all = (what, inside = document) => [...inside.querySelectorAll(what)];
const part = (id) => document.getElementById(id);
const sections = all("main > section");
const linked = () => sections.findIndex(({ id }) => `#${id}` === location.hash);
const judged = new Map();
let shown = 0;

function show(index, moves = true) {
  shown = Math.min(Math.max(index, 0), sections.length - 1);
  sections.forEach((section, place) => (section.hidden = place !== shown));
  const right = [...judged.values()].filter(Boolean).length;
  part("place").textContent = `${shown + 1} of ${sections.length}${judged.size ? `, ${right} of ${judged.size} right` : ""}`;
  const { x } = sections[shown].dataset;
  for (const later of all(".later")) [later.hidden, later.style.left] = [x === undefined, `${x}%`];
  if (moves) history.replaceState(null, "", `#${sections[shown].id}`);
  if (moves) sections[shown].querySelector("h2").focus();
}

function tell(form, text, isRight) {
  const [verdict, section] = [form.querySelector(".verdict"), form.closest("section")];
  verdict.textContent = text;
  if (isRight !== null && !judged.has(section)) judged.set(section, isRight);
  section.querySelector(".answer").open ||= isRight === true;
  show(shown, false);
  verdict.scrollIntoView({ block: "nearest" });
}

// Seconds of a typed time: seconds, 12d4h30m, 2h05, d1 04:30 or 04:30:00; NaN if it is none.
function seconds(typed, now) {
  const clock = typed.match(/^(?:d(\d+) ?)?(?:(\d{1,2}):([0-5]\d)(?::([0-5]\d))?)?$/);
  const units = typed.match(/^(?:([\d.]+)d)?(?:([\d.]+)h)?(?:([\d.]+)(?:min|m|(?<=h\d\d)$))?(?:([\d.]+)s?)?$/);
  if (!typed || !(clock || units)) return NaN;
  const [days, ...rest] = (clock || units).slice(1);
  const day = days ?? (clock ? Math.floor(now / 86400) : 0);
  return [day, ...rest].reduce((sum, each, place) => sum + Number(each ?? 0) * [86400, 3600, 60, 1][place], 0);
}

function judge(form) {
  const { value, within, unit, now } = form.dataset;
  const typed = form.querySelector("input").value.trim().toLowerCase().replaceAll(",", "");
  const plain = parseFloat(typed) / (unit === "share" ? 100 : 1);
  const given = unit === "moment" || unit === "span" ? seconds(typed, Number(now)) : plain;
  if (Number.isNaN(given)) return tell(form, `Expected ${form.querySelector("i").textContent}`, null);
  const [off, section] = [given - Number(value), form.closest("section")];
  if (Math.abs(off) <= Number(within)) return tell(form, `Right. ${section.querySelector(".told").textContent}`, true);
  const [less, more] = unit === "moment" ? ["early", "late"] : ["low", "high"];
  const reason = all("[data-since]", section).findLast(({ dataset }) => Number(dataset.since) <= given);
  tell(form, `That is too ${off < 0 ? less : more}. ${off < 0 && reason ? reason.textContent : ""}`, false);
}

for (const form of document.forms) {
  all("[hidden]", form).forEach((control) => (control.hidden = false));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const { reason } = event.submitter?.dataset ?? {};
    if (!reason) return judge(form);
    all("button", form).forEach((each) => each.setAttribute("aria-pressed", each === event.submitter));
    tell(form, part(reason).textContent, part(reason).hasAttribute("data-right"));
  });
}
document.addEventListener("click", ({ target, clientX }) => {
  const picture = target.closest(":not(.answer) > figure > .picture");
  const form = picture?.closest("section")?.querySelector("form[data-unit=moment]");
  if (!form) return;
  const [left, width, begin, end] = ["left", "width", "begin", "end"].map((key) => Number(picture.dataset[key]));
  const svg = picture.querySelector("svg");
  const box = svg.getBoundingClientRect();
  const share = (((clientX - box.left) / box.width) * svg.viewBox.baseVal.width - left) / width;
  form.querySelector("input").value = `${Math.round(begin + Math.min(Math.max(share, 0), 1) * (end - begin))}s`;
  judge(form);
});
addEventListener("hashchange", () => show(linked()));
addEventListener("keydown", ({ key, ctrlKey, altKey, metaKey, target }) => {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[key];
  if (by && !ctrlKey && !altKey && !metaKey && !target.closest("input, .picture")) show(shown + by);
});
part("back").addEventListener("click", () => show(shown - 1));
part("next").addEventListener("click", () => show(shown + 1));
document.querySelector("footer").hidden = false;
show(linked(), false);
