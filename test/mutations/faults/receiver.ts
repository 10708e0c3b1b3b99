import type { Fault } from "../fault.ts";

export const faults: readonly Fault[] = [
  {
    name: "the warning about deliveries of unknown endpoints does not count running deliveries",
    file: "src/receiver/background.ts",
    find: "const waiting = queued + running;",
    replace: "const waiting = queued || running;",
    tests: ["test/receiver/background/background-work.test.ts"],
  },
  {
    name: "a command with an invalid token exits with 1",
    file: "src/cli/main.ts",
    find: '  "HUB_TOKEN_INVALID",\n',
    replace: "",
    tests: ["test/cli/messages.test.ts"],
  },
  {
    name: "a read of a former inbox that ends late allows two concurrent reads of the current inbox",
    file: "src/receiver/background.ts",
    find: "if (this.#value === value) this.#isPending = false;",
    replace: "this.#isPending = false;",
    tests: ["test/receiver/background/cached-read.test.ts"],
  },
  {
    name: "a closed server still reports the URL of its listener",
    file: "src/receiver/lifecycle.ts",
    find: "      this.#context.launched = undefined;\n      this.#processManager",
    replace: "      this.#processManager",
    tests: ["test/receiver/lifecycle/closing.test.ts"],
  },
  {
    name: "the streams of the console are ended after the requests in progress",
    file: "src/receiver/lifecycle.ts",
    find: "const [complete] = await Promise.all([launched?.close() ?? true, console.close(this.#graceMs)]);",
    replace: `const complete = (await launched?.close()) ?? true;
    await console.close(this.#graceMs);`,
    tests: ["test/receiver/lifecycle/closing.test.ts"],
  },
  {
    name: "a process goes on without an inbox that cannot be opened",
    file: "src/receiver/lifecycle.ts",
    find: `    this.#processManager?.exitAfter(error);
    this.#context.log`,
    replace: "    this.#context.log",
    tests: ["test/receiver/lifecycle/closing.test.ts"],
  },
  {
    name: "a failed launch in a dev session exits",
    file: "src/receiver/lifecycle.ts",
    find: "if (mayExit && !processManager?.exiting)",
    replace: "if (!processManager?.exiting)",
    tests: ["test/receiver/lifecycle/server-lifecycle.test.ts"],
  },
  {
    name: "a launch that a signal stopped exits with 1",
    file: "src/receiver/lifecycle.ts",
    find: "if (mayExit && !processManager?.exiting)",
    replace: "if (mayExit)",
    tests: ["test/receiver/lifecycle/closing.test.ts"],
  },
  {
    name: "a server with a public URL trusts requests of its machine",
    file: "src/receiver/lifecycle.ts",
    find: `    context.launchOptions = options;
`,
    replace: "",
    tests: ["test/receiver/lifecycle/server-lifecycle.test.ts"],
  },
  {
    name: "ready() makes an open server forget that it can be closed",
    file: "src/receiver/lifecycle.ts",
    find: "if (this.#context.isClosed) this.#context.closing = new AbortController();",
    replace: "this.#context.closing = new AbortController();",
    tests: ["test/receiver/lifecycle/closing.test.ts"],
  },
  {
    name: "a second close takes the signal handlers from a new launch",
    file: "src/receiver/lifecycle.ts",
    find: `      this.#processManager?.release();
    }
    return complete;`,
    replace: `    }
    this.#processManager?.release();
    return complete;`,
    tests: ["test/receiver/lifecycle/server-lifecycle.test.ts"],
  },
  {
    name: "a delivery whose response was sent counts as disconnected",
    file: "src/receiver/node/listen.ts",
    find: "        if (outgoing.writableFinished) return;\n",
    replace: "",
    tests: ["test/receiver/node/listen.test.ts"],
  },
  {
    name: "a closing server keeps the connections of the clients that it refuses",
    file: "src/receiver/node/listen.ts",
    find: `  response.headers.set("connection", "close");\n`,
    replace: "",
    tests: ["test/receiver/node/listen.test.ts"],
  },
  {
    name: "closing does not wait for replays of inline deliveries",
    file: "src/receiver/console/receiver-console.ts",
    find: "await Promise.race([opened.settle(), grace.promise]);",
    replace: "void Promise.race([opened.settle(), grace.promise]);",
    tests: ["test/receiver/console/actions.test.ts"],
  },
  {
    name: "a claimed delivery waits forever after its acceptance failed",
    file: "src/receiver/deliver.ts",
    find: "      this.#storing.delete(key);\n      logged.resolve();",
    replace: "      this.#storing.delete(key);",
    tests: ["test/receiver/background/background-work.test.ts"],
  },
  {
    name: "a delivery that the Hub sends again counts as finished while its second run continues",
    file: "src/receiver/recent/delivery-history.ts",
    find: "const end = attempts.length === runs.length ? attempts.at(-1) : undefined;",
    replace: "const end = attempts.at(-1);",
    tests: ["test/receiver/recent/recent-deliveries.test.ts"],
  },
  {
    name: "a signal that is first read after the client has disconnected is never aborted",
    file: "src/receiver/node/listen.ts",
    find: 'if (outgoing.closed) onClose();\n      else outgoing.once("close", onClose);',
    replace: 'outgoing.once("close", onClose);',
    tests: ["test/receiver/node/listen.test.ts"],
  },
  {
    name: "a failed delivery that the Hub sends again after a reload counts as another delivery",
    file: "src/receiver/console/snapshot.ts",
    find: '    if (parsed.data.attempts.some(({ outcome }) => outcome === "failed")) recent.failed.add(parsed.data);\n',
    replace: "",
    tests: ["test/receiver/console/earlier-activity.test.ts"],
  },
];
