import { describe, expect, test } from "vitest";
import { startReceiverProcess } from "../../support/receiver-process.ts";
import { waitFor } from "../../support/wait-for.ts";
import { jobs, openLocalHub, pushed, restart, stateFile, TestHub } from "../support/hub.ts";
import { neverRespond, openTarget } from "../support/target.ts";

const script = new URL("../support/hub-script.ts", import.meta.url);

/** Starts a local Hub in a separate process that can be killed. */
async function startProcess(state: string): Promise<{ hub: TestHub; kill: () => Promise<void> }> {
  const child = startReceiverProcess(script, { STATE: state });
  const { url } = await child.says("started");
  const { hub: inProcess, log } = await openLocalHub();
  const hub = Object.assign(new TestHub({ hub: inProcess, log, overSocket: true }), { url: String(url) });
  return {
    hub,
    async kill() {
      child.signal("SIGKILL");
      await child.exited;
    },
  };
}

describe("A local Hub that was killed", () => {
  test("sends pending deliveries, continues at the interrupted attempt, and marks jobs as failed", async () => {
    const state = stateFile();
    const { hub, kill } = await startProcess(state);
    const [retried, ran] = [{ type: "model", name: "me/retried" } as const, { type: "model", name: "me/ran" } as const];
    // The job exits when its output is closed.
    const command = ["sh", "-c", "while echo on; do sleep 0.1; done"];
    await hub.create({ job: { flavor: "cpu-basic", command }, watched: [ran] });
    for (let job = 0; job < 6; job += 1) await hub.trigger({ ...pushed, repo: ran });
    const [waits, runs] = [{ status: { stage: "SCHEDULING" } }, { status: { stage: "RUNNING" } }];
    await waitFor(async () => expect(await jobs(hub)).toMatchObject([waits, waits, runs, runs, runs, runs]));
    const failing = await openTarget(500, 500, neverRespond);
    const { id: retriedId } = await hub.create({ url: failing.url, watched: [retried] });
    const [interrupted] = await hub.trigger({ ...pushed, repo: retried }, { wait: false });
    await failing.hasReceived(3);
    const silent = await openTarget(neverRespond);
    const { id: pendingId } = await hub.create({ url: silent.url });
    const fired = (await Promise.all(Array.from({ length: 50 }, () => hub.trigger(pushed, { wait: false })))).flat();
    await silent.hasReceived(15);
    await kill();

    for (const target of [failing, silent]) target.answerWith(200);
    const second = await openLocalHub({ state });
    const failed = (message: string) => ({ status: { stage: "ERROR", message } });
    const [hasWaited, hasRun] = [
      failed("the local Hub stopped before the job ran"),
      failed("the local Hub stopped while the job was running"),
    ];
    expect(second.hub.jobs()).toMatchObject([hasWaited, hasWaited, hasRun, hasRun, hasRun, hasRun]);
    await second.hub.settled();
    const { deliveryId } = interrupted ?? {};
    expect(await second.entries(retriedId)).toMatchObject([
      { attempt: 3, status: 200, deliveryId },
      { attempt: 2, status: 500, deliveryId },
      { attempt: 1, status: 500, deliveryId },
    ]);
    const entries = await second.entries(pendingId);
    expect(entries.every(({ status }) => status === 200)).toBe(true);
    const ids = (deliveries: readonly { deliveryId: string }[]) => deliveries.map((one) => one.deliveryId).sort();
    expect(ids(entries)).toEqual(ids(fired));
  });

  test("keeps a job that is only recorded", async () => {
    const state = stateFile();
    const first = await openLocalHub({ state });
    await first.create({ job: { flavor: "cpu-basic" } });
    await first.trigger();
    const recorded = first.hub.jobs();
    const second = await restart(first, { state, runJobs: true });
    const { owner: _owner, durations: _durations, ...kept } = recorded[0] ?? {};
    expect(second.hub.jobs()).toMatchObject([kept]);
  });
});
