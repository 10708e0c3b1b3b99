/**
 * Keeps what changes on the page up to date: asks for the page again every five seconds, and exchanges the parts that
 * say `data-live` where they differ. It waits while the reader selects text or is asked something.
 */
export const refreshScript = `const everyMs = 5000;

// Never location.href: of an address with a user and a password in it, fetch wants to know nothing.
const here = () => new URL(location.pathname + location.search, location.origin);
const reach = (path) => new URL(path, here());

const keyOf = (element) => element && (element.id || element.getAttribute("href") || element.getAttribute("aria-label"));
const findByKey = (region, key) =>
  [...region.querySelectorAll("a, button, [tabindex]")].find((element) => keyOf(element) === key);

function exchange(current, wanted) {
  if (current.isEqualNode(wanted)) return;
  const key = current.contains(document.activeElement) ? keyOf(document.activeElement) : undefined;
  current.replaceWith(wanted);
  if (key) findByKey(wanted, key)?.focus({ preventScroll: true });
}

const isBusy = () => document.querySelector("main :is([data-state], [data-confirm]:not([hidden]))") !== null;

let refreshing = Promise.resolve();

/** One at a time: an older answer must not come last. */
function refresh() {
  refreshing = refreshing.catch(() => {}).then(takeOver);
  return refreshing;
}

async function takeOver() {
  const response = await fetch(here());
  if (!response.ok) throw new Error("HTTP " + response.status);
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  if (isBusy()) return;
  const place = scrollY;
  for (const current of document.querySelectorAll("[data-live]")) {
    const wanted = page.getElementById(current.id);
    if (wanted) exchange(current, document.adoptNode(wanted));
  }
  scrollTo({ top: place, behavior: "instant" });
  document.title = page.title;
  document.getElementById("connection").hidden = true;
}

const live = document.getElementById("live");
live?.addEventListener("click", () => {
  const isPaused = live.dataset.paused !== undefined;
  if (isPaused) delete live.dataset.paused;
  else live.dataset.paused = "";
  live.textContent = isPaused ? "Pause updates" : "Resume updates";
});

async function keepUpToDate() {
  const selects = getSelection().type === "Range";
  if (!document.hidden && !selects && !isBusy() && live.dataset.paused === undefined) {
    await refresh().catch(() => {
      document.getElementById("connection").hidden = false;
    });
  }
  setTimeout(keepUpToDate, everyMs);
}

if (live) setTimeout(keepUpToDate, everyMs);
`;
