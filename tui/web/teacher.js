// The teacher's view: asked for anew every second.
"use strict";

addEventListener("DOMContentLoaded", () => {
  const word = encodeURIComponent(new URLSearchParams(location.search).get("token"));
  let chosen = "";
  let shown = null;
  part("table").href = `/class/${word}/answers.csv`;

  const look = async () => {
    const told = await asked(`/class/${word}?scene=${chosen}`);
    const { question, students } = told;
    shown = told.shown;
    part("lesson").textContent = told.lesson;
    part("count").textContent =
      `${told.here} here, ${students.length - told.here} away \u00b7 since ${lasted(told.seconds)}`;
    drawBars(
      part("scenes"),
      told.scenes.map(({ title, here, asks }, index) => ({
        label: `${index + 1} ${title}`,
        count: here,
        kind: `${asks ? "-asks" : ""} ${question.scene === index ? "-chosen" : ""}`,
      })),
      told.here,
    );
    part("notes").textContent = told.notes;
    part("asks").textContent = question.asks || "There is no question.";
    part("told").textContent = question.told || "";
    drawBars(part("bars"), judged(question.bars || []), question.answered);
    part("wall").hidden = question.scene === undefined;
    part("wall").textContent = shown !== null && shown === question.scene ? "take off the wall" : "show on the wall";
    part("wall").dataset.scene = shown !== null && shown === question.scene ? "" : question.scene;
    drawBest(part("best"), told.best);
    part("students").replaceChildren(
      ...students.map(({ name, scene, here, seconds, stuck, right, answered }) => {
        const row = make("tr", here ? (stuck ? "-stuck" : "") : "-away");
        const place = here ? `scene ${scene + 1} for ${lasted(seconds)}${stuck ? ", stuck" : ""}` : `away, scene ${scene + 1}`;
        row.append(make("td", "", name), make("td", "", place), make("td", "", `${right} of ${answered} right`));
        return row;
      }),
    );
  };

  part("scenes").addEventListener("click", (event) => {
    const row = event.target.closest(".-asks");
    if (!row) return;
    chosen = [...part("scenes").children].indexOf(row);
    look();
  });
  part("wall").addEventListener("click", async () => {
    await asked(`/class/${word}/wall?scene=${part("wall").dataset.scene}`, { method: "POST" });
    look();
  });
  keepAsking(look);
});
