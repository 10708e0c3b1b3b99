import type { Fault } from "../fault.ts";

export const faults: readonly Fault[] = [
  {
    name: "an error of exclusive work counts as an unusable state file",
    file: "src/registration/state.ts",
    find: "if (isWorking || signal?.aborted",
    replace: "if (signal?.aborted",
    tests: ["test/registration/registration-file.test.ts"],
  },
  {
    name: "a failed update of the webhooks of a session prevents their deletion",
    file: "src/registration/temporary.ts",
    find: "    this.#last = result.catch(() => {});\n",
    replace: "    this.#last = result;\n",
    tests: ["test/registration/temporary-webhooks.test.ts"],
  },
  {
    name: "an update of a webhook drops the hash of its secret",
    file: "src/registration/reconcile.ts",
    find: "{ secret: previous, ...entry, ...newSecret }",
    replace: "{ ...entry, ...newSecret }",
    tests: ["test/registration/register.test.ts"],
  },
  {
    name: "a state file of another user makes the package send requests to other machines",
    file: "src/registration/temporary.ts",
    find: "if (!isOnThisMachine(url)) return false;",
    replace: "",
    tests: ["test/registration/temporary-webhooks.test.ts"],
  },
  {
    name: "a rotation of a secret that was interrupted and undone leaves the wrong secret on the Hub",
    file: "src/registration/reconcile.ts",
    find: "setSecret(draft, { id, secret: uncertainSecret })",
    replace: "{}",
    tests: ["test/registration/register.test.ts"],
  },
  {
    name: "a rejected rotation of a secret is repeated",
    file: "src/registration/reconcile.ts",
    find: "if (isSecretRecorded && isRejection(error)) await",
    replace: "if (false) await",
    tests: ["test/registration/register.test.ts"],
  },
  {
    name: "a webhook whose creation was interrupted is not found, and another one is created",
    file: "src/registration/webhook.ts",
    find: "!existingIds.includes(id) &&",
    replace: "existingIds.includes(id) &&",
    tests: ["test/registration/reconcile-model.test.ts"],
  },
  {
    name: "a webhook that the Hub creates minutes after an interrupted request stays forever",
    file: "src/registration/webhook.ts",
    find: "now - Date.parse(entry.startedAt) > maxCreationMs",
    replace: "now - Date.parse(entry.startedAt) >= 0",
    tests: ["test/registration/reconcile-model.test.ts"],
  },
  {
    name: "a second webhook of an endpoint is never deleted",
    file: "src/registration/plan.ts",
    find: "for (const { entry } of duplicates) {",
    replace: "for (const { entry } of duplicates.slice(0, 0)) {",
    tests: ["test/registration/reconcile-model.test.ts"],
  },
  {
    name: "a rotation that was lost and then refused counts as refused",
    file: "src/registration/reconcile.ts",
    find: " && error.cause === undefined",
    replace: "",
    tests: ["test/registration/register.test.ts"],
  },
];
