// Bars of answers, for the teacher and for the wall. All that comes from the server is set as text.
"use strict";

const part = (id) => document.getElementById(id);
const make = (tag, className, text) => {
  const made = document.createElement(tag);
  made.className = className || "";
  made.textContent = text === undefined ? "" : text;
  return made;
};

// Rows are kept while their number stays the same, so that bars grow instead of being drawn anew.
function drawBars(place, bars, most) {
  while (place.children.length > bars.length) place.lastChild.remove();
  while (place.children.length < bars.length) {
    const row = make("div", "row");
    const bar = make("span", "bar");
    bar.append(make("i"));
    row.append(make("span", "label"), bar, make("span", "number"));
    place.append(row);
  }
  const widest = Math.max(most || 0, 1, ...bars.map((bar) => bar.count));
  bars.forEach(({ label, count, kind }, index) => {
    const row = place.children[index];
    row.className = `row ${kind || ""}`;
    row.children[0].textContent = label;
    row.children[0].title = label;
    row.children[1].firstChild.style.width = `${(100 * count) / widest}%`;
    row.children[2].textContent = count;
  });
}

// An answer of which the page may not know yet whether it is right has no sign.
const judged = (bars) =>
  bars.map(({ label, count, right }) => ({
    label: right === undefined ? label : `${right ? "\u2713" : "\u00d7"} ${label}`,
    count,
    kind: right === undefined ? "" : right ? "-right" : "-wrong",
  }));

const lasted = (seconds) =>
  seconds < 60 ? `${seconds} s` : seconds < 3600 ? `${Math.floor(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;

function drawBest(place, best) {
  if (!best.length) return place.replaceChildren();
  const table = make("table");
  best.forEach(({ name, mean, worst, solved }, index) => {
    const row = make("tr");
    row.append(make("td", "", `${index + 1}.`), make("td", "", name));
    if (solved) row.append(make("td", "", `solved ${solved}`));
    else row.append(make("td", "", `mean wait ${lasted(Math.round(mean))}`), make("td", "", `worst ${lasted(Math.round(worst))}`));
    table.append(row);
  });
  place.replaceChildren(make("h2", "", "The best of the class"), table);
}

function keepAsking(ask) {
  const again = async () => {
    try {
      await ask();
      if (part("lost")) part("lost").hidden = true;
    } catch {
      if (part("lost")) part("lost").hidden = false;
    }
    setTimeout(again, 1000);
  };
  again();
}

async function asked(address, how) {
  const answer = await fetch(address, { cache: "no-store", ...how });
  if (!answer.ok) throw new Error(answer.status);
  return answer.json();
}
