// Before the terminal is made: its letters, a connection that comes back, and files in both directions.
"use strict";

// A visit is a tab: its key is in the tab's own memory, which a reload keeps. A tab that was duplicated has a copy of
// that memory, so a page asks whether another one shows the visit before it takes it. A tab that was closed has lost
// its memory: the browser remembers the last visits of this class, and a new tab asks whose visit goes on, because
// several people may use one computer.
const MOST_OF_A_FILE = 60000;
const TAKEN = 4001, IDLE = 4002;
const WAITS = [200, 500, 1000, 2000, 3000];
const A_DAY = 24 * 3600 * 1000;
const MOST_VISITS = 8;
const ITS_CLASS = new URLSearchParams(location.search).get("token") || "";
const newKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
const recall = () => {
  try {
    const kept = JSON.parse(localStorage.getItem("visits"));
    return kept.filter(
      (each) => /^[0-9a-f]{32}$/.test(each.key) && each.token === ITS_CLASS && Date.now() - each.at < A_DAY,
    );
  } catch {
    return [];
  }
};
const remember = (visits) => localStorage.setItem("visits", JSON.stringify(visits.slice(0, MOST_VISITS)));
const others = () => recall().filter((each) => each.key !== key);
const rememberThis = () =>
  remember([{ key, token: ITS_CLASS, at: Date.now(), name: sessionStorage.getItem("name") || "" }, ...others()]);
let key = "";
const tabs = new BroadcastChannel("schedscope");
const keyed = new Promise((found) => {
  const own = sessionStorage.getItem("visit");
  const free = own ? [{ key: own }] : recall();
  tabs.onmessage = ({ data }) => {
    if (data.asks && key && data.asks.includes(key)) tabs.postMessage({ has: key });
    const shown = free.findIndex((each) => each.key === data.has);
    if (shown >= 0) free.splice(shown, 1);
  };
  tabs.postMessage({ asks: free.map((each) => each.key) });
  const take = (visit) => {
    key = visit ? visit.key : newKey();
    if (visit && visit.name) sessionStorage.setItem("name", visit.name);
    sessionStorage.setItem("visit", key);
    rememberThis();
    found(key);
  };
  setTimeout(() => (own || !free.length ? take(free[0]) : askWho(free, take)), 120);
});

// Whose visit goes on is never guessed. Names are set as text.
function askWho(free, take) {
  const place = document.getElementById("who");
  const choose = (told, visit) => {
    const button = document.createElement("button");
    button.textContent = told;
    button.addEventListener("click", () => {
      place.replaceChildren();
      take(visit);
      document.querySelector(".xterm-helper-textarea")?.focus();
    });
    return button;
  };
  const time = (at) => new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  const told = (visit) => (visit.name ? `I am ${visit.name}: go on` : `Go on with the visit of ${time(visit.at)}`);
  const label = document.createElement("span");
  label.textContent = "Who is here?";
  place.replaceChildren(label, ...free.map((visit) => choose(told(visit), visit)), choose("Somebody else: begin anew"));
  place.children[1].focus();
}

const say = (text) => {
  const told = document.getElementById("lost");
  told.textContent = text;
  told.style.display = text ? "block" : "none";
};

// What the terminal takes for a WebSocket: it opens another one whenever the network takes one away.
class Lasting {
  constructor(url) {
    this.url = url;
    this.heard = { open: [], message: [], close: [] };
    this.tries = 0;
    this.since = Date.now();
    this.hasBeenOpen = false;
    this.isOver = false;
    keyed.then(() => this.open());
    addEventListener("online", () => this.retry());
    document.addEventListener("visibilitychange", () => this.retry());
    Lasting.present = this;
  }
  addEventListener(kind, heard) {
    (this.heard[kind] = this.heard[kind] || []).push(heard);
  }
  tell(kind, event) {
    for (const heard of this.heard[kind] || []) heard(event);
  }
  get visit() {
    return `&visit=${key}&again=${+this.hasBeenOpen}`;
  }
  open() {
    const socket = (this.socket = new Native(this.url + this.visit));
    socket.binaryType = "arraybuffer";
    socket.onopen = (event) => {
      this.hasBeenOpen = true;
      this.tries = 0;
      this.since = Date.now();
      say("");
      const name = sessionStorage.getItem("name");
      if (name) this.send(JSON.stringify(["name", name]));
      this.tell("open", event);
    };
    socket.onmessage = (event) => {
      if (typeof event.data === "string") {
        const [kind, about] = JSON.parse(event.data);
        if (kind === "deliver_file_start") return download(about);
        if (kind === "class") return window.hearOfClass?.(about);
        if (kind === "size") return fitTo(about);
        if (kind === "alone") return void document.getElementById("bar").replaceChildren(about);
      }
      this.tell("message", event);
    };
    socket.onclose = (event) => {
      if (socket !== this.socket || this.isOver) return;
      if (event.code === 1000 || event.code === IDLE) {
        if (event.code === 1000) remember(others());
        this.end("");
      }
      else if (event.code === TAKEN) this.end("This visit goes on in another page.");
      else this.wait();
    };
  }
  async wait() {
    say("The connection is lost; this page is trying to get it back. Nothing is lost.");
    if (Date.now() - this.since > A_DAY) return this.end("");
    let pause = WAITS[Math.min(this.tries++, WAITS.length - 1)];
    try {
      const answer = await fetch(location.pathname + location.search + this.visit, { cache: "no-store" });
      if (answer.status === 403 || answer.status === 421) return this.end("This link is no longer valid.");
      if (answer.status === 503) say("There is no room at the moment; this page keeps asking.");
    } catch {
      pause = WAITS[Math.min(this.tries, WAITS.length - 1)];
    }
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.again(), pause);
  }
  again() {
    clearTimeout(this.waiting);
    this.waiting = 0;
    this.open();
  }
  retry() {
    if (this.waiting && !document.hidden) this.again();
  }
  end(why) {
    this.isOver = true;
    say("");
    if (why) document.getElementById("why").textContent = why;
    this.tell("close", {});
  }
  send(text) {
    if (this.socket && this.socket.readyState === 1) this.socket.send(text);
  }
}
const Native = window.WebSocket;
window.WebSocket = Lasting;

// The common screen has another size: its letters are chosen anew, once that has settled.
let fitting = 0;
function fitTo([columns, rows]) {
  clearTimeout(fitting);
  const { dataset } = document.body;
  if (+dataset.columns !== columns || +dataset.rows !== rows) fitting = setTimeout(() => location.reload(), 600);
}

function download(name) {
  const link = document.createElement("a");
  link.href = `/download/${encodeURIComponent(name)}`;
  link.download = "";
  document.body.append(link);
  link.click();
  link.remove();
}

addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", async (event) => {
  event.preventDefault();
  const file = event.dataTransfer && event.dataTransfer.files[0];
  if (!file || !Lasting.present) return;
  if (file.size > MOST_OF_A_FILE) {
    say(`${file.name} is too large for a session.`);
    setTimeout(() => say(""), 4000);
    return;
  }
  Lasting.present.send(JSON.stringify(["session", await file.text()]));
});

addEventListener("DOMContentLoaded", () => {
  const { columns, rows } = document.body.dataset;
  const terminal = document.getElementById("terminal");
  if (!terminal) return;
  document.getElementById("to-plain").href = `/?token=${ITS_CLASS}`;
  document.getElementById("alone").addEventListener("click", () => Lasting.present.send('["stdin", "\\r"]'));
  if (+columns) {
    const told = document.getElementById("bar").offsetHeight;
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
