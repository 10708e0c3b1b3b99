import { WebhooksServer } from "../../dist/index.js";
import { announce } from "../announce.js";
import { secret } from "../delivery.ts";

/** The token of the console. */
const consoleToken = "token-of-the-benchmark";

const quiet = () => {};
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet, child: () => logger };
const server = new WebhooksServer({ secret, consoleToken, logger });
let runs = 0;
/** One of 20 runs fails. */
const handle = async () => {
  runs += 1;
  if (runs % 20 === 0) throw new Error("The worker has no disk space left");
  return { received: true };
};
server.webhook("inline", handle);
server.webhook("background", { background: true, attempts: 2, backoff: ["1s"] }, handle);
const { url } = await server.launch({ host: "127.0.0.1", port: 0, tunnel: false, handleSignals: false });
announce(Number(new URL(url).port));
