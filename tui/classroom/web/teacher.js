// The teacher's view: asked for anew every second.
"use strict";

addEventListener("DOMContentLoaded", () => {
  const word = encodeURIComponent(new URLSearchParams(location.search).get("token"));
  let chosen = "";
  let shown = null;
  part("table").href = `/class/${word}/answers.csv`;

  const scored = (mean, worst) =>
    mean === null ? "still plays" : `mean wait ${lasted(Math.round(mean))}, worst ${lasted(Math.round(worst))}`;

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
    const isGame = !told.scenes.length;
    document.body.classList.toggle("-game", isGame);
    part("notes").textContent = told.notes;
    part("asks").textContent = question.asks || (isGame ? "" : "There is no question.");
    part("told").textContent = question.told || "";
    drawBars(part("bars"), judged(question.bars || []), question.answered);
    part("wall").hidden = question.scene === undefined;
    part("wall").textContent = shown !== null && shown === question.scene ? "take off the wall" : "show on the wall";
    part("wall").dataset.scene = shown !== null && shown === question.scene ? "" : question.scene;
    drawBest(part("best"), told.best);
    part("students").replaceChildren(
      ...students.map(({ name, scene, here, seconds, stuck, right, answered, mean, worst }) => {
        const row = make("tr", here ? (stuck ? "-stuck" : "") : "-away");
        const at = isGame ? "" : `scene ${scene + 1}`;
        const since = isGame ? `here for ${lasted(seconds)}` : `${at} for ${lasted(seconds)}${stuck ? ", stuck" : ""}`;
        const place = here ? since : at ? `away, ${at}` : "away";
        const result = isGame ? scored(mean, worst) : `${right} of ${answered} right`;
        row.append(make("td", "", name), make("td", "", place), make("td", "", result));
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
