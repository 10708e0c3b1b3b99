import {
  addressOf,
  type ProcessLimits,
  type ReceiverProcess,
  startReceiverProcess,
} from "../support/receiver-process.ts";
import { packageEnvironment } from "./on-built-package.ts";
import { Receiver, secret } from "./receiver.ts";
import { inOwnProcess } from "./rows.ts";

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
