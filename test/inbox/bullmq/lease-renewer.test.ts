import { expect, onTestFinished, test, vi } from "vitest";
import { LeaseRenewer } from "../../../src/inbox/bullmq/lease-renewer.ts";
import { freePort } from "../../support/free-port.ts";

test("Leases that cannot be renewed while the event loop is blocked are reported", async () => {
  const onError = vi.fn();
  const url = `redis://127.0.0.1:${await freePort()}`;
  const leases = new LeaseRenewer({ url, leaseMs: 200, maxBlockedMs: 60_000, onError });
  onTestFinished(() => leases.close());
  leases.hold({ endpoint: "retrain", jobId: "a", token: "t" });
  // Until the thread has noticed it.
  for (let blocks = 0; blocks < 50 && onError.mock.calls.length === 0; blocks += 1) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    await new Promise(setImmediate);
  }
  expect(onError).toHaveBeenCalledWith(expect.objectContaining({ message: expect.stringContaining("ECONNREFUSED") }));
});
