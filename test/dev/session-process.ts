import { startDev } from "../../src/dev/dev-session.ts";

/** A session on a "real" Hub, in a process of its own, which says when it is ready and stays until it is killed. */
const { FILE = "", STATE = "", HUB = "", PORT = "" } = process.env;
const session = await startDev({
  ...{ file: FILE, state: STATE, hub: "real", endpoint: HUB, token: "hf_local" },
  ...{ port: Number(PORT), publicUrl: `http://127.0.0.1:${PORT}` },
  onEvent: (event) => {
    if (event.event === "output") console.log(event.text);
  },
});
console.log(`ready ${session.state.publicUrl}`);
