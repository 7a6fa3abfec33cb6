// What frames mean: keeps the log whole, the outbox moving and the active run known.

import { activeRun, knownClientIds, take } from "./log.js";
import { ChatSocket } from "./socket.js";

const RESEND_AFTER = 6_000; // ms without an acknowledgement
const RESUME_AGAIN = 3_000;
// The same text would be refused again: the customer has to change it.
const FINAL = new Set([
  "bad_frame",
  "bad_message",
  "message_too_long",
  "empty_message",
  "too_large",
]);

export class Session {
  #socket;
  #log;
  #outbox;
  #parts;
  #hinted = null;
  #resumedAt = 0;
  #resendTimer = 0;
  #cancelled = null;
  #target = Infinity;
  #accepted = new Set();
  #cardProblems = new Map();
  #verifying = false;

  /** What the server said against what a visitor filled in; "" where nothing. */
  verifyProblem = "";

  /** Whether the log was whole since the last hello: only then may anything be sent. */
  caughtUp = false;

  /** `changed(entry?)`, `connection(state)`, `problem(frame)`, `limits(limits)` are told. */
  constructor({ address, log, outbox, ...parts }) {
    this.#log = log;
    this.#outbox = outbox;
    this.#parts = parts;
    this.#socket = new ChatSocket({
      address,
      lastSeq: () => log.last,
      onFrame: (frame) => this.#frame(frame),
      onState: (state) => this.#state(state),
    });
  }

  /** The id of the run that goes on, or null. */
  get run() {
    return activeRun(this.#log, this.#hinted);
  }

  get stopping() {
    return this.#cancelled !== null && this.#cancelled === this.run;
  }

  reconnect() {
    this.#socket.connect();
  }

  send(text) {
    const message = this.#outbox.add(text);
    this.#parts.changed();
    // Before the replay is complete an older message may still wait: keep their order.
    if (this.caughtUp) this.#transmit(message);
    this.#socket.wake();
  }

  cancel() {
    const run = this.run;
    if (!run || !this.#socket.send({ type: "run.cancel", run })) return;
    this.#cancelled = run;
    this.#parts.changed();
  }

  retry(run) {
    if (!this.#socket.send({ type: "run.retry", run })) this.#socket.wake();
  }

  /** What the server said against a card's last button; "" where nothing. */
  cardProblem(request) {
    return this.#cardProblems.get(request) ?? "";
  }

  confirmCard({ request, hash }, fields) {
    this.#cardProblems.delete(request);
    return this.#socket.send({ type: "card.confirm", request, hash, fields });
  }

  withdrawCard({ request }) {
    this.#cardProblems.delete(request);
    return this.#socket.send({ type: "card.withdraw", request });
  }

  /** Whether something that a visitor filled in waits for the server's word. */
  get verifying() {
    return this.#verifying;
  }

  askForCode({ order, contact }) {
    this.#verify({ type: "verify.start", order, contact });
  }

  enterCode(code) {
    this.#verify({ type: "verify.code", code });
  }

  #verify(frame) {
    this.verifyProblem = "";
    this.#verifying = this.#socket.send(frame);
    if (!this.#verifying) this.#socket.wake();
    this.#parts.changed();
  }

  rate(message, helpful, comment) {
    this.#socket.send({ type: "feedback.send", message, helpful, comment });
  }

  #state(state) {
    if (state !== "open") {
      this.#verifying = false;
      clearTimeout(this.#resendTimer);
      this.caughtUp = false;
      this.#accepted.clear();
    }
    this.#parts.connection(state);
    this.#parts.changed();
  }

  #frame(frame) {
    if (typeof frame.seq === "number" && frame.type !== "message.accepted") {
      this.#entry(frame);
    } else {
      this.#others[frame.type]?.(frame);
    }
  }

  #entry(entry) {
    switch (take(this.#log, entry)) {
      case "old":
        return;
      case "gap":
        this.#resume();
        return;
      default:
        if (entry.client_id) this.#outbox.settle(entry.client_id);
        if (entry.extras?.guest) this.#verifying = false;
        this.#parts.changed(entry);
        this.#checkWhole();
    }
  }

  #checkWhole() {
    if (this.caughtUp || this.#log.last < this.#target) return;
    this.caughtUp = true;
    this.#outbox.settleAll(knownClientIds(this.#log));
    this.#transmitAll();
    this.#parts.changed();
  }

  // One replay at a time: a burst behind a gap would otherwise ask for hundreds.
  #resume() {
    const now = Date.now();
    if (now - this.#resumedAt < RESUME_AGAIN) return;
    this.#resumedAt = now;
    this.#socket.send({ type: "resume", last: this.#log.last });
  }

  #others = {
    hello: (frame) => {
      this.#hinted = frame.run?.id ?? null;
      this.#target = frame.last_seq;
      this.caughtUp = false;
      if (frame.limits) this.#parts.limits(frame.limits);
      this.#checkWhole();
      this.#parts.changed();
    },
    caught_up: (frame) => {
      this.#resumedAt = 0;
      if (this.#log.last < frame.last_seq) this.#resume();
      else this.#checkWhole();
    },
    "message.accepted": (frame) => {
      this.#hinted = frame.run ?? this.#hinted;
      // It stays on the page, from the outbox, until its entry takes its place.
      if (frame.seq <= this.#log.last) this.#outbox.settle(frame.client_id);
      else this.#awaitEntry(frame);
      this.#parts.changed();
    },
    error: (frame) => {
      if (!frame.client_id && !frame.request && this.#verifying) {
        this.#verifying = false;
        this.verifyProblem = frame.text ?? frame.code;
        this.#parts.changed();
        return;
      }
      if (frame.request) {
        this.#cardProblems.set(frame.request, frame.text ?? frame.code);
        this.#parts.changed();
        return;
      }
      if (frame.client_id && FINAL.has(frame.code)) {
        this.#outbox.refuse(frame.client_id, frame.text ?? frame.code);
        this.#parts.changed();
        return;
      }
      if (frame.client_id) this.#transmitLater((frame.retry_after ?? 5) * 1000);
      if (frame.code === "nothing_to_cancel") this.#cancelled = null;
      else this.#parts.problem(frame);
      this.#parts.changed();
    },
  };

  // The entry follows within moments; if the wake-up was lost, a replay brings it.
  #awaitEntry(frame) {
    this.#accepted.add(frame.client_id);
    setTimeout(() => {
      if (frame.seq > this.#log.last) this.#resume();
    }, 1_000);
  }

  #transmit(message) {
    if (message.problem || this.#accepted.has(message.client_id)) return;
    const { client_id, text } = message;
    this.#socket.send({ type: "message.send", client_id, text });
    this.#transmitLater(RESEND_AFTER);
  }

  #transmitAll() {
    for (const message of this.#outbox.unsent) this.#transmit(message);
  }

  #transmitLater(wait) {
    clearTimeout(this.#resendTimer);
    this.#resendTimer = setTimeout(() => {
      if (this.#socket.open && this.caughtUp) this.#transmitAll();
    }, wait);
  }
}
