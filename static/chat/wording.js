// Steps in plain words, and observed values as people read them. Pure functions over the
// page's word list; whatever it does not know is shown as it came.

/** `words` is the page's list, `locale` and `timeZone` those of the customer. */
export function createWording({ words, locale, timeZone }) {
  const clock = formatter(locale, timeZone, { hour: "2-digit", minute: "2-digit" });
  const day = formatter(locale, timeZone, { month: "long", day: "numeric" });
  const between = locale.startsWith("zh") ? " " : ", ";
  const exact = formatter(locale, timeZone, { dateStyle: "medium", timeStyle: "medium" });

  const wording = {
    words,
    clock: (at) => show(clock, at),
    // What is no time is shown as it came, once.
    time: (at) => [...new Set([show(day, at), show(clock, at)])].join(between),
    exactTime: (at) => show(exact, at),
    seconds: (ms) => {
      const digits = ms < 9_950 ? 1 : 0;
      const number = Math.max(ms, 50) / 1000;
      return say(words.took, { seconds: number.toFixed(digits) });
    },
    counted: (name, n) => say((n === 1 && words[`${name}_one`]) || words[name], { n }),
    fieldName: (name) => words.field[name] ?? name.replaceAll("_", " "),
    source: (source) => {
      const [kind, name] = String(source ?? "").split(":");
      return say(words.from[kind] ?? source ?? "", { name: name?.toUpperCase() ?? "" });
    },
    call: (step) =>
      say(words.call[step.tool] ?? words.call.other, {
        ...step.arguments,
        tool: step.tool,
      }),
    outcome: (step) => outcome(step, wording),
    side: (step) => side(step, wording),
    value: (name, value) => scalar(name, value, wording, locale),
    needs: (needs) => needs.map((need) => words.need[need] ?? need),
    reason: (reason) => words.reason[reason] ?? reason,
  };
  return wording;
}

/** Fills `{name}` slots; a slot without a value stays readable. */
export function say(text, slots = {}) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => {
    const value = slots[name];
    return value === undefined || value === null ? "" : String(value);
  });
}

/** One of good, wait, bad, mute: how a step's dot and words are coloured. */
export function tone(step) {
  if (step.kind === "call") {
    if (!step.observed) return "wait";
    return step.status === "ok" ? "good" : "warn";
  }
  return step.kind === "refused" ? "bad" : "mute";
}

function outcome(step, wording) {
  const { words } = wording;
  if (step.status !== "ok") return words.outcome[step.status] ?? step.status;
  const fields = step.fields ?? {};
  if ("eligible" in fields) {
    return words.outcome[fields.eligible ? "eligible" : "not_eligible"];
  }
  const parts = (OUTCOMES[step.tool] ?? (() => []))(fields, wording);
  return parts.filter(Boolean).join(" · ") || words.value.ok;
}

const OUTCOMES = {
  get_order(fields, wording) {
    const numbers = list(fields.parcels).map((parcel) => parcel?.tracking_id);
    const known = numbers.filter(Boolean);
    const missing = numbers.length > known.length;
    return [
      known.length === 0 && !fields.status ? "" : wording.value("status", fields.status),
      known.length
        ? say(wording.words.outcome.parcel, { tracking_id: known.join(", ") })
        : missing && wording.words.outcome.no_parcel,
    ];
  },
  track_shipment: (fields, wording) => [
    fields.status && wording.value("status", fields.status),
    fields.place,
  ],
  get_refund(fields, wording) {
    const [refund] = list(fields.refunds);
    if (!refund) return [wording.words.outcome.refunds_none];
    return [wording.value("status", refund.status), wording.value("amount", refund.amount)];
  },
  list_my_orders: (fields, wording) => [
    count("orders", fields.total_orders ?? list(fields.orders).length, wording),
  ],
  search_help: (fields, wording) => [
    count("articles", list(fields.articles).length, wording),
  ],
};

function count(name, n, { words }) {
  if (!n) return words.outcome[`${name}_none`];
  return say(n === 1 ? words.outcome[`${name}_one`] : words.outcome[name], { n });
}

function side(step, wording) {
  const { words } = wording;
  if (step.kind === "refused") return words.refused;
  if (step.kind === "note") return words[step.code] ?? step.code;
  const missing = step.missing ?? [];
  const parts = [
    missing.length &&
      say(words.sent_back_missing, { needs: wording.needs(missing).join(", ") }),
    step.unproved && wording.counted("sent_back_unproved", step.unproved),
  ];
  return say(words.sent_back, { text: parts.filter(Boolean).join("; ") });
}

// Date reads a year into whatever looks like a day: only what code wrote is a time.
const ISO_TIME = /^\d{4}-\d\d-\d\dT/;

function scalar(name, value, wording, locale) {
  const { words } = wording;
  if (value === null || value === undefined || value === "") return words.none;
  if (value === true) return words.yes;
  if (value === false) return words.no;
  if (isMoney(value)) return money(value, locale);
  if (ISO_TIME.test(value) && (name === "at" || name.endsWith("_at"))) {
    return wording.exactTime(value);
  }
  if (name === "status") return words.value[value] ?? String(value);
  return String(value);
}

export function isMoney(value) {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof value.amount === "string" &&
    typeof value.currency === "string" &&
    Object.keys(value).length === 2
  );
}

function money({ amount, currency }, locale) {
  const number = Number(amount);
  if (!Number.isFinite(number)) return `${amount} ${currency}`;
  try {
    return new Intl.NumberFormat(locale, {
      style: "currency",
      currency,
      currencyDisplay: "narrowSymbol",
    }).format(number);
  } catch {
    return `${amount} ${currency}`; // no currency that the browser knows
  }
}

// "2 December", as the answers have it.
const DATES_OF = { en: "en-GB" };

function formatter(locale, timeZone, options) {
  const dates = DATES_OF[locale] ?? locale;
  try {
    return new Intl.DateTimeFormat(dates, { ...options, timeZone, hour12: false });
  } catch {
    return new Intl.DateTimeFormat(dates, { ...options, timeZone: "UTC", hour12: false });
  }
}

function show(format, at) {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? String(at ?? "") : format.format(date);
}

const list = (value) => (Array.isArray(value) ? value : []);
