// Messages on their way: kept in sessionStorage until the server has acknowledged them,
// so that a reload in the middle of sending loses nothing. The same client_id goes out
// every time, and the server stores it once.

export class Outbox {
  #key;
  #storage;
  #messages;

  constructor(conversation, storage = sessionStorageOrNone()) {
    this.#key = `waybill.outbox.${conversation}`;
    this.#storage = storage;
    this.#messages = this.#read();
  }

  /** Oldest first; those with a `problem` were refused and are not sent again. */
  get messages() {
    return this.#messages;
  }

  get unsent() {
    return this.#messages.filter((message) => !message.problem);
  }

  add(text) {
    const message = { client_id: crypto.randomUUID?.() ?? randomId(), text };
    this.#messages = [...this.#messages, message];
    this.#write();
    return message;
  }

  /** Takes a message out; false if it was not there. */
  settle(clientId) {
    const left = this.#messages.filter((message) => message.client_id !== clientId);
    const found = left.length !== this.#messages.length;
    this.#messages = left;
    if (found) this.#write();
    return found;
  }

  settleAll(clientIds) {
    for (const id of clientIds) this.settle(id);
  }

  refuse(clientId, problem) {
    this.#messages = this.#messages.map((message) =>
      message.client_id === clientId ? { ...message, problem } : message,
    );
    this.#write();
  }

  #read() {
    try {
      const kept = JSON.parse(this.#storage?.getItem(this.#key) ?? "[]");
      return Array.isArray(kept) ? kept.filter((m) => m?.client_id && m?.text) : [];
    } catch {
      return [];
    }
  }

  #write() {
    try {
      this.#storage?.setItem(this.#key, JSON.stringify(this.#messages));
    } catch {
      // Storage is full or off: the message still goes out, it only won't survive a reload.
    }
  }
}

// crypto.randomUUID exists on secure origins only; a shop on plain http still needs ids.
function randomId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function sessionStorageOrNone() {
  try {
    return globalThis.sessionStorage;
  } catch {
    return null;
  }
}
