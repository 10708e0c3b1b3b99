import { describe, expect, onTestFinished, test } from "vitest";
import { LocalHub } from "../../../src/local-hub.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { startReceiverProcess } from "../../support/receiver-process.ts";
import { waitFor } from "../../support/wait-for.ts";
import { openLocalHub, pushed, restart, stateFile, TestHub } from "../support/hub.ts";
import { neverRespond, openTarget } from "../support/target.ts";

const script = new URL("../support/hub-script.ts", import.meta.url);

/** Starts a local Hub in a separate process that can be killed. */
async function startProcess(state: string): Promise<{ hub: TestHub; kill: () => Promise<void> }> {
  const child = startReceiverProcess(script, { STATE: state });
  const { url } = await child.says("started");
  const inProcess = await LocalHub.launch();
  onTestFinished(() => inProcess.close());
  const hub = Object.assign(new TestHub({ hub: inProcess, log: createMemoryLogger() }), { url: String(url) });
  return {
    hub,
    kill: async () => {
      child.signal("SIGKILL");
      await child.exited;
    },
  };
}

describe("A local Hub that was killed", () => {
  test("sends all pending deliveries after it starts again", async () => {
    const state = stateFile();
    const target = await openTarget(neverRespond);
    const { hub, kill } = await startProcess(state);
    const { id } = await hub.create({ url: target.url });
    const fired = (await Promise.all(Array.from({ length: 100 }, () => hub.trigger(pushed, { wait: false })))).flat();
    await target.hasReceived(16);
    await kill();
    target.answerWith(200);
    const second = await openLocalHub({ state });
    await waitFor(async () => expect(await second.entries(id)).toHaveLength(100));
    const entries = await second.entries(id);
    expect(entries.every(({ status }) => status === 200)).toBe(true);
    expect(entries.map(({ deliveryId }) => deliveryId).sort()).toEqual(
      fired.map(({ deliveryId }) => deliveryId).sort(),
    );
  });

  test("continues the retries at the interrupted attempt", async () => {
    const state = stateFile();
    const target = await openTarget(500, 500, neverRespond);
    const { hub, kill } = await startProcess(state);
    const { id } = await hub.create({ url: target.url });
    const [delivery] = await hub.trigger(pushed, { wait: false });
    await target.hasReceived(3);
    await kill();
    target.answerWith(200);
    const second = await openLocalHub({ state });
    await waitFor(async () =>
      expect(await second.entries(id)).toMatchObject([
        { attempt: 3, status: 200, deliveryId: delivery?.deliveryId },
        { attempt: 2, status: 500, deliveryId: delivery?.deliveryId },
        { attempt: 1, status: 500, deliveryId: delivery?.deliveryId },
      ]),
    );
  });

  test("marks running and waiting jobs as failed", async () => {
    const state = stateFile();
    const { hub, kill } = await startProcess(state);
    // The job exits when its output is closed.
    await hub.create({ job: { flavor: "cpu-basic", command: ["sh", "-c", "while echo on; do sleep 0.1; done"] } });
    for (let job = 0; job < 6; job += 1) await hub.trigger();
    const [waits, runs] = [{ status: { stage: "SCHEDULING" } }, { status: { stage: "RUNNING" } }];
    await waitFor(async () =>
      expect((await hub.request("GET /_local/jobs")).body).toMatchObject([waits, waits, runs, runs, runs, runs]),
    );
    await kill();
    const second = await openLocalHub({ state });
    const failed = (message: string) => ({ status: { stage: "ERROR", message } });
    const [waited, ran] = [
      failed("the local Hub stopped before the job ran"),
      failed("the local Hub stopped while the job was running"),
    ];
    expect(second.hub.jobs()).toMatchObject([waited, waited, ran, ran, ran, ran]);
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
