/**
 * The page's only script: shows the copy buttons and makes them work. Where the browser refuses the clipboard (plain
 * HTTP, or a frame that was not granted it) it selects the text instead, ready to be copied by hand.
 */
export const copyScript = `const announcer = document.getElementById("announcer");

for (const button of document.querySelectorAll("button[data-copy]")) {
  const source = document.getElementById(button.dataset.copy);
  const label = button.querySelector("[data-label]");
  let restoring;

  const report = (state, announcement) => {
    label.textContent = state;
    button.dataset.state = state;
    announcer.textContent = announcement;
    clearTimeout(restoring);
    restoring = setTimeout(() => {
      label.textContent = "Copy";
      delete button.dataset.state;
      announcer.textContent = "";
    }, 2500);
  };

  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(source.textContent);
      report("Copied", "Copied " + button.dataset.what + ".");
    } catch {
      getSelection().selectAllChildren(source);
      report("Selected", "Selected " + button.dataset.what + ": copy it with the keyboard.");
    }
  });

  button.hidden = false;
}
`;
