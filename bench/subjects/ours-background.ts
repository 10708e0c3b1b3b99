import { WebhooksServer } from "../../dist/index.js";
import { announce } from "../announce.js";
import { secret } from "../delivery.ts";
import { openLog } from "../subject-log.ts";

// "accept" only stores deliveries, as while handlers train models. "work" also runs them.
const works = process.argv[3] === "work";

let worked = 0;
const server = new WebhooksServer({ secret, logger: openLog() });
server.webhook("bench", { background: true }, async () => {
  if (!works) await new Promise(() => {});
  worked += 1;
});

// The load generator uses 64 connections, and the other subjects have no such limit.
const maxRequestsPerSocket = Number.MAX_SAFE_INTEGER;
const { url } = await server.launch({
  host: "127.0.0.1",
  port: 0,
  tunnel: false,
  maxRequestsPerSocket,
  handleSignals: false,
});
announce(Number(new URL(url).port), works ? () => worked : undefined);
