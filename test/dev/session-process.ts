import { startDev } from "../../src/dev/dev-session.ts";

/** Runs a session on a "real" Hub until it is killed, and prints a line when it is ready. */
const { FILE = "", STATE = "", HUB = "", PORT = "" } = process.env;
const session = await startDev({
  ...{ file: FILE, state: STATE, hub: "real", hubUrl: HUB, token: "hf_local" },
  ...{ port: Number(PORT), publicUrl: `http://127.0.0.1:${PORT}` },
  onEvent: (event) => {
    if (event.event === "output") console.log(event.text);
  },
});
console.log(`ready ${session.state.publicUrl}`);
