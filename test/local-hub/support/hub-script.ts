import { LocalHub } from "../../../src/local-hub.ts";

/**
 * Runs a local Hub in its own process. Prints its URL as a line of JSON. With `CLOSES=1`, it closes while a delivery waits for its next
 * attempt, and the process must then exit without further signals.
 */
const isClosing = process.env.CLOSES === "1";
const hub = await LocalHub.launch({
  ...{ backoff: isClosing ? "1h" : 50, attempts: 5, runJobs: true },
  ...(process.env.STATE && { state: process.env.STATE }),
});
console.log(JSON.stringify({ level: 30, msg: "started", url: hub.url }));
if (isClosing) {
  const webhook = { watched: [{ type: "dataset", name: "me/data" }], domains: ["repo"], url: "http://127.0.0.1:1/" };
  const headers = { authorization: "Bearer hf_local", "content-type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify(webhook) };
  const created = await (await fetch(`${hub.url}/api/settings/webhooks`, init)).json();
  const fired = hub.push({ type: "dataset", name: "me/data" });
  while (hub.deliveries(created.webhook.id).length === 0) await new Promise((resolve) => setImmediate(resolve));
  await hub.close();
  console.log(JSON.stringify({ level: 30, msg: "closed", fired: (await fired).length }));
}
