/**
 * The script that all pages begin with: says that scripts run, so that the buttons show, and makes the copy buttons
 * work. Where the browser refuses the clipboard (plain HTTP, or a frame that was not granted it) it selects the text
 * instead, ready to be copied by hand. It listens on the document, because a page may add buttons later.
 */
export const copyScript = `const announcer = document.getElementById("announcer");
const restoring = new WeakMap();

/** Tells those who listen, and takes it back after a while. */
function announce(text, milliseconds = 2500) {
  announcer.textContent = text;
  setTimeout(() => {
    if (announcer.textContent === text) announcer.textContent = "";
  }, milliseconds);
}

/** Tells an outcome on a button and in the live region, and takes both back after a while. */
function report(button, state, announcement, milliseconds = 2500) {
  const label = button.querySelector("[data-label]");
  button.dataset.usual ??= label.textContent;
  label.textContent = state;
  button.dataset.state = state;
  announce(announcement, milliseconds);
  clearTimeout(restoring.get(button));
  restoring.set(button, setTimeout(() => {
    label.textContent = button.dataset.usual;
    delete button.dataset.state;
  }, milliseconds));
}

document.addEventListener("click", async ({ target }) => {
  const button = target.closest("button[data-copy]");
  if (!button) return;
  const source = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(source.textContent);
    report(button, "Copied", "Copied " + button.dataset.what + ".");
  } catch {
    getSelection().selectAllChildren(source);
    report(button, "Selected", "Selected " + button.dataset.what + ": copy it with the keyboard.");
  }
});

document.documentElement.dataset.scripted = "";
`;
