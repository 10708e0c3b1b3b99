import { startDev } from "../../src/dev.ts";

/* Runs a `dev` session for tests that need a separate process. */

const session = await startDev({
  ...{ file: process.env.FILE ?? "", state: process.env.STATE ?? "" },
  ...{ port: 0, hubPort: 0 },
  onEvent: (event) => {
    if (event.event === "problem") console.log(JSON.stringify({ level: 40, msg: event.message }));
    if (event.event === "broken") console.log(JSON.stringify({ level: 40, msg: event.reason, stack: event.stack }));
  },
});
const endpoints = [`POST ${session.state.url}/webhooks/target`];
const link = session.createConsoleLink();
console.log(JSON.stringify({ level: 30, msg: "The server is ready.", endpoints, link, hub: session.state.hub.url }));
