// The chat page: puts the parts together. The state is the log, the outbox and the run
// that goes on; every change ends in one call of show().

import { banner } from "./banner.js";
import { composer } from "./composer.js";
import { keyed, useSprite } from "./dom.js";
import { evidenceSheet } from "./evidence.js";
import { emptyLog, fold, observationStep, personOf } from "./log.js";
import { messageView } from "./message_view.js";
import { Outbox } from "./outbox.js";
import { runView } from "./run_view.js";
import { Session } from "./session.js";
import { speaker } from "./speaker.js";
import { createWording } from "./wording.js";

const root = document.querySelector("[data-chat]");
const { conversation, locale, timeZone } = root.dataset;
useSprite(root.dataset.sprite);
const wording = createWording({ words: JSON.parse(root.dataset.words), locale, timeZone });

const log = emptyLog();
const outbox = new Outbox(conversation);
const list = root.querySelector("[data-log]");
const scroller = root.querySelector("[data-scroller]");
const who = root.querySelector("[data-who]");
const assistant = who.textContent;
const welcome = root.querySelector("[data-welcome]");
const newest = root.querySelector("[data-newest]");
const sheet = evidenceSheet(wording);
const announce = speaker(root.querySelector("[data-speaker]"), wording);

const notices = banner(root.querySelector("[data-banner]"), {
  wording,
  loginUrl: root.dataset.loginUrl,
  guest: root.dataset.guest === "yes",
  reconnect: () => session.reconnect(),
});
const session = new Session({
  address: root.dataset.socket,
  log,
  outbox,
  changed: (entry) => {
    if (entry && session.caughtUp) announce.entry(entry);
    show();
  },
  connection: (state) => {
    root.dataset.connection = state;
    notices.connection(state);
  },
  problem: (frame) => notices.error(frame),
  limits: (limits) => write.setLimit(limits.message_characters),
});
const write = composer(root.querySelector("[data-composer]"), {
  wording,
  conversation,
  limit: Number(root.dataset.limit),
  send: (text) => say(text),
  stop: () => session.cancel(),
});

const page = {
  wording,
  ratings: new Map(Object.entries(JSON.parse(root.dataset.ratings)).map(([k, v]) => [Number(k), v])),
  stopping: () => session.stopping,
  send: (text) => say(text),
  retry: (run) => session.retry(run),
  confirm: (card, fields) => session.confirmCard(card, fields),
  withdraw: (card) => session.withdrawCard(card),
  cardProblem: (request) => session.cardProblem(request),
  verifying: () => session.verifying,
  verifyProblem: () => session.verifyProblem,
  forgetVerifyProblem: () => (session.verifyProblem = ""),
  askForCode: (details) => session.askForCode(details),
  enterCode: (code) => session.enterCode(code),
  loginUrl: root.dataset.loginUrl,
  guest: root.dataset.guest === "yes",
  demo: root.dataset.demo === "yes",
  rate: (message, helpful, comment) => session.rate(message, helpful, comment),
  openEvidence: (run, proof) =>
    sheet.open(proof, observationStep(log, run, proof.observation)),
  resend: (message) => {
    outbox.settle(message.key.slice(1));
    say(message.text);
  },
  discard: (message) => {
    outbox.settle(message.key.slice(1));
    write.restore(message.text);
    show();
  },
};

let shown = false;
let stick = true;

scroller.addEventListener("scroll", () => {
  stick = atEnd();
  newest.hidden = stick;
});
newest.addEventListener("click", () => toEnd());
for (const button of root.querySelectorAll("[data-suggest]")) {
  button.addEventListener("click", () => say(button.textContent.trim()));
}
// Messages that an earlier page of this tab did not get through are already there.
show();
session.reconnect();
if (matchMedia("(pointer: fine)").matches) write.focus();

function say(text) {
  stick = true;
  session.send(text);
}

// A replay brings hundreds of entries in one go: they are shown once.
function show() {
  if (shown) return;
  shown = true;
  requestAnimationFrame(() => {
    shown = false;
    render();
  });
}

function render() {
  const items = marked(fold(log, { pending: outbox.messages, active: session.run }));
  list.setAttribute("aria-busy", String(!session.caughtUp));
  keyed(list, items, (item) => item.key, (item) =>
    item.kind === "run" ? runView(page) : messageView(page),
  );
  welcome.hidden = items.length > 0 || !session.caughtUp;
  write.setRunning(session.run !== null, session.stopping);
  nameConversation(items);
  nameWhoAnswers();
  if (stick) toEnd();
  newest.hidden = stick || atEnd();
}

function marked(items) {
  const runs = items.filter((item) => item.kind === "run");
  for (const [place, part] of runs.entries()) {
    part.older = place < runs.length - 1;
    part.newest = part === items.at(-1);
  }
  return items;
}

function nameConversation(items) {
  const first = items.find((item) => item.speaker === "customer");
  const title = root.querySelector("[data-title]");
  if (!first || title.dataset.named) return;
  title.dataset.named = "yes";
  const line = first.text.split("\n")[0].slice(0, 80);
  for (const place of document.querySelectorAll("[data-title]")) place.textContent = line;
}

function nameWhoAnswers() {
  const { words } = wording;
  const name = personOf(log);
  const person = name ? words.who_person.replace("{name}", name) : words.who_somebody;
  who.textContent = name === null ? assistant : person;
  root.querySelector("[data-who-model]").hidden = name !== null;
}

function atEnd() {
  return scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 48;
}

function toEnd() {
  scroller.scrollTop = scroller.scrollHeight;
}
