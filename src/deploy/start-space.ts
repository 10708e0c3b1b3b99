import { setTimeout as delay } from "node:timers/promises";
import { HubError } from "../core/errors.ts";
import type { RemoteServer } from "../receiver/checks/remote-server.ts";
import { deployFailed } from "./project.ts";
import type { RemoteSpace } from "./remote-space.ts";

/** The time, in milliseconds since some moment. */
export type Clock = { now: () => number; sleep: (ms: number, signal?: AbortSignal) => Promise<unknown> };

const systemClock: Clock = { now: () => performance.now(), sleep: (ms, signal) => delay(ms, undefined, { signal }) };

export interface WaitOptions {
  signal?: AbortSignal | undefined;
  /** The pause between two looks at the Space. Default 1000. */
  pollMs?: number | undefined;
  clock?: Clock | undefined;
}

const startTimeoutMs = 20 * 60_000;

/** The number of polls with an error after which a start fails. After a commit, the Hub can still report how the earlier version ended. */
const maxErrors = 5;

/** Yields until the time of a start is over, with a pause after each turn. */
export async function* waitForStart(options: WaitOptions, timeoutMs = startTimeoutMs): AsyncGenerator<undefined, void> {
  const { signal, pollMs = 1_000, clock = systemClock } = options;
  for (const until = clock.now() + timeoutMs; clock.now() < until; await clock.sleep(pollMs, signal)) yield;
}

type StartEvent = { step: "build"; status: "done" | "warning" | "log"; message: string };

interface StartOptions extends WaitOptions {
  space: RemoteSpace;
  /** The commit that the Space has to run. Default: any. */
  commit?: string | undefined;
  serverAt: (url: string) => RemoteServer;
}

/**
 * Waits until a Space runs its commit and the server on it is ready. Restarts a Space that is paused, and wakes one that sleeps. Returns
 * the address.
 *
 * @throws `DEPLOY_FAILED` if the Space does not run.
 */
export async function* startSpace(options: StartOptions): AsyncGenerator<StartEvent, string> {
  const { space, commit, serverAt, signal, pollMs } = options;
  const lines: string[] = [];
  const stop = new AbortController();
  const logSignal = AbortSignal.any([stop.signal, ...(signal ? [signal] : [])]);
  void (async () => {
    let isCurrent = false;
    for await (const line of space.follow("build", { signal: logSignal, pollMs })) {
      // The log begins with earlier builds.
      const [, built] = /^=+ Build Queued at .* Commit SHA: (\w+)/.exec(line) ?? [];
      if (built !== undefined) isCurrent = commit?.startsWith(built) ?? false;
      if (isCurrent) lines.push(line);
    }
  })().catch(() => {});
  try {
    let isStarted = false;
    let said: string | undefined;
    let lastStage = "unknown";
    let errors = 0;
    for await (const _turn of waitForStart(options)) {
      for (const message of lines.splice(0)) yield { step: "build", status: "log", message };
      const runtime = await untilAvailable(() => space.runtime());
      if (runtime === undefined) continue;
      const { stage, errorMessage, sha } = runtime;
      lastStage = stage;
      const isCurrent = commit === undefined || sha === undefined || sha === commit;
      const isError = stage === "RUNTIME_ERROR" ? isCurrent : stage.endsWith("ERROR") || stage === "NO_APP_FILE";
      errors = isError ? errors + 1 : 0;
      if (errors === maxErrors) throw notRunning(stage, errorMessage);
      if (["PAUSED", "STOPPED"].includes(stage) && !isStarted) {
        isStarted = true;
        await space.restart();
      }
      const info = await untilAvailable(() => space.current());
      const url = info?.host;
      if (url === undefined || !(stage === "SLEEPING" || (stage === "RUNNING" && isCurrent))) continue;
      const problem = await serverAt(url).findProblem();
      // The request woke an earlier version.
      if (problem === undefined && !isCurrent) continue;
      if (problem === undefined) {
        yield { step: "build", status: "done", message: `ready at ${url}` };
        return url;
      }
      if (problem !== said) yield { step: "build", status: "warning", message: problem };
      said = problem;
    }
    const log = lastStage.endsWith("BUILDING")
      ? "Follow its build: npx hub-webhooks deploy logs --build --follow"
      : "See its log: npx hub-webhooks deploy logs";
    throw deployFailed(
      `The Space did not become ready within 20 minutes (${lastStage}). ${log}. To go on from here, run the command again`,
    );
  } finally {
    stop.abort();
  }
}

/** Makes a call in a loop, which makes it again. Resolves with `undefined` if the Hub does not answer for now. */
export async function untilAvailable<Answer>(call: () => Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await call();
  } catch (error) {
    if (HubError.isInstance(error) && error.retryable) return undefined;
    throw error;
  }
}

function notRunning(stage: string, errorMessage: string | undefined): Error {
  const kind = stage === "RUNTIME_ERROR" ? "" : " --build";
  const reason = errorMessage === undefined ? "" : `: ${errorMessage}`;
  return deployFailed(`The Space does not run (${stage}${reason}). See its log: npx hub-webhooks deploy logs${kind}`);
}
