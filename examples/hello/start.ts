import { isDeepStrictEqual, parseArgs, styleText } from "node:util";
import { HubClient, WebhookError } from "hub-webhooks/client";
import { LocalHub } from "hub-webhooks/local-hub";
import { deliveryRequest, webhookPayload } from "hub-webhooks/testing";
import { deliver, registerWebhooks } from "./deliver.ts";
import { events } from "./events.ts";

const { once } = parseArgs({ options: { once: { type: "boolean", default: false } } }).values;

// Without WEBHOOK_SECRET, the demo uses a random secret rather than an open server.
const yourSecret = process.env.WEBHOOK_SECRET;
const secret = yourSecret || crypto.randomUUID();
process.env.WEBHOOK_SECRET = secret;
// The demo prints all results itself. LOG_LEVEL=info also shows the log of the server.
process.env.LOG_LEVEL ||= "error";

// Imported after the variables are set, because the server reads them.
const { default: server } = await import("./server.ts");
const { url } = await server.launch();
const hub = await startHub();

const client = new HubClient({ hubUrl: hub.url, token: "hf_local" });
const endpoints = await registerWebhooks(client, { url, secret });
console.log(`\nA local Hub at ${hub.url} with ${endpoints.size} webhooks, and a receiver at ${url}.\n`);

let asExpected = true;
for (const { event, answers } of events) {
  console.log(`${event.event.scope} · ${event.event.action} on ${event.repo.type} ${event.repo.name}`);
  const delivered = await deliver(hub, event, endpoints);
  asExpected &&= delivered.length === Object.keys(answers).length;
  for (const { endpoint, status, answer } of delivered) {
    const expected = answers[endpoint];
    const good = status === 200 && isDeepStrictEqual(answer, expected);
    asExpected &&= good;
    const columns = [
      `  → POST /webhooks/${endpoint.padEnd(10)}`,
      styleText(good ? "green" : "red", String(status)),
      JSON.stringify(answer),
      ...(good ? [] : [styleText("red", `expected ${JSON.stringify(expected)}`)]),
    ];
    console.log(columns.join("  "));
  }
}

const refused = await fetch(deliveryRequest({ endpoint: "on_change", payload: webhookPayload("repo"), baseUrl: url }));
asExpected &&= refused.status === 401;
console.log(`\nWithout the secret, the receiver answers ${refused.status} ${await refused.text()}`);

if (once) {
  await Promise.all([server.close(), hub.close()]);
  process.exitCode = asExpected ? 0 : 1;
} else {
  if (!yourSecret) console.log(`WEBHOOK_SECRET is not set, so this run uses a random secret: ${secret}`);
  console.log(`\nOpen ${hub.url} and ${url}\nPress Ctrl+C to stop.`);
}

/** Launches the local Hub at the port of `hub-webhooks hub`, or at any free port if that one is in use. */
async function startHub(): Promise<LocalHub> {
  if (once) return LocalHub.launch();
  try {
    return await LocalHub.launch({ port: 5050 });
  } catch (error) {
    if (!WebhookError.isInstance(error) || error.code !== "PORT_IN_USE") throw error;
    console.log("Port 5050 is in use. The local Hub uses another port.");
    return LocalHub.launch();
  }
}
