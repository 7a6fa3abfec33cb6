// The conversation's log, and what of it a page shows. Pure: no DOM, no clock, no socket.
//
// An entry counts once and in order: the socket is only a mirror, so a jump in `seq`
// means that something is missing and nothing may be applied until it came.

export function emptyLog() {
  return { last: 0, entries: [] };
}

/** Takes one entry: "applied", "old" (already there) or "gap" (ask for a replay). */
export function take(log, entry) {
  if (entry.seq <= log.last) return "old";
  if (entry.seq !== log.last + 1) return "gap";
  log.entries.push(entry);
  log.last = entry.seq;
  return "applied";
}

/** The client ids of the customer's messages that the log already holds. */
export function knownClientIds(log) {
  return new Set(log.entries.filter((e) => e.client_id).map((e) => e.client_id));
}

/**
 * What to show, oldest first: messages, and runs with their steps and their answer.
 *
 * `pending` are messages that were not acknowledged yet, `active` is the run that the
 * server named as going on, which may have no entry yet. When a customer writes during a
 * run, the run goes on below that message as a second part.
 */
export function fold(log, { pending = [], active = null } = {}) {
  const view = { items: [], runs: new Map(), cards: new Map(), form: null };
  for (const entry of log.entries) (FOLDS[entry.type] ?? ignore)(view, entry);
  for (const message of pending) {
    view.items.push({
      kind: "message",
      key: `c${message.client_id}`,
      speaker: "customer",
      text: message.text,
      at: null,
      pending: true,
      problem: message.problem ?? "",
    });
  }
  if (active && !view.runs.has(active)) partOf(view, { run: active, at: null });
  return view.items;
}

/** The run that is going on, or null. `hinted` is the one that the server named. */
export function activeRun(log, hinted) {
  const stopped = new Set();
  let started = null;
  for (const entry of log.entries) {
    if (entry.type === "run.started") started = entry.run;
    if (entry.type === "run.stopped") stopped.add(entry.run);
  }
  if (hinted && !stopped.has(hinted)) return hinted;
  return started && !stopped.has(started) ? started : null;
}

/** The person who has the conversation ("" where they have no name), or null. */
export function personOf(log) {
  const told = log.entries.findLast((e) => CODES.has(e.extras?.code));
  return told?.extras.code === "taken_over" ? told.extras.name : null;
}

/** The step of `run` that holds observation `id`, or null. */
export function observationStep(log, run, id) {
  const seen = log.entries.find(
    (e) => e.type === "step.observation" && e.run === run && e.observation === id,
  );
  if (!seen) return null;
  const asked = log.entries.find(
    (e) => e.type === "step.action" && e.run === run && e.call_id === seen.call_id,
  );
  return { ...asked, ...seen };
}

const CODES = new Set(["taken_over", "released"]);

const FOLDS = {
  message: foldMessage,
  "run.started"(view, entry) {
    const { run } = partOf(view, entry);
    run.model = entry.model;
    run.modelKind = entry.model_kind;
    run.needs = entry.needs ?? [];
  },
  "run.joined"(view, entry) {
    const { part, run } = partOf(view, entry);
    run.needs = part.needs = entry.needs ?? run.needs;
  },
  "step.action"(view, entry) {
    const { part, run } = partOf(view, entry);
    const step = { ...entry, kind: "call", key: `s${entry.seq}`, observed: false };
    part.steps.push(step);
    run.calls.set(entry.call_id, step);
  },
  "step.observation"(view, entry) {
    const { part, run } = partOf(view, entry);
    let step = run.calls.get(entry.call_id);
    if (!step) {
      step = { kind: "call", key: `s${entry.seq}`, arguments: {}, thought: "" };
      part.steps.push(step);
    }
    const { at, key } = step;
    Object.assign(step, entry, { observed: true, at: at ?? entry.at, key });
  },
  "step.refused": (view, entry) => sideStep(view, entry, "refused"),
  "step.sent_back": (view, entry) => sideStep(view, entry, "sent_back"),
  "step.note": (view, entry) => sideStep(view, entry, "note"),
  "run.stopped"(view, entry) {
    const { part } = partOf(view, entry);
    part.stopped = entry;
    part.live = false;
  },
};

function ignore() {
  // An entry type of a newer server: its seq counts, its content is not for this page.
}

function foldMessage(view, entry) {
  const run = view.runs.get(entry.run);
  if (entry.speaker === "assistant" && run && !run.answered) {
    run.answered = true;
    const { part } = partOf(view, entry);
    part.answer = entry;
    placeCard(view, entry, part);
    placeForm(view, entry, part);
    return;
  }
  const item = {
    kind: "message",
    key: entry.client_id ? `c${entry.client_id}` : `m${entry.seq}`,
    id: entry.id,
    speaker: entry.speaker,
    text: entry.text,
    at: entry.at,
    extras: entry.extras ?? {},
    pending: false,
    problem: "",
  };
  view.items.push(item);
  placeCard(view, entry, item);
  placeForm(view, entry, item);
}

/** What a visitor may fill in is shown once: where it was offered last. */
function placeForm(view, entry, item) {
  const form = entry.extras?.guest;
  if (!form?.form) return;
  if (view.form) view.form.form = null;
  item.form = form;
  view.form = item;
}

/**
 * A card is shown once, with its newest state, on the answer that proposed it last; news
 * of it are messages of their own.
 */
function placeCard(view, entry, item) {
  const card = entry.extras?.card;
  if (!card?.request) return;
  const before = view.cards.get(card.request);
  const place = before && item.kind !== "run" ? before : item;
  if (before) before.card = null;
  place.card = card;
  view.cards.set(card.request, place);
}

function sideStep(view, entry, kind) {
  partOf(view, entry).part.steps.push({ ...entry, kind, key: `s${entry.seq}` });
}

/** The part of the entry's run that new steps belong to: the last item, else a new one. */
function partOf(view, entry) {
  let run = view.runs.get(entry.run);
  if (!run) {
    run = { calls: new Map(), parts: [], model: "", modelKind: "", needs: [] };
    view.runs.set(entry.run, run);
  }
  const last = view.items.at(-1);
  let part = run.parts.at(-1);
  if (!part || (part !== last && last?.speaker === "customer")) {
    if (part) part.live = false;
    part = {
      kind: "run",
      key: `r${entry.run}.${run.parts.length}`,
      run: entry.run,
      at: entry.at,
      steps: [],
      answer: null,
      stopped: null,
      live: true,
      first: run.parts.length === 0,
      needs: [],
      get model() {
        return run.model;
      },
      get modelKind() {
        return run.modelKind;
      },
      get allNeeds() {
        return run.needs;
      },
    };
    run.parts.push(part);
    view.items.push(part);
  }
  return { part, run };
}
