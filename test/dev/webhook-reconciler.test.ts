import { expect, onTestFinished, test } from "vitest";
import { HubClient } from "../../src/client.ts";
import { WebhookKeeper } from "../../src/dev/webhook-reconciler.ts";
import { LocalHub } from "../../src/local-hub.ts";
import { TemporaryWebhooks } from "../../src/registration/temporary-webhooks.ts";
import { openProject, stateOf } from "./dev-project.ts";
import { openHubBetween } from "./failing-hub.ts";

const wanted = {
  endpoints: [
    { name: "retrain", watched: [{ type: "dataset", name: "me/data" }], domains: ["repo"] },
    { name: "greet", watched: [{ type: "org", name: "acme" }], domains: ["discussion"] },
  ],
  baseUrl: "http://127.0.0.1:9",
  secret: null,
} as const;

/** A keeper that tries again at once, and a Hub that is as far away as a test says. */
async function openKeeper({ retryAfterMs = [10] } = {}) {
  const project = await openProject();
  const hub = await LocalHub.launch();
  onTestFinished(() => hub.close());
  let status: number | undefined;
  const endpoint = await openHubBetween(hub.url, () => status);
  const client = new HubClient({ endpoint, token: "hf_local", retries: 0 });
  const alive = { url: "http://127.0.0.1:9/alive", answer: "it lives" };
  const session = { id: "one", alive };
  const webhooks = await TemporaryWebhooks.open({ hub: client, state: stateOf(project), session });
  const steps: string[] = [];
  const problems: string[] = [];
  const toldAt: number[] = [];
  const keeper = new WebhookKeeper({
    webhooks,
    retryAfterMs,
    onSteps: (told) => steps.push(...told),
    onProblem: ({ code }) => {
      problems.push(code);
      toldAt.push(performance.now());
    },
  });
  const nearby = new HubClient({ endpoint: hub.url, token: "hf_local" });
  const listed = async () => (await nearby.webhooks.list()).length;
  const createByHand = () =>
    nearby.webhooks.create({
      url: `${wanted.baseUrl}/webhooks/retrain`,
      watched: [{ type: "dataset", name: "me/data" }],
      domains: ["repo"],
    });
  return {
    ...{ keeper, steps, problems, toldAt, listed, createByHand },
    answerWith(next: number | undefined) {
      status = next;
    },
  };
}

test("What the Hub cannot do just now is tried again until it can, and told", async () => {
  const { keeper, steps, problems, listed, answerWith } = await openKeeper();
  answerWith(503);
  await keeper.keep(wanted);
  await expect.poll(() => problems.length).toBeGreaterThan(2);
  expect(new Set(problems)).toEqual(new Set(["HUB_FAILED"]));
  answerWith(undefined);
  await expect.poll(() => steps).toHaveLength(2);
  expect(await listed()).toBe(2);
  await keeper.close();
  expect(await listed()).toBe(0);
});

test("What fails again after it was done is tried again as well", async () => {
  const { keeper, problems, listed, answerWith } = await openKeeper();
  for (const endpoints of [wanted.endpoints.slice(0, 1), wanted.endpoints]) {
    answerWith(503);
    await keeper.keep({ ...wanted, endpoints });
    expect(new Set(problems)).toEqual(new Set(["HUB_FAILED"]));
    answerWith(undefined);
    await expect.poll(listed).toBe(endpoints.length);
  }
  await keeper.close();
});

test("Between two tries, however many there were, lies the last of the waits", async () => {
  const { keeper, toldAt, answerWith } = await openKeeper({ retryAfterMs: [1, 50] });
  answerWith(503);
  await keeper.keep(wanted);
  await expect.poll(() => toldAt.length).toBeGreaterThan(3);
  const [, , third = 0, fourth = 0] = toldAt;
  // A timer may be early by a part of a millisecond, and never by more.
  expect(fourth - third).toBeGreaterThan(45);
  await keeper.close();
});

test("What the Hub refuses is told, and not tried again until something changes", async () => {
  const { keeper, steps, problems, answerWith } = await openKeeper();
  answerWith(403);
  await keeper.keep(wanted);
  expect(problems).toEqual(["HUB_FORBIDDEN"]);
  answerWith(undefined);
  await keeper.repair();
  expect(steps).toHaveLength(2);
  expect(problems).toEqual(["HUB_FORBIDDEN"]);
  await keeper.close();
});

test("What stands in the way is told once, however often it is looked at", async () => {
  const { keeper, problems, createByHand } = await openKeeper();
  await createByHand();
  await keeper.keep(wanted);
  await keeper.repair();
  expect(problems).toEqual(["not-ours"]);
  await keeper.close();
});

test("The first time, what the Hub does not do is thrown", async () => {
  const { keeper, steps, problems, answerWith } = await openKeeper();
  answerWith(503);
  await expect(keeper.begin(wanted)).rejects.toMatchObject({ code: "HUB_FAILED" });
  answerWith(undefined);
  await keeper.begin(wanted);
  expect([steps, problems]).toEqual([[], []]);
  await keeper.close();
});

test("Once it is closed, nothing is tried any more", async () => {
  const { keeper, problems, listed, answerWith } = await openKeeper();
  answerWith(503);
  await keeper.keep(wanted);
  await keeper.close();
  answerWith(undefined);
  const told = problems.length;
  await keeper.keep(wanted);
  expect([problems.length, await listed()]).toEqual([told, 0]);
});
