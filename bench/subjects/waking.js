// Plain JavaScript: see announce.js.
import { WebhooksServer } from "../../dist/index.js";

const now = () => performance.timeOrigin + performance.now();
const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};
const importedAt = now();
let openedAt = 0;

/** @param {unknown} fields @param {string} [message] */
const note = (fields, message = String(fields)) => {
  if (message.startsWith("Opened the inbox")) openedAt = now();
};
const logger = { debug: note, info: note, warn: note, error: note, child: () => logger };

const server = new WebhooksServer({ logger });
// The handlers never finish, so that the next start finds the same deliveries.
server.webhook("bench", { background: true }, () => new Promise(() => {}));
const { port } = await server.launch({
  host: "127.0.0.1",
  port: 0,
  tunnel: false,
  handleSignals: false,
  shutdownGrace: "10ms",
});
process.on("message", async () => {
  await server.close();
  process.exit();
});
process.send?.({ port, startedAt: performance.timeOrigin, importedAt, openedAt, listeningAt: now(), cpuMs: cpuMs() });
