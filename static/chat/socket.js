// One live connection to one conversation: opens, keeps alive, reconnects. It knows
// nothing of what the frames mean, except hello and pong.

const FIRST_WAIT = 400; // ms
const LONGEST_WAIT = 15_000;
const PING_EVERY = 25_000;
const SILENCE = 60_000;
const CROWDED_WAIT = 10_000;

const ENDS = new Map([
  [4401, "signed_out"],
  [4403, "not_allowed"],
  [4409, "superseded"],
]);

/**
 * `lastSeq()` says from where the server shall replay; `onFrame(frame)` gets every parsed
 * frame, `onState(state)` one of connecting, open, reconnecting, offline, idle, crowded,
 * signed_out, not_allowed, superseded.
 */
export class ChatSocket {
  #address;
  #lastSeq;
  #onFrame;
  #onState;
  #socket = null;
  #tries = 0;
  #timer = 0;
  #heartbeat = 0;
  #heardAt = 0;
  #ended = false;

  constructor({ address, lastSeq, onFrame, onState }) {
    this.#address = address;
    this.#lastSeq = lastSeq;
    this.#onFrame = onFrame;
    this.#onState = onState;
    addEventListener("online", () => this.wake());
    addEventListener("offline", () => this.#lost());
    addEventListener("pageshow", (event) => event.persisted && this.wake());
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") this.wake();
    });
  }

  get open() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  connect() {
    this.#ended = false;
    clearTimeout(this.#timer);
    if (this.#socket) return;
    if (navigator.onLine === false) {
      this.#onState("offline");
      return;
    }
    this.#onState(this.#tries ? "reconnecting" : "connecting");
    const url = new URL(this.#address, location.href);
    url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    url.searchParams.set("last", String(this.#lastSeq()));
    const socket = new WebSocket(url);
    this.#socket = socket;
    this.#heardAt = Date.now();
    socket.addEventListener("message", (event) => this.#heard(socket, event.data));
    socket.addEventListener("close", (event) => this.#closed(socket, event.code));
    clearInterval(this.#heartbeat);
    this.#heartbeat = setInterval(() => this.#beat(), PING_EVERY);
  }

  /** Sends a frame; false when there is no open connection (nothing is queued here). */
  send(frame) {
    if (!this.open) return false;
    this.#socket.send(JSON.stringify(frame));
    return true;
  }

  /** Reconnects now instead of at the end of a wait, unless the server ended it. */
  wake() {
    if (this.#ended || this.#socket) return;
    this.#tries = Math.min(this.#tries, 1);
    this.connect();
  }

  #heard(socket, data) {
    if (socket !== this.#socket) return;
    this.#heardAt = Date.now();
    let frame;
    try {
      frame = JSON.parse(data);
    } catch {
      return;
    }
    if (frame.type === "hello") {
      this.#tries = 0;
      this.#onState("open");
    }
    if (frame.type !== "pong") this.#onFrame(frame);
  }

  #beat() {
    if (!this.open) return;
    // A sleeping laptop leaves a socket that looks open and is dead.
    if (Date.now() - this.#heardAt > SILENCE) this.#lost();
    // Hidden pages stay silent, so that the server may let go of forgotten tabs.
    else if (document.visibilityState === "visible") this.send({ type: "ping" });
    else this.#heardAt = Date.now();
  }

  #lost() {
    const socket = this.#socket;
    if (!socket) return;
    socket.close();
    // The close event may take minutes on a dead network; don't wait for it.
    this.#closed(socket, 1006);
  }

  #closed(socket, code) {
    if (socket !== this.#socket) return;
    this.#socket = null;
    clearInterval(this.#heartbeat);
    if (ENDS.has(code)) {
      this.#ended = true;
      this.#onState(ENDS.get(code));
    } else if (code === 4408 && document.visibilityState !== "visible") {
      this.#onState("idle");
    } else if (navigator.onLine === false) {
      this.#onState("offline");
    } else {
      this.#again(code);
    }
  }

  #again(code) {
    const wait = waitBefore(this.#tries, code);
    this.#tries += 1;
    this.#onState(code === 4429 ? "crowded" : "reconnecting");
    this.#timer = setTimeout(() => this.connect(), wait);
  }
}

/** Milliseconds until the next try: exponential, with jitter so that pages don't flock. */
export function waitBefore(tries, code, random = Math.random) {
  if (code === 1012 && tries === 0) return 300 * random();
  const ceiling = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** tries);
  const wait = ceiling / 2 + (ceiling / 2) * random();
  return code === 4429 ? CROWDED_WAIT + wait : wait;
}
