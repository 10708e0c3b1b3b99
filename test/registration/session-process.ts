import { randomUUID } from "node:crypto";
import { HubClient } from "../../src/client.ts";
import { TemporaryWebhooks } from "../../src/registration/temporary.ts";

/**
 * Runs a session that kills itself just before (`DIE=recorded`) or after (`DIE=created`) its webhook is created. Otherwise
 * it prints `synced` and runs until it is killed.
 */
const { HUB = "", STATE = "", DIE, ALIVE = "http://127.0.0.1:9/alive" } = process.env;

const hub = new HubClient({
  hubUrl: HUB,
  token: "hf_local",
  fetch: async (input, init) => {
    const request = new Request(input, init);
    if (request.method === "POST" && DIE === "recorded") process.kill(process.pid, "SIGKILL");
    const answer = await fetch(request);
    if (request.method === "POST" && DIE === "created") process.kill(process.pid, "SIGKILL");
    return answer;
  },
});
const session = { id: randomUUID(), alive: { url: ALIVE, answer: "it lives" } };
const webhooks = await TemporaryWebhooks.open({ client: hub, state: STATE, session });
await webhooks.reconcile({
  endpoints: [{ name: "retrain", watch: [{ type: "dataset", name: "me/data" }], domains: ["repo"] }],
  publicUrl: "http://127.0.0.1:7860",
  secret: "Planted-5ecret-60ad2c",
});
console.log("synced");
setInterval(() => {}, 60_000);
