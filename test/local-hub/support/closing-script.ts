import { LocalHub } from "../../../src/local-hub.ts";

/**
 * Closes a local Hub while a delivery waits for its next attempt. The process must then exit without further signals.
 */
const hub = await LocalHub.launch({ backoff: "1h" });
const created = await fetch(`${hub.url}/api/settings/webhooks`, {
  method: "POST",
  headers: { authorization: "Bearer hf_local", "content-type": "application/json" },
  body: JSON.stringify({
    watched: [{ type: "dataset", name: "me/data" }],
    domains: ["repo"],
    url: "http://127.0.0.1:1/",
  }),
});
const { webhook } = await created.json();
const fired = hub.push({ type: "dataset", name: "me/data" });
while (hub.deliveries(webhook.id).length === 0) await new Promise((resolve) => setImmediate(resolve));
await hub.close();
console.log(JSON.stringify({ level: 30, msg: "closed", fired: (await fired).length }));
