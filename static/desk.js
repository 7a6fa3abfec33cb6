// The staff's page of a conversation reads along: when the log has grown, its lines are
// fetched and exchanged, and what is being typed below them stays as it is.

const EVERY = 3_000; // ms
const list = () => document.querySelector("[data-said]");
const shown = () => Number(list().lastElementChild?.dataset.seq ?? 0);

async function look() {
  if (document.hidden) return;
  const news = await fetch(`${location.pathname}?news=1`);
  if (!news.ok || (await news.json()).last <= shown()) return;
  const page = new DOMParser().parseFromString(
    await (await fetch(location.pathname)).text(),
    "text/html",
  );
  const newer = page.querySelector("[data-said]");
  if (newer) list().replaceWith(newer);
  list().lastElementChild?.scrollIntoView({ block: "nearest" });
}

// A server that is away for a moment is asked again.
if (list()) setInterval(() => look().catch(() => {}), EVERY);
