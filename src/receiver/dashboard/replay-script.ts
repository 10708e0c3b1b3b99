/**
 * Makes the Replay buttons work. A button that waits stays focusable, and says so, because a disabled one would lose the
 * reader's focus.
 */
export const replayScript = `/** Sends a request: what came of it, or why nothing did. */
async function send(path, body) {
  let response;
  try {
    const headers = { "content-type": "application/json" };
    response = await fetch(reach(path), { method: "POST", headers, body: JSON.stringify(body) });
  } catch {
    return { problem: "the server does not answer: is it still running?" };
  }
  const answer = await response.json().catch(() => undefined);
  if (response.ok && typeof answer?.replayed === "number") return answer;
  return { problem: typeof answer?.error === "string" ? answer.error : "HTTP " + response.status };
}

async function press(button, outcome, path, body) {
  if (button.getAttribute("aria-disabled") === "true") return;
  const label = button.querySelector("[data-label]");
  button.dataset.usual ??= label.textContent;
  button.dataset.state = "busy";
  button.setAttribute("aria-disabled", "true");
  label.textContent = "Replaying";
  announce("Replaying.", 30_000);
  const { replayed, problem } = await send(path, body);
  button.removeAttribute("aria-disabled");
  const message = problem
    ? "Not replayed: " + problem
    : replayed === 1 ? "Replayed: it is in the queue." : "Replayed: " + replayed + " are in the queue.";
  outcome.textContent = message;
  report(button, problem ? "Failed" : "Replayed", message, 3000);
  if (!problem) setTimeout(() => refresh().catch(() => {}), 3050);
}

document.addEventListener("click", ({ target }) => {
  const button = target.closest("button");
  if (!button) return;
  const group = button.closest(".dead-endpoint");
  const ask = (isOpen) => {
    group.querySelector("[data-confirm]").hidden = !isOpen;
    group.querySelector("[data-ask]").hidden = isOpen;
    group.querySelector(isOpen ? "[data-replay-dead]" : "[data-ask]").focus();
  };
  if (button.matches("[data-ask]")) return ask(true);
  if (button.matches("[data-cancel]")) return ask(false);
  if (button.matches("[data-replay]")) {
    const outcome = button.parentElement.querySelector("[data-outcome]");
    press(button, outcome, "_deliveries/replay", { endpoint: button.dataset.endpoint, id: button.dataset.replay });
  }
  if (button.matches("[data-replay-dead]")) {
    const outcome = group.querySelector("[data-outcome]");
    press(button, outcome, "_deliveries/replay-dead", { endpoint: button.dataset.replayDead }).then(() => ask(false));
  }
});

document.addEventListener("keydown", ({ key, target }) => {
  if (key === "Escape") target.closest("[data-confirm]")?.querySelector("[data-cancel]").click();
});
`;
