/**
 * Keeps the page up to date without taking anything from its reader: asks for it again every two seconds (less often
 * where that takes long) and changes only what differs. What is focused, open or selected stays as and where it is.
 */
export const refreshScript = `const main = document.querySelector("main");

const isSame = (one, other) => one.nodeName === other.nodeName && one.id === other.id;
const isHeld = (node) => node.contains(document.activeElement) || Boolean(node.querySelector?.("details[open]"));

function merge(current, wanted) {
  if (current.nodeType !== Node.ELEMENT_NODE) {
    if (current.nodeValue !== wanted.nodeValue) current.nodeValue = wanted.nodeValue;
    return;
  }
  // It is telling something just now.
  if (current.dataset.state !== undefined) return;
  for (const { name, value } of wanted.attributes) {
    if (current.getAttribute(name) !== value) current.setAttribute(name, value);
  }
  for (const { name } of [...current.attributes]) {
    if (name !== "open" && !wanted.hasAttribute(name)) current.removeAttribute(name);
  }
  mergeChildren(current, wanted);
}

function mergeChildren(current, wanted) {
  let place = current.firstChild;
  const removeUntil = (end) => {
    while (place !== end) {
      const gone = place;
      place = place.nextSibling;
      if (!isHeld(gone)) gone.remove();
    }
  };
  for (const child of [...wanted.childNodes]) {
    let match = place;
    if (child.nodeType === Node.ELEMENT_NODE) {
      while (match && !isSame(match, child)) match = match.nextSibling;
    } else if (match && !isSame(match, child)) {
      match = null;
    }
    if (match) {
      removeUntil(match);
      place = match.nextSibling;
      merge(match, child);
    } else {
      current.insertBefore(child, place);
    }
  }
  removeUntil(null);
}

/** What the reader looks at: it must not move. */
function findAnchor() {
  const isVisible = (element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  };
  const focused = main.contains(document.activeElement) ? [document.activeElement] : [];
  const others = main.querySelectorAll(scrollY > 0 ? ".log > li, h3" : "details[open]");
  return [...focused, ...others].find(isVisible);
}

let refreshing = Promise.resolve();

/** Takes over what is new, and resolves with the number of new entries. One at a time: an older answer must not come last. */
function refresh() {
  refreshing = refreshing.catch(() => {}).then(takeOver);
  return refreshing;
}

async function takeOver() {
  const response = await fetch(location.href);
  if (!response.ok) throw new Error("HTTP " + response.status);
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const wanted = page.querySelector("main");
  if (!wanted) throw new Error("not the page of a local Hub");
  const known = new Set(Array.from(main.querySelectorAll(".log > li"), ({ id }) => id));
  const arrived = [...wanted.querySelectorAll(".log > li")].filter(({ id }) => !known.has(id));
  for (const row of arrived) row.dataset.arrived = "";
  const anchor = findAnchor();
  const before = anchor?.getBoundingClientRect().top;
  merge(main, wanted);
  if (anchor) scrollBy({ top: anchor.getBoundingClientRect().top - before, behavior: "instant" });
  document.title = page.title;
  return arrived.length;
}

const live = document.getElementById("live");
live.addEventListener("click", () => {
  if (live.dataset.state === "paused") {
    delete live.dataset.state;
    live.textContent = "Pause updates";
  } else {
    live.dataset.state = "paused";
    live.textContent = "Resume updates";
  }
});

async function keepUpToDate() {
  const began = performance.now();
  const selects = getSelection().type === "Range";
  if (!document.hidden && !selects && live.dataset.state === undefined) {
    try {
      const count = await refresh();
      if (count > 0) announce(count === 1 ? "1 new entry." : count + " new entries.");
    } catch {
      document.getElementById("connection").hidden = false;
    }
  }
  setTimeout(keepUpToDate, Math.max(2000, 20 * (performance.now() - began)));
}

setTimeout(keepUpToDate, 2000);
`;
