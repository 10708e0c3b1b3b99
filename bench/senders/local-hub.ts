import { HubClient } from "../../dist/client.js";
import { LocalHub } from "../../dist/local-hub.js";
import { body, type Payload, secret } from "../delivery.ts";
import { serve, targets } from "./sender.ts";

const { webhook: _webhook, ...event }: Payload & { webhook: unknown; event: { scope: string; action: string } } =
  JSON.parse(body);
const { name } = event.repo;

const state = process.argv[4];
const hub = await LocalHub.launch({ triggersPerDay: Number.POSITIVE_INFINITY, ...(state && { state }) });
const client = new HubClient({ hubUrl: hub.url, token: "hf_local" });
for (let count = 0; count < targets.webhooks; count += 1) {
  const watched = [{ type: "dataset", name } as const];
  await client.webhooks.create({ url: targets.url, watched, domains: ["repo"], secret });
}

serve(async () => {
  const deliveries = await hub.trigger({ ...event, repo: { ...event.repo, type: "dataset" } });
  if (deliveries.length !== targets.webhooks) throw new Error(`${deliveries.length} webhooks fired.`);
  const failed = deliveries.find(({ status }) => status !== 200);
  if (failed) throw new Error(`A delivery ended with ${failed.status}.`);
});
