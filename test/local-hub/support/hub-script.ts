import { LocalHub } from "../../../src/local-hub.ts";

/** Runs a local Hub in its own process. Prints its URL as a line of JSON. */
const hub = await LocalHub.launch({
  backoff: 50,
  attempts: 5,
  runJobs: true,
  ...(process.env.STATE && { state: process.env.STATE }),
});
console.log(JSON.stringify({ level: 30, msg: "started", url: hub.url }));
