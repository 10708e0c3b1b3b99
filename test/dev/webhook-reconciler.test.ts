import { once } from "node:events";
import { expect, onTestFinished, test, vi } from "vitest";
import { HubClient } from "../../src/client.ts";
import { HubError } from "../../src/core/errors.ts";
import { WebhookReconciler } from "../../src/dev/webhook-reconciler.ts";
import { LocalHub } from "../../src/local-hub.ts";
import { TemporaryWebhooks } from "../../src/registration/temporary.ts";
import { openFailingHub, openProject, stateOf } from "./dev-project.ts";

const desired = {
  endpoints: [
    { name: "retrain", watch: [{ type: "dataset", name: "me/data" }], domains: ["repo"] },
    { name: "greet", watch: [{ type: "org", name: "acme" }], domains: ["discussion"] },
  ],
  publicUrl: "http://127.0.0.1:9",
  secret: null,
} as const;

/** Creates a reconciler that retries without delays, or not before it closes, and a Hub whose failures the test controls. */
async function openReconciler({ holdsRetries = false } = {}) {
  const project = await openProject();
  const hub = await LocalHub.launch();
  onTestFinished(() => hub.close());
  let status: number | undefined;
  const endpoint = await openFailingHub(hub.url, () => status);
  const client = new HubClient({ hubUrl: endpoint, token: "hf_local", attempts: 1 });
  const alive = { url: "http://127.0.0.1:9/alive", answer: "it lives" };
  const session = { id: "one", alive };
  const webhooks = await TemporaryWebhooks.open({ client, state: stateOf(project), session });
  const steps: string[] = [];
  const problems: string[] = [];
  const waits: number[] = [];
  const reconciler = new WebhookReconciler({
    webhooks,
    wait: async (delayMs, signal) => {
      waits.push(delayMs);
      if (holdsRetries) await once(signal, "abort");
    },
    onSteps: (completed) => steps.push(...completed),
    onProblem: ({ code }) => problems.push(code),
  });
  const nearby = new HubClient({ hubUrl: hub.url, token: "hf_local" });
  const listed = async () => (await nearby.webhooks.list()).length;
  const createByHand = () =>
    nearby.webhooks.create({
      url: `${desired.publicUrl}/webhooks/retrain`,
      watched: [{ type: "dataset", name: "me/data" }],
      domains: ["repo"],
    });
  return {
    ...{ webhooks, reconciler, steps, problems, waits, listed, createByHand },
    answerWith(next: number | undefined) {
      status = next;
    },
  };
}

test("Failures of the Hub are reported and retried until they succeed, at the start and later", async () => {
  const { reconciler, steps, problems, listed, answerWith } = await openReconciler();
  for (const endpoints of [desired.endpoints.slice(0, 1), desired.endpoints]) {
    const reported = problems.length;
    answerWith(503);
    await reconciler.update({ ...desired, endpoints });
    await expect.poll(() => problems.length).toBeGreaterThan(reported + 2);
    expect(new Set(problems)).toEqual(new Set(["HUB_FAILED"]));
    answerWith(undefined);
    await expect.poll(() => steps).toHaveLength(endpoints.length);
    expect(await listed()).toBe(endpoints.length);
  }
  await reconciler.close();
  expect(await listed()).toBe(0);
});

test("The last delay repeats", async () => {
  const { reconciler, waits, answerWith } = await openReconciler();
  answerWith(503);
  await reconciler.update(desired);
  await expect.poll(() => waits.slice(0, 6)).toEqual([2_000, 5_000, 15_000, 30_000, 30_000, 30_000]);
  await reconciler.close();
});

test("A rejection of the Hub is reported, and not retried before the next change", async () => {
  const { reconciler, steps, problems, waits, answerWith } = await openReconciler();
  answerWith(403);
  await reconciler.update(desired);
  expect([problems, waits]).toEqual([["HUB_FORBIDDEN"], []]);
  answerWith(undefined);
  await reconciler.repair();
  expect(steps).toHaveLength(2);
  expect(problems).toEqual(["HUB_FORBIDDEN"]);
  await reconciler.close();
});

test("A failure to delete the webhooks is reported", async () => {
  const { reconciler, problems } = await openReconciler();
  const close = vi.spyOn(TemporaryWebhooks.prototype, "close").mockRejectedValueOnce(new Error("disk I/O error"));
  onTestFinished(() => close.mockRestore());
  await reconciler.close();
  expect(problems).toEqual(["INTERNAL"]);
});

test("A skipped webhook is reported once", async () => {
  const { reconciler, problems, createByHand } = await openReconciler();
  await createByHand();
  await reconciler.update(desired);
  await reconciler.repair();
  expect(problems).toEqual(["not-managed"]);
  await reconciler.close();
});

test("start() throws failures of the Hub", async () => {
  const { reconciler, steps, problems, answerWith } = await openReconciler();
  answerWith(503);
  await expect(reconciler.start(desired)).rejects.toMatchObject({ code: "HUB_FAILED" });
  answerWith(undefined);
  await reconciler.start(desired);
  expect([steps, problems]).toEqual([[], []]);
  await reconciler.close();
});

test("A closed reconciler does not retry", async () => {
  const { reconciler, problems, listed, answerWith } = await openReconciler();
  answerWith(503);
  await reconciler.update(desired);
  await reconciler.close();
  answerWith(undefined);
  const reported = problems.length;
  await reconciler.update(desired);
  expect([problems.length, await listed()]).toEqual([reported, 0]);
});

/** Makes the next reconciliation report the failure of one of several webhooks. */
function failOne(webhooks: TemporaryWebhooks, failure: { code: "HUB_FAILED" | "HUB_FORBIDDEN"; retryable: boolean }) {
  const reconcile = webhooks.reconcile.bind(webhooks);
  vi.spyOn(webhooks, "reconcile").mockImplementationOnce(async (input) => {
    const report = await reconcile({ ...input, endpoints: input.endpoints.slice(0, 1) });
    const error = new HubError("no luck", failure);
    return { ...report, failed: report.done.map((step) => ({ step, error })) };
  });
}

test("start() reports and retries the failure of one of several webhooks", async () => {
  const { webhooks, reconciler, problems, listed } = await openReconciler();
  failOne(webhooks, { code: "HUB_FAILED", retryable: true });
  await reconciler.start(desired);
  expect(problems).toEqual(["HUB_FAILED"]);
  await expect.poll(listed).toBe(2);
  await reconciler.close();
});

test.each(["start", "update"] as const)(
  "%s() reports the rejection of one of several webhooks, and does not retry it",
  async (method) => {
    const { webhooks, reconciler, problems, waits } = await openReconciler();
    failOne(webhooks, { code: "HUB_FORBIDDEN", retryable: false });
    await reconciler[method](desired);
    expect([problems, waits]).toEqual([["HUB_FORBIDDEN"], []]);
    await reconciler.close();
  },
);

test("Several failures cause one series of retries", async () => {
  const { reconciler, problems, waits, answerWith } = await openReconciler({ holdsRetries: true });
  answerWith(503);
  await reconciler.update(desired);
  await reconciler.repair();
  expect([problems, waits]).toEqual([["HUB_FAILED", "HUB_FAILED"], [2_000]]);
  await reconciler.close();
});

test("An update that close() interrupts is not a problem", async () => {
  const { webhooks, reconciler, problems } = await openReconciler();
  vi.spyOn(webhooks, "reconcile").mockImplementationOnce(({ signal }) => {
    const interrupted = Promise.withResolvers<never>();
    signal?.addEventListener("abort", () => interrupted.reject(signal.reason));
    return interrupted.promise;
  });
  const updating = reconciler.update(desired);
  await reconciler.close();
  await updating;
  expect(problems).toEqual([]);
});

test("A repair before start() does nothing", async () => {
  const { webhooks, reconciler, problems } = await openReconciler();
  const reconcile = vi.spyOn(webhooks, "reconcile");
  await reconciler.repair();
  expect(reconcile).not.toHaveBeenCalled();
  expect(problems).toEqual([]);
  await reconciler.close();
});

test("A closed reconciler does not repair the webhooks", async () => {
  const { webhooks, reconciler } = await openReconciler();
  await reconciler.start(desired);
  await reconciler.close();
  const reconcile = vi.spyOn(webhooks, "reconcile");
  await reconciler.repair();
  expect(reconcile).not.toHaveBeenCalled();
});
