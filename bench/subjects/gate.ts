/*
 * A server of a checkout, with the package's own logger: `gate.ts CHECKOUT inline|accept|work|work-64`. Standard output goes to a
 * device that discards it, and `LOG_LEVEL` selects the lines.
 */
import { announce } from "../announce.js";
import { secret } from "../delivery.ts";
import { work } from "../memory-sockets.ts";

const [, , checkout = "", kind] = process.argv;
const { WebhooksServer }: typeof import("../../src/index.ts") = await import(`${checkout}/dist/index.js`);
const server = new WebhooksServer({ secret });
if (kind === "inline") {
  // The handler is asynchronous, because a synchronous handler needs no timeout.
  server.webhook("bench", async () => ({ received: true }));
} else {
  work.isCounted = kind !== "accept";
  server.webhook("bench", { background: true, ...(kind === "work-64" && { concurrency: 64 }) }, async () => {
    work.add();
    if (kind === "accept") await new Promise(() => {});
  });
}
const { url } = await server.launch({ host: "127.0.0.1", port: 0, tunnel: false });
announce(Number(new URL(url).port));
