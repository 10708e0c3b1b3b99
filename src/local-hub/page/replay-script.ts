/**
 * Makes the Replay buttons work. A button that waits stays focusable, and says so, because a disabled one would lose the
 * reader's focus.
 */
export const replayScript = `/** Sends a delivery again: what to write on the button, and what to say. */
async function replay(path) {
  let response;
  try {
    const headers = { "content-type": "application/json" };
    response = await fetch(path, { method: "POST", headers, body: "{}" });
  } catch {
    return { label: "Failed", message: "The local Hub does not answer: is it still running?" };
  }
  const answer = await response.json().catch(() => undefined);
  if (!response.ok) {
    const reason = typeof answer?.error === "string" ? answer.error : "HTTP " + response.status;
    return { label: "Failed", message: "Not replayed: " + reason };
  }
  if (typeof answer?.status !== "number") {
    return { label: "No answer", message: "Replayed, but there was no answer: the newest entry says why." };
  }
  return { label: String(answer.status), message: "Replayed: the answer was " + answer.status + "." };
}

document.addEventListener("click", async ({ target }) => {
  const button = target.closest("button[data-replay]");
  if (!button || button.getAttribute("aria-disabled") === "true") return;
  const label = button.querySelector("[data-label]");
  const outcome = button.parentElement.querySelector("[data-outcome]");
  button.dataset.usual = "Replay";
  button.dataset.state = "busy";
  button.setAttribute("aria-disabled", "true");
  label.textContent = "Replaying";
  announce("Replaying.", 30_000);
  const told = await replay(button.dataset.replay);
  button.removeAttribute("aria-disabled");
  outcome.dataset.state = "told";
  outcome.textContent = told.message;
  report(button, told.label, told.message, 6000);
  if (told.label !== "Failed") await refresh().catch(() => {});
});
`;
