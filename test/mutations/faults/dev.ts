import type { Fault } from "../fault.ts";

export const faults: readonly Fault[] = [
  {
    name: "the console of dev opens a link in the project that points elsewhere",
    file: "src/server-file/code-frame.ts",
    find: 'isAbsolute(path) ? realpathSync(path) : ""',
    replace: 'isAbsolute(path) ? path : ""',
    tests: ["test/server-file/code-frame.test.ts", "test/dev/console/dev-console.test.ts"],
  },
  {
    name: "a cancelled local request stays open until its next data when a proxy is set",
    file: "src/core/fetch.ts",
    find: "cancel: () => void incoming.destroy(),",
    replace: "cancel: async () => void (await chunks.return?.()),",
    tests: ["test/core/direct-fetch.test.ts"],
  },
  {
    name: "requests to this machine use the proxy of the environment",
    file: "src/core/fetch.ts",
    find: "if (!http || !isOnThisMachine(url.hostname))",
    replace: "if (!http || isOnThisMachine(url.hostname))",
    tests: ["test/core/direct-fetch.test.ts"],
  },
  {
    name: "a watched source folder that is deleted and created again is never watched again",
    file: "src/dev/source-watcher.ts",
    find: "        forget();\n        this.#watch(folder);\n",
    replace: "",
    tests: ["test/dev/source-watcher.test.ts"],
  },
  {
    name: "the relay of dev keeps the connection of a refused stream",
    file: "src/dev/console/relay-stream.ts",
    find: "return response.body?.cancel();",
    replace: "return;",
    tests: ["test/dev/console/relay-stream.test.ts"],
  },
  {
    name: "a session keeps the relay of an earlier server process",
    file: "src/dev/console/dev-console.ts",
    find: "    this.#relaying.abort();\n",
    replace: "",
    tests: ["test/dev/console/dev-console.test.ts"],
  },
  {
    name: "a job that has ended keeps handling SIGINT",
    file: "src/job/run-job.ts",
    find: "for (const name of stopSignals) process.off(name, onSignal);",
    replace: 'process.off("SIGTERM", onSignal);',
    tests: ["test/job/run-job.test.ts"],
  },
];
