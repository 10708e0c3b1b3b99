import { startDev } from "../../src/dev.ts";

/* Runs a `dev` session for tests that need a separate process. */

const session = await startDev({
  ...{ file: process.env.FILE ?? "", state: process.env.STATE ?? "" },
  ...{ port: 0, hubPort: 0 },
  onEvent: (event) => {
    if (event.event === "problem") console.log(JSON.stringify({ level: 40, msg: event.message }));
  },
});
console.log(
  JSON.stringify({ level: 30, msg: "The server is ready.", endpoints: [`POST ${session.state.url}/webhooks/target`] }),
);
