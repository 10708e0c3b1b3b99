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
// The deliveries of the bot are only needed during the run, so no file is written.
process.env.INBOX_URL ||= "sqlite::memory:";
// The demo prints all results itself. LOG_LEVEL=info also shows the log of the server.
process.env.LOG_LEVEL ||= "error";

// Imported after the variables are set, because the server reads them.
const { default: server } = await import("./server.ts");
const { cards, commitCard, createDataset } = await import("./review.ts");
const { url } = await server.launch();
const hub = await startHub();
// The bot reads these at its first call of the Hub: it only acts on the local Hub.
Object.assign(process.env, { HF_ENDPOINT: hub.url, HF_TOKEN: "hf_local" });

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

await createDataset(hub);
console.log("\nA bot reviews the card of dataset local-user/data");
for (const { commit, expected } of cards) {
  console.log(`  commit "${commit.message}"`);
  const discussions = await commitCard(hub, client, commit);
  const found = discussions.map(({ status, comments }) => ({ status, comments }));
  const good = isDeepStrictEqual(found, [expected]);
  asExpected &&= good;
  for (const { num, title, status, comments } of discussions) {
    console.log(`  → discussion #${num} "${title}"  ${styleText(good ? "green" : "red", status)}`);
    for (const comment of comments) console.log(styleText("cyan", `      ${comment}`));
  }
  if (!good) console.log(styleText("red", `    expected ${JSON.stringify(expected)}`));
}

const refused = await fetch(deliveryRequest({ endpoint: "on_change", payload: webhookPayload("repo"), baseUrl: url }));
asExpected &&= refused.status === 401;
console.log(`\nWithout the secret, the receiver answers ${refused.status} ${await refused.text()}`);

if (once) {
  await Promise.all([server.close(), hub.close()]);
  process.exitCode = asExpected ? 0 : 1;
} else {
  if (!yourSecret) console.log(`WEBHOOK_SECRET is not set, so this run uses a random secret: ${secret}`);
  console.log(`\nConsole of the local Hub (this link is valid once): ${hub.createConsoleLink()}`);
  console.log(`Page of the receiver: ${url}\nPress Ctrl+C to stop.`);
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
