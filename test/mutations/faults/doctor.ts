import type { Fault } from "../fault.ts";

const doctor = "test/doctor/doctor.test.ts";
const space = "test/doctor/space.test.ts";
const doctorFile = "src/doctor/doctor.ts";
const runner = "src/receiver/checks/checks.ts";
const inside = "test/receiver/console/self-checks.test.ts";
const selfChecks = "src/receiver/console/self-checks.ts";
const remote = "src/receiver/checks/remote-server.ts";

export const faults: readonly Fault[] = [
  {
    name: "the doctor of a Space prints a command without the secret",
    file: "src/receiver/checks/checks.ts",
    find: "const sync = {\n  command: [fixSpace.command, ",
    replace: "const sync = {\n  command: [",
    tests: ["test/doctor/space.test.ts"],
  },
  {
    ...{ name: "a Hub that is down counts as an invalid token", file: runner, tests: [doctor] },
    find: 'code ?? "HUB_UNREACHABLE"',
    replace: 'code ?? "TOKEN_INVALID"',
  },
  {
    ...{ name: "a check runs although the check that it needs has a problem", file: runner, tests: [doctor] },
    find: "needs.find((name) => blocked.has(name))",
    replace: "needs.find(() => false)",
  },
  {
    ...{ name: "a Hub that fails later is a problem of each check", file: runner, tests: [doctor] },
    find: 'blocked.add("hub")',
    replace: "void blocked",
  },
  {
    ...{ name: "the doctor repairs without a question", file: doctorFile, tests: [doctor] },
    find: "if (!(await confirm?.(question))) continue;",
    replace: "",
  },
  {
    ...{ name: "a repair counts as a success without another look", file: runner, tests: [doctor] },
    find: "const after = repaired.size > 0 ? await attempt() : before;",
    replace: 'const after = repaired.size > 0 ? "ok" : before;',
  },
  {
    ...{ name: "a server that accepts any secret is healthy", file: runner, tests: [doctor] },
    find: 'if (isOpen) return [{ code: "SECRET_NOT_CHECKED" }];',
    replace: "void isOpen;",
  },
  {
    ...{ name: "webhooks get a secret that the server refuses", file: doctorFile, tests: [doctor] },
    find: "secret: this.acceptedSecret,",
    replace: "secret: this.target.secret,",
  },
  {
    ...{ name: "a webhook is created for a server whose secret is unknown", file: doctorFile, tests: [doctor] },
    find: "const isProven = facts.acceptedSecret !== undefined;",
    replace: "const isProven = true;",
  },
  {
    ...{ name: "secrets are sent over an unencrypted connection", file: remote, tests: [doctor] },
    find: 'protocol === "https:" || isOnThisMachine(hostname)',
    replace: "protocol !== hostname",
  },
  {
    ...{ name: "a webhook of an endpoint without a watch list stays disabled", file: doctorFile, tests: [doctor] },
    find: "const found = [...planned, ...enabled];",
    replace: "const found = [...planned];\n  void enabled;",
  },
  {
    ...{ name: "a Space without an address stops the doctor", file: doctorFile, tests: [doctor] },
    find: 'async function checkWebhooks(facts: Facts): Promise<Outcome> {\n  if ((await facts.url()) === "") return noAddress;',
    replace: "async function checkWebhooks(facts: Facts): Promise<Outcome> {",
  },
  {
    ...{ name: "a Space that sleeps is healthy", file: doctorFile, tests: [space] },
    find: 'if (stage.startsWith("RUNNING"))',
    replace: 'if (stage.startsWith("RUNNING") || stage === "SLEEPING")',
  },
  {
    ...{
      name: "the reasons of a server that is not ready are lost",
      file: remote,
      tests: [doctor],
    },
    find: "authorization: `Basic ",
    replace: "authorization: `Bearer ",
  },
  {
    ...{ name: "any client hides its refused deliveries from the console", file: "src/receiver/end.ts" },
    find: ' === probeAgent &&\n      secretCheck.isSet(request.bindings) &&\n      secretCheck.accepts(request.header("x-webhook-secret"));',
    replace: " === probeAgent;\n    void secretCheck;",
    tests: ["test/receiver/console/endpoints.test.ts"],
  },
  {
    ...{ name: "the checks of a server fail with its Hub", file: selfChecks, tests: [inside] },
    find: "await withDeadline(call, timeoutMs, late);",
    replace: "await withDeadline(call, timeoutMs, () => new Error(late().message));",
  },
  {
    ...{ name: "a token that cannot read what an endpoint catches up is valid", file: selfChecks, tests: [inside] },
    find: "of catchUp ? watch : []",
    replace: "of catchUp ? watch.slice(1) : []",
  },
  {
    ...{ name: "a deployment succeeds although its test delivery failed", file: "src/deploy/deploy.ts" },
    find: 'if (check === "delivery" && status !== "ok")',
    replace: 'if (check === "delivery" && status === "fixed")',
    tests: ["test/deploy/deploy.test.ts"],
  },
  {
    name: "a command that doctor prints calls another Hub",
    file: "src/cli/commands/doctor.ts",
    find: 'hubUrl === undefined ? "" :',
    replace: 'true ? "" :',
    tests: ["test/cli/commands/doctor.test.ts"],
  },
  {
    name: "the doctor recommends the empty log of a Space that does not build",
    file: doctorFile,
    find: 'stage === "BUILD_ERROR" ? "--build" : undefined',
    replace: "undefined",
    tests: ["test/doctor/space.test.ts"],
  },
];
