import { styleText } from "node:util";
import { deliveryRequest, webhookPayload } from "hub-webhooks/testing";
import { deliveries } from "./deliveries.ts";

const once = process.argv.includes("--once");

// Nobody should get used to an open server: without a secret of yours the demo makes one that ends with it.
const yourSecret = process.env.WEBHOOK_SECRET;
const secret = yourSecret || crypto.randomUUID();
process.env.WEBHOOK_SECRET = secret;
// What is printed here says it all; LOG_LEVEL=info shows the server's own lines as well.
process.env.LOG_LEVEL ||= "error";

// Imported only now, so that it finds these settings.
const { default: server } = await import("./server.ts");
const { url } = await server.launch();

console.log(`\nWhat the Hub sends, sent to ${url}:\n`);
const titleWidth = Math.max(...deliveries.map(({ title }) => title.length));
const endpointWidth = Math.max(...deliveries.map(({ endpoint }) => endpoint.length));
let asExpected = true;
for (const { title, endpoint, payload, answer } of deliveries) {
  const response = await fetch(deliveryRequest({ endpoint, payload, secret, baseUrl: url }));
  const text = await response.text();
  const expected = JSON.stringify(answer);
  const good = response.status === 200 && text === expected;
  asExpected &&= good;
  const columns = [
    title.padEnd(titleWidth),
    `POST /webhooks/${endpoint.padEnd(endpointWidth)}`,
    styleText(good ? "green" : "red", String(response.status)),
    good ? text : `${text} ${styleText("red", `expected ${expected}`)}`,
  ];
  console.log(`  ${columns.join("  ")}`);
}

const refused = await fetch(deliveryRequest({ endpoint: "on_change", payload: webhookPayload("repo"), baseUrl: url }));
asExpected &&= refused.status === 401;
console.log(`\nWithout the secret it answers ${refused.status} ${await refused.text()}`);

if (once) {
  await server.close();
  process.exitCode = asExpected ? 0 : 1;
} else {
  if (!yourSecret) console.log(`WEBHOOK_SECRET is not set, so this run has a secret of its own: ${secret}`);
  console.log(`\nThe server stays up, with its page at ${url}\nCtrl+C ends it.`);
}
