import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { makeProject } from "../support/project-folder.ts";
import {
  addressOf,
  type ProcessLimits,
  type ReceiverProcess,
  startReceiverProcess,
} from "../support/receiver-process.ts";
import { packageEnvironment } from "./on-built-package.ts";
import { Receiver, secret } from "./receiver.ts";
import { inOwnProcess } from "./rows.ts";

const devScript = new URL("./dev-script.ts", import.meta.url);
const script = new URL("./receiver-script.ts", import.meta.url);

/** Starts a process with a receiver, by default on a free port. */
export function startFaultyProcess(
  environment: Readonly<Record<string, string>> = {},
  limits: ProcessLimits = {},
): ReceiverProcess {
  inOwnProcess();
  const allVariables = { PORT: "0", WEBHOOK_SECRET: secret, ...packageEnvironment, ...environment };
  return startReceiverProcess(script, allVariables, limits);
}

/** Starts a process with a receiver and waits until it is ready. */
export async function createFaultyProcess(
  environment: Readonly<Record<string, string>> = {},
  limits: ProcessLimits = {},
) {
  const child = startFaultyProcess(environment, limits);
  const url = await addressOf(child);
  const receiver = new Receiver({
    url,
    lines: () => child.lines,
    runs: () => child.lines.filter(({ msg }) => msg === "target ran").length,
  });
  return { child, receiver };
}

/** Starts a `dev` session in a separate process, with the routes of `declarations.stopping`. */
export async function createDevProcess() {
  inOwnProcess();
  const declared = fileURLToPath(new URL("declared-endpoints.ts", import.meta.url));
  const source = `
    import { WebhooksServer } from "hub-webhooks";
    import { declarations } from ${JSON.stringify(declared)};
    const server = new WebhooksServer();
    server.webhook("target", (_payload, { delivery }) => ({ received: delivery.id }));
    declarations.stopping(server);
    export default server;
    await server.launch();`;
  const project = await makeProject({ "server.ts": source });
  onTestFinished(() => project[Symbol.asyncDispose]());
  const child = startReceiverProcess(devScript, {
    WEBHOOK_SECRET: secret,
    FILE: join(project.path, "server.ts"),
    STATE: join(project.path, "registrations.json"),
    ...packageEnvironment,
  });
  const receiver = new Receiver({ url: await addressOf(child), lines: () => child.lines, runs: () => 0 });
  return { child, receiver };
}
