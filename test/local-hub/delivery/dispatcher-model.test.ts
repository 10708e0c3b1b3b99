import * as fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Dispatcher } from "../../../src/local-hub/delivery/dispatcher.ts";
import { type HttpRequest, type HttpResult, HttpSender } from "../../../src/local-hub/delivery/http-sender.ts";
import type { HubDelivery } from "../../../src/local-hub/delivery/hub-delivery.ts";
import { createWebhook } from "../../../src/local-hub/resources/webhooks.ts";
import { openContext } from "../support/context.ts";

/*
 * Random interleavings of events, answers, cancellations, replays, and restarts. The test decides when each attempt is answered, also
 * in the same turn in which the dispatcher closes.
 */

const attempts = 3;

interface Sent {
  deliveryId: string;
  isReplay: boolean;
  answer: (result: HttpResult) => void;
}

/** Records requests, which the test answers. An abort ends a request, unless the test has answered it. */
class ScriptedSender extends HttpSender {
  inFlight: Sent[] = [];
  isReplay = false;
  onSend: (sent: Sent) => void = () => {};

  override send({ headers, signal }: HttpRequest): Promise<HttpResult> {
    return new Promise((resolve) => {
      const answer = (result: HttpResult) => {
        this.inFlight = this.inFlight.filter((other) => other !== sent);
        resolve(result);
      };
      const sent: Sent = { deliveryId: headers["webhook-id"] ?? "", isReplay: this.isReplay, answer };
      signal.addEventListener("abort", () => answer({ failure: "aborted" }), { once: true });
      this.inFlight.push(sent);
      this.onSend(sent);
    });
  }
}

const status = (code: number): HttpResult => ({
  response: { status: code, headers: {}, body: "", truncated: false },
});

type Step =
  | { kind: "fire" | "cancel" | "advance" }
  | { kind: "answer"; index: number; code: number }
  | { kind: "replay"; index: number }
  | { kind: "restart"; answersAtClose: number; firesWhileClosing: boolean; firesAfterClose: boolean };

const index = fc.nat(3);
const step: fc.Arbitrary<Step & { isPaused: boolean }> = fc
  .oneof(
    { weight: 4, arbitrary: fc.constant({ kind: "fire" as const }) },
    {
      weight: 6,
      arbitrary: fc.record({ kind: fc.constant("answer" as const), index, code: fc.constantFrom(200, 500) }),
    },
    { weight: 3, arbitrary: fc.constant({ kind: "advance" as const }) },
    { weight: 1, arbitrary: fc.constant({ kind: "cancel" as const }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("replay" as const), index }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("restart" as const),
        answersAtClose: fc.nat(2),
        firesWhileClosing: fc.boolean(),
        firesAfterClose: fc.boolean(),
      }),
    },
  )
  .chain((made) => fc.boolean().map((isPaused) => ({ ...made, isPaused })));

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("Each delivery is sent until its success or its last attempt, through restarts, and each caller gets a result", {
  tags: "slow",
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40, size: "max" }), async (steps) => {
      const { context, clock } = openContext();
      const { store } = context;
      const sender = new ScriptedSender({ allowRemote: false });
      const limits = { ...context.dispatcher.limits, attempts, triggersPerDay: 1_000 };
      const open = () => new Dispatcher({ ...context, sender, limits });
      let dispatcher = open();
      const definition = { url: "http://127.0.0.1:1/", watched: [], domains: ["repo" as const] };
      const { id } = createWebhook(context, { owner: "local-user", definition });

      const succeeded = new Set<string>();
      const canceled = new Set<string>();
      /** The number of failed answers by delivery. */
      const failures = new Map<string, number>();
      const problems: string[] = [];
      const fired: { delivery: HubDelivery; isSettled: boolean }[] = [];
      sender.onSend = ({ deliveryId, isReplay }) => {
        if (!isReplay && succeeded.has(deliveryId)) problems.push("sent again after its success");
        if (!isReplay && canceled.has(deliveryId)) problems.push("sent after it was canceled");
        if (sender.inFlight.filter((other) => other.deliveryId === deliveryId && !other.isReplay).length > 1)
          problems.push("sent twice at the same time");
      };
      const fire = () => {
        const webhook = store.webhooks.get(id);
        if (!webhook) throw new Error("The webhook is missing.");
        for (const delivery of dispatcher.fire([webhook], () => "{}")) {
          const entry = { delivery, isSettled: false };
          fired.push(entry);
          void dispatcher.waitUntilSettled(delivery).then(() => {
            entry.isSettled = true;
          });
        }
      };
      const answer = ({ deliveryId, isReplay, answer }: Sent, code: number) => {
        if (!isReplay && code === 200) succeeded.add(deliveryId);
        if (!isReplay && code === 500) failures.set(deliveryId, (failures.get(deliveryId) ?? 0) + 1);
        answer(status(code));
      };
      const advance = () => {
        clock.now += 3_600_000;
        vi.advanceTimersByTime(3_600_000);
      };
      const take = async (next: Step): Promise<void> => {
        switch (next.kind) {
          case "fire":
            return fire();
          case "answer":
            for (const sent of sender.inFlight.slice(next.index, next.index + 1)) answer(sent, next.code);
            return;
          case "advance":
            return advance();
          case "cancel":
            for (const deliveryId of store.deliveries.pendingOf(id)) canceled.add(deliveryId);
            return dispatcher.cancel(id);
          case "replay": {
            const stored = store.deliveries.attempts(id);
            const attempt = stored[next.index];
            const webhook = store.webhooks.get(id);
            if (!attempt || !webhook) return;
            sender.isReplay = true;
            void dispatcher.replay(webhook, attempt);
            sender.isReplay = false;
            return;
          }
          case "restart": {
            for (const sent of sender.inFlight.slice(0, next.answersAtClose)) answer(sent, 200);
            const closed = dispatcher.close();
            if (next.firesWhileClosing) fire();
            await closed;
            if (next.firesAfterClose) fire();
            await turn();
            expect(fired.every(({ isSettled }) => isSettled)).toBe(true);
            dispatcher = open();
          }
        }
      };

      for (const { isPaused, ...next } of steps) {
        await take(next);
        if (isPaused) await turn();
      }
      const idle = vi.fn();
      void dispatcher.waitUntilIdle().then(idle);
      for (let round = 0; round < 100 && store.deliveries.hasPending(); round += 1) {
        await turn();
        advance();
        for (const sent of [...sender.inFlight]) answer(sent, 500);
      }
      for (const sent of [...sender.inFlight]) answer(sent, 500);
      await turn();
      expect({ problems, isIdle: idle.mock.calls.length }).toEqual({ problems: [], isIdle: 1 });
      expect(fired.filter(({ isSettled }) => !isSettled)).toEqual([]);
      const log = store.deliveries.attempts(id);
      expect(new Set(log.map(({ deliveryId, attempt }) => `${deliveryId} ${attempt}`)).size).toBe(log.length);
      for (const { delivery } of fired) {
        const { deliveryId } = delivery;
        if (succeeded.has(deliveryId))
          expect(log.some((attempt) => attempt.deliveryId === deliveryId && attempt.error === null)).toBe(true);
        // An answer in the turn in which the dispatcher closes can be lost, and the attempt is then repeated.
        else if (!canceled.has(deliveryId)) expect(failures.get(deliveryId)).toBeGreaterThanOrEqual(attempts);
      }
      await dispatcher.close();
    }),
    { numRuns: 100 },
  );
});
