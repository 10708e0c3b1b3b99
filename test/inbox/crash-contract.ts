import { expect } from "vitest";
import type { Inbox } from "../../src/inbox/inbox.ts";
import type { ReceiverProcess } from "../support/receiver-process.ts";
import { waitFor } from "../support/wait-for.ts";
import { type Engine, incoming, lend, openInbox, startProcess, succeeded, waitForStatus, work } from "./engine.ts";
import { crashPolicy } from "./openers.ts";

const key = (id: string) => ({ id, endpoint: "retrain" });

/**
 * Asserts that the delivery that causes crashes is dead after them, and that the others run meanwhile. Every inbox must pass. Takes
 * several processes.
 */
export async function expectCrashesSurvived(engine: Engine): Promise<void> {
  const opened = await openInbox(engine);
  const beside = ["beside-1", "beside-2", "beside-3"];
  const others = Array.from({ length: 8 }, (_, index) => `other-${index}`);
  for (const id of ["poison", ...beside, ...others]) await opened.inbox.accept(incoming(id));
  const { reader, takeBack } = await lend(engine, opened);
  const processes = await runUntilSettled(engine, { reader, store: opened.store }, ["poison", ...beside, ...others]);
  const inbox = await takeBack();
  const poison = await inbox.get(key("poison"));
  expect(poison).toMatchObject({ status: "dead" });
  // The crash while others were running does not count. The two later crashes do.
  expect(poison?.attempts.map(({ outcome }) => outcome)).toEqual(Array(3).fill("abandoned"));
  for (const id of beside) {
    const found = await inbox.get(key(id));
    expect(found?.attempts.map(({ outcome }) => outcome)).toEqual(["abandoned", "succeeded"]);
  }
  for (const id of others) expect(await inbox.get(key(id))).toMatchObject({ status: "succeeded" });
  // After the first crash, each suspect ran while no other delivery was running.
  for (const { lines } of processes.slice(1)) expectSuspectsAlone(lines, ["poison", ...beside]);
  const started = processes.slice(1).flatMap(({ lines }) => lines.filter(({ msg }) => msg === "started"));
  expect(started.length).toBeGreaterThanOrEqual(5 + others.length);
  // A replay makes all attempts available again.
  const runs = work(inbox, () => succeeded, { policy: crashPolicy });
  await inbox.replay(key("poison"));
  await waitForStatus(inbox, "poison", "succeeded");
  expect(runs).toMatchObject([{ attempt: 4, isLastAttempt: false }]);
}

/** Starts one process after another until each of these deliveries has succeeded or is dead. */
async function runUntilSettled(
  engine: Engine,
  { reader, store }: { reader: Inbox; store: string },
  ids: readonly string[],
): Promise<ReceiverProcess[]> {
  const processes: ReceiverProcess[] = [];
  const settled = async () => {
    const found = await Promise.all(ids.map((id) => reader.get(key(id))));
    return found.every((delivery) => delivery?.status === "succeeded" || delivery?.status === "dead");
  };
  while (!(await settled())) {
    const child = startProcess(engine, store, { BESIDE: "3" });
    processes.push(child);
    let hasExited = false;
    void child.exited.then(() => {
      hasExited = true;
    });
    const isOver = async () => hasExited || settled();
    // On a timeout, the error shows the lines of the process.
    await waitFor(async () => expect({ isOver: await isOver(), ran: child.lines }).toMatchObject({ isOver: true }), {
      interval: 20,
      timeout: 40_000,
    });
    child.signal("SIGKILL");
    await child.exited;
  }
  return processes;
}

/** Asserts that no delivery starts while a suspect runs and that a suspect starts only while no other delivery runs. */
function expectSuspectsAlone(
  lines: readonly { msg: string; [field: string]: unknown }[],
  suspects: readonly string[],
): void {
  const running = new Set<unknown>();
  for (const { msg, id } of lines) {
    if (msg === "ended") running.delete(id);
    if (msg !== "started") continue;
    const isAlone = running.size === 0;
    const runsSuspect = [...running, id].some((one) => suspects.includes(String(one)));
    expect({ id, isAlone: isAlone || !runsSuspect, running: [...running] }).toMatchObject({ isAlone: true });
    running.add(id);
  }
}
