/**
 * The script of all server-rendered pages. It shows the copy buttons and handles their clicks. If the browser denies access to
 * the clipboard (over plain HTTP, or in a frame without permission), the script selects the text, so that the user can copy it
 * with the keyboard.
 */
export const copyScript = `const announcer = document.getElementById("announcer");
const restoring = new WeakMap();

/** Shows a text in the live region for a short time. */
function announce(text, milliseconds = 2500) {
  announcer.textContent = text;
  setTimeout(() => {
    if (announcer.textContent === text) announcer.textContent = "";
  }, milliseconds);
}

/** Shows an outcome on a button and in the live region for a short time. */
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
    source.closest("details")?.setAttribute("open", "");
    getSelection().selectAllChildren(source);
    report(button, "Selected", "Selected " + button.dataset.what + ": copy it with the keyboard.");
  }
});

document.documentElement.dataset.scripted = "";
`;
