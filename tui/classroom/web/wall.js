// The wall: what the teacher shows, and nothing else.
"use strict";

addEventListener("DOMContentLoaded", () => {
  const word = encodeURIComponent(new URLSearchParams(location.search).get("token"));
  keepAsking(async () => {
    const told = await asked(`/wall/${word}`);
    document.body.classList.toggle("-asked", Boolean(told.asks));
    part("asks").textContent = told.asks || (told.best.length ? "" : "The teacher shows answers here.");
    part("told").textContent = told.told || "";
    drawBars(part("bars"), judged(told.bars || []), told.answered);
    drawBest(part("best"), told.best);
  });
});
