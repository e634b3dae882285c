// Steps of a handout and the judging of answers. All texts are in the page, so that it also reads without this script.
"use strict";

const all = (what, inside = document) => [...inside.querySelectorAll(what)];
const part = (id) => document.getElementById(id);
const sections = all("main > section");
const judged = new Map();
let shown = Math.max(sections.findIndex(({ id }) => `#${id}` === location.hash), 0);

function show(moves) {
  shown = Math.min(Math.max(shown, 0), sections.length - 1);
  sections.forEach((section, place) => (section.hidden = place !== shown));
  const right = [...judged.values()].filter(Boolean).length;
  part("place").textContent = `${shown + 1} of ${sections.length}${judged.size ? `, ${right} of ${judged.size} right` : ""}`;
  const { x } = sections[shown].dataset;
  for (const later of all(".later")) [later.hidden, later.style.left] = [x === undefined, `${x}%`];
  if (!moves) return;
  history.replaceState(null, "", `#${sections[shown].id}`);
  sections[shown].querySelector("h2").focus();
}

const go = (to) => ((shown = to), show(true));
addEventListener("hashchange", () => go(sections.findIndex(({ id }) => `#${id}` === location.hash)));
part("back").addEventListener("click", () => go(shown - 1));
part("next").addEventListener("click", () => go(shown + 1));
addEventListener("keydown", (event) => {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (by && !event.ctrlKey && !event.altKey && !event.metaKey && !event.target.closest("input, .picture")) go(shown + by);
});

function tell(form, text, isRight) {
  const [verdict, section] = [form.querySelector(".verdict"), form.closest("section")];
  verdict.textContent = text;
  verdict.className = `verdict ${isRight ? "right" : "wrong"}`;
  if (isRight !== null && !judged.has(section)) judged.set(section, isRight);
  section.querySelector(".answer").open ||= isRight === true;
  show(false);
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
  const off = given - Number(value);
  const section = form.closest("section");
  if (Math.abs(off) <= Number(within)) return tell(form, `Right. ${section.querySelector(".told").textContent}`, true);
  const [less, more] = { moment: ["early", "late"], span: ["short", "long"] }[unit] ?? ["low", "high"];
  const reasons = all("[data-since]", section).filter(({ dataset }) => Number(dataset.since) <= given);
  tell(form, `That is too ${off < 0 ? less : more}. ${reasons.at(-1)?.textContent ?? ""}`, false);
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
for (const picture of all("[data-left]")) {
  picture.addEventListener("click", (event) => {
    const [left, width, begin, end] = ["left", "width", "begin", "end"].map((key) => Number(picture.dataset[key]));
    const form = picture.closest("section").querySelector("form[data-unit=moment]");
    if (!form || picture.closest(".answer")) return;
    const svg = picture.querySelector("svg");
    const box = svg.getBoundingClientRect();
    const share = (((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width - left) / width;
    form.querySelector("input").value = `${Math.round(begin + Math.min(Math.max(share, 0), 1) * (end - begin))}s`;
    judge(form);
  });
}
document.querySelector("footer").hidden = false;
show(false);
