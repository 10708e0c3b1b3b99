import { body, hubHeaders } from "../delivery.ts";
import { serve, targets } from "./sender.ts";

/** The posts of one event, and nothing else: no event, no log, no limit, no retry. */
serve(async () => {
  const posts = Array.from({ length: targets.webhooks }, async () => {
    const headers = { ...hubHeaders, "Webhook-Id": crypto.randomUUID() };
    const response = await fetch(targets.url, { method: "POST", headers, body });
    if (response.status !== 200) throw new Error(`The receiver answers ${response.status}.`);
    await response.text();
  });
  await Promise.all(posts);
});
