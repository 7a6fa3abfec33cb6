// Says to a screen reader what a sighted person sees happen: each step once, politely.
// Messages and answers are announced by the log itself (role="log").

import { say } from "./wording.js";

export function speaker(place, wording) {
  const { words } = wording;
  const calls = new Map();
  const tell = (text) => {
    if (text) place.textContent = text;
  };
  return {
    entry(entry) {
      switch (entry.type) {
        case "step.action":
          calls.set(entry.call_id, entry);
          tell(say(words.announce_step, { n: entry.step, text: wording.call(entry) }));
          break;
        case "step.observation": {
          const call = calls.get(entry.call_id) ?? entry;
          tell(`${wording.call({ ...call, ...entry })}: ${wording.outcome(entry)}`);
          break;
        }
        case "run.stopped":
          tell(entry.reason === "answered" ? words.announce_done : wording.reason(entry.reason));
          break;
      }
    },
  };
}
