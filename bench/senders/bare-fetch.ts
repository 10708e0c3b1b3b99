import { body, hubHeaders } from "../delivery.ts";
import { serve, targets } from "./sender.ts";

/** Only posts the bodies of one event, without records, logs, limits, or retries. */
serve(async () => {
  const posts = Array.from({ length: targets.webhooks }, async () => {
    const headers = { ...hubHeaders, "Webhook-Id": crypto.randomUUID() };
    const response = await fetch(targets.url, { method: "POST", headers, body });
    if (response.status !== 200) throw new Error(`The receiver answered ${response.status}.`);
    await response.text();
  });
  await Promise.all(posts);
});
