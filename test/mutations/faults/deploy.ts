import type { Fault } from "../fault.ts";

const deploy = "test/deploy/deploy.test.ts";
const spaces = "test/local-hub/spaces/spaces.test.ts";

export const faults: readonly Fault[] = [
  {
    name: "secrets of the project are uploaded",
    file: "src/deploy/project.ts",
    find: "if (isIgnored(probe) || alwaysIgnored(probe)) continue;",
    replace: "if (isIgnored(probe)) continue;",
    tests: [deploy],
  },
  {
    name: "a rotation ends the old secret first",
    file: "src/deploy/deploy.ts",
    find: 'await this.#space.setSecret("WEBHOOK_SECRET_PREVIOUS", secret);',
    replace: 'await this.#space.setSecret("WEBHOOK_SECRET", secret);',
    tests: [deploy],
  },
  {
    name: "files that are gone stay on the Space",
    file: "src/deploy/deploy.ts",
    find: "removed.push(path)",
    replace: "void path",
    tests: [deploy],
  },
  {
    name: "generated secrets replace those that are kept in .env",
    file: "src/deploy/deploy.ts",
    find: "missing.filter((name) => this.#environment.get(name) === undefined)",
    replace: "[...missing]",
    tests: [deploy],
  },
  {
    name: "a test delivery that is refused proves the deployment",
    file: "src/receiver/checks/remote-server.ts",
    find: 'status === 422 && code === "PAYLOAD_INVALID"',
    replace: "status > 0",
    tests: [deploy],
  },
  {
    name: "a push stops the old version of a Space before the new one listens",
    file: "src/local-hub/spaces/spaces.ts",
    find: "this.#open(after)?.update();",
    replace: "this.#open(after)?.restart();",
    tests: [spaces],
  },
  {
    name: "the old version of a Space breaks off its requests",
    file: "src/local-hub/spaces/space.ts",
    find: "this.#stop(replaced, { drains: true })",
    replace: "this.#stop(replaced)",
    tests: [spaces],
  },
  {
    name: "a start that was given up goes on",
    file: "src/local-hub/spaces/space.ts",
    find: "    if (start?.container) this.#stop(start.container);\n",
    replace: "",
    tests: [spaces],
  },
  {
    name: "a private Space is open to everyone",
    file: "src/local-hub/spaces/space.ts",
    find: "!isLoopbackHost(host) || !this.#options.isAllowed(incoming)",
    replace: "!isLoopbackHost(host)",
    tests: [spaces],
  },
  {
    name: "the log of a Space contains its secrets",
    file: "src/local-hub/spaces/space.ts",
    find: 'masked.replaceAll(value, "***")',
    replace: "masked",
    tests: [spaces],
  },
  {
    name: "a Space keeps its disk at a restart",
    file: "src/local-hub/spaces/container.ts",
    find: ".finally(() => rm(image.folder, { recursive: true, force: true }).catch(() => {}))",
    replace: "",
    tests: [spaces],
  },
  {
    name: "the path of a repository hides the repository of an owner with its name",
    file: "src/local-hub/app.ts",
    find: "return isOther ? path :",
    replace: "return false ? path :",
    tests: ["test/local-hub/resources/repositories/names.test.ts"],
  },
];
