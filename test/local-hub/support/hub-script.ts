import { LocalHub } from "../../../src/local-hub.ts";

/** A local Hub in a process of its own: it says its address as a line of JSON, and stays until it is ended. */
const hub = await LocalHub.launch({
  backoff: 50,
  attempts: 5,
  runJobs: true,
  ...(process.env.STATE && { state: process.env.STATE }),
});
console.log(JSON.stringify({ level: 30, msg: "started", url: hub.url }));
