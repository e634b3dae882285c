// Before the terminal is made: letters so large that a screen of a given size fits, and the font is there.
"use strict";
addEventListener("DOMContentLoaded", () => {
  const { columns, rows } = document.body.dataset;
  const terminal = document.getElementById("terminal");
  if (+columns) {
    const told = document.getElementById("told").offsetHeight;
    const size = Math.min(innerWidth / columns / 0.61, (innerHeight - told) / rows / 1.19);
    terminal.dataset.fontSize = Math.max(Math.floor(size * 2) / 2 - 0.5, 6);
  }
  document.fonts.load("16px 'Roboto Mono'");
  document.fonts.load("bold 16px 'Roboto Mono'");
  const looking = setInterval(() => {
    const keyboard = document.querySelector(".xterm-helper-textarea");
    if (keyboard) {
      keyboard.focus();
      clearInterval(looking);
    }
  }, 50);
});
