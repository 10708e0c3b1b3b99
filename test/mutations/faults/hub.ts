import type { Fault } from "../fault.ts";

export const faults: readonly Fault[] = [
  {
    name: "the client waits for the first requested delay instead of the longest",
    file: "src/hub/transport/retry.ts",
    find: "Math.max(...known)",
    replace: "known[0]",
    tests: ["test/hub/transport/retry.test.ts"],
  },
  {
    name: "an event of a deleted ref counts as a commit of this server",
    file: "src/receiver/own-event.ts",
    find: "if (updatedRefs.some(({ newSha }) => newSha === null)) return [];",
    replace: "",
    tests: ["test/receiver/hub/conditions.test.ts"],
  },
  {
    name: "a client that disconnects cancels the request for the account of all deliveries, and an own event is handled",
    file: "src/receiver/hub.ts",
    find: "this.client.whoami()",
    replace: "this.client.whoami({ signal })",
    tests: ["test/receiver/hub/conditions.test.ts"],
  },
  {
    name: "a failed request for the account is never repeated, so own events are handled",
    file: "src/receiver/hub.ts",
    find: "      this.#account = undefined;\n",
    replace: "",
    tests: ["test/receiver/hub/conditions.test.ts"],
  },
  {
    name: "a Hub on the internet redirects to an address of the client's network",
    file: "src/hub/transport/redirects.ts",
    find: 'return isPublicName && !isAddress ? "internet" : "network";',
    replace: 'return isPublicName ? "internet" : "network";',
    tests: ["test/hub/transport/download.test.ts"],
  },
  {
    name: "a rate limit hides that an earlier attempt may have deleted the resource",
    file: "src/hub/transport/transport.ts",
    find: "maybeProcessed ||= outcome.maybeProcessed;",
    replace: "maybeProcessed = outcome.maybeProcessed;",
    tests: ["test/hub/transport/retry.test.ts"],
  },
  {
    name: "following a job fails after four lost connections in all, although each brought new lines",
    file: "src/hub/jobs/job-logs.ts",
    find: "        lost = 0;\n",
    replace: "",
    tests: ["test/hub/jobs/jobs.test.ts"],
  },
  {
    name: "a function runs at the same time as an earlier one with its key",
    file: "src/hub/repositories/keyed-queue.ts",
    find: "if (this.#last.get(key) === current) this.#last.delete(key);",
    replace: "this.#last.delete(key);",
    tests: ["test/hub/repositories/keyed-queue.test.ts"],
  },
];
