import fc from "fast-check";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { DeliveryKey, DeliverySummary } from "../../../src/console/protocol/deliveries.ts";
import type { ConsoleFeature, StreamMessage } from "../../../src/console/protocol/session.ts";
import { ConsoleEvents } from "../../../src/console/server/events.ts";

beforeEach(() => {
  vi.useFakeTimers();
  return () => vi.useRealTimers();
});

function rowOf({ endpoint, id }: DeliveryKey): DeliverySummary {
  return { endpoint, id, storage: "memory", status: "running", receivedAt: 1, attempts: 1 };
}

/** Opens events with one listener. */
function listen({
  readDelivery = vi.fn(async (key: DeliveryKey): Promise<DeliverySummary | undefined> => rowOf(key)),
}: {
  readDelivery?: (key: DeliveryKey) => Promise<DeliverySummary | undefined>;
} = {}) {
  const events = new ConsoleEvents({ readDelivery });
  const messages: StreamMessage[] = [];
  const onClose = vi.fn();
  const unsubscribe = events.subscribe((message) => messages.push(message), { onClose });
  onTestFinished(() => events.close());
  return { events, messages, onClose, unsubscribe, readDelivery };
}

const passTime = () => vi.advanceTimersByTimeAsync(200);
const key = (number: number) => ({ endpoint: "retrain", id: `d-${number}` });

describe("Live messages", () => {
  test("cost nothing while no console is open", async () => {
    const readDelivery = vi.fn(async () => undefined);
    const events = new ConsoleEvents({ readDelivery });
    events.deliveryChanged(key(1));
    events.changed("endpoints");
    expect(vi.getTimerCount()).toBe(0);
    expect(events.subscribers).toBe(0);
    await passTime();
    expect(readDelivery).not.toHaveBeenCalled();
  });

  test("collect the changes of an interval, and send each delivery once", async () => {
    const { events, messages, readDelivery } = listen();
    for (const number of [1, 2, 1, 1]) events.deliveryChanged(key(number));
    await vi.advanceTimersByTimeAsync(199);
    expect(messages).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(messages).toEqual([{ type: "deliveries", deliveries: [rowOf(key(1)), rowOf(key(2))] }]);
    expect(readDelivery).toHaveBeenCalledTimes(2);
    events.deliveryChanged(key(1));
    await passTime();
    expect(messages).toHaveLength(2);
  });

  test("end with the last state of each delivery and feature, however long the rows are read", async () => {
    const action = fc.oneof(
      fc.record({ change: fc.nat(2) }),
      fc.record({ feature: fc.constantFrom("endpoints" as const, "jobs" as const) }),
      fc.record({ read: fc.nat(5) }),
      fc.record({ passMs: fc.constantFrom(50, 200) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 30, size: "max" }), async (actions) => {
        const attempts = [0, 0, 0];
        const reads: (() => void)[] = [];
        const { events, messages } = listen({
          readDelivery: async (given) => {
            const row = { ...rowOf(given), attempts: attempts[Number(given.id.slice(2))] ?? 0 };
            await new Promise<void>((resolve) => reads.push(resolve));
            return row;
          },
        });
        const changedAt = new Map<ConsoleFeature, number>();
        for (const given of actions) {
          if ("feature" in given) {
            changedAt.set(given.feature, messages.length);
            events.changed(given.feature);
          } else if ("change" in given) {
            attempts[given.change] = (attempts[given.change] ?? 0) + 1;
            events.deliveryChanged(key(given.change));
          } else if ("read" in given) reads.splice(given.read % Math.max(1, reads.length), 1)[0]?.();
          await vi.advanceTimersByTimeAsync("passMs" in given ? given.passMs : 0);
        }
        for (let time = 0; time < 5; time += 1) {
          while (reads.length > 0) reads.pop()?.();
          await vi.advanceTimersByTimeAsync(200);
        }
        const rows = messages.flatMap((message) => (message.type === "deliveries" ? message.deliveries : []));
        for (const [number, count] of attempts.entries()) {
          const sent = rows.filter(({ id }) => id === `d-${number}`).map((row) => row.attempts);
          expect(sent).toEqual(sent.toSorted((one, other) => one - other));
          expect(sent.at(-1) ?? 0).toBe(count);
        }
        for (const [feature, count] of changedAt) {
          const later = messages.slice(count);
          expect(later.some((message) => message.type === "changed" && message.features.includes(feature))).toBe(true);
        }
        events.close();
        expect(vi.getTimerCount()).toBe(0);
      }),
      { numRuns: 30 },
    );
  });

  test("report more than 100 changed deliveries as one change of the list", async () => {
    const { events, messages, readDelivery } = listen();
    for (let number = 0; number <= 150; number += 1) events.deliveryChanged(key(number));
    await passTime();
    expect(messages).toEqual([{ type: "changed", features: ["deliveries"] }]);
    expect(readDelivery).not.toHaveBeenCalled();
  });

  test("report deliveries that cannot be read as a change of the list", async () => {
    const readDelivery = vi.fn(async (given: DeliveryKey) => {
      if (given.id === "d-1") throw new Error("down");
      return given.id === "d-2" ? undefined : rowOf(given);
    });
    const { events, messages } = listen({ readDelivery });
    for (const number of [1, 2, 3]) events.deliveryChanged(key(number));
    await passTime();
    expect(messages).toEqual([
      { type: "changed", features: ["deliveries"] },
      { type: "deliveries", deliveries: [rowOf(key(3))] },
    ]);
  });

  test("name each changed feature once, and the list if the rows cannot be read at all", async () => {
    const events = new ConsoleEvents();
    const messages: StreamMessage[] = [];
    events.subscribe((message) => messages.push(message), { onClose: () => {} });
    events.changed("endpoints", "jobs");
    events.changed("endpoints");
    events.deliveryChanged(key(1));
    await passTime();
    expect(messages).toEqual([{ type: "changed", features: ["endpoints", "jobs", "deliveries"] }]);
  });

  test("that are published are sent at once, to every console", () => {
    const { events, messages, unsubscribe } = listen();
    const others: StreamMessage[] = [];
    events.subscribe((message) => others.push(message), { onClose: () => {} });
    const message: StreamMessage = { type: "changed", features: ["logs"] };
    events.publish(message);
    unsubscribe();
    events.publish(message);
    expect([messages, others, events.subscribers]).toEqual([[message], [message, message], 1]);
  });

  test("end when the console closes", async () => {
    const { events, messages, onClose, unsubscribe } = listen();
    const closedBefore = vi.fn();
    events.subscribe(() => {}, { onClose: closedBefore })();
    events.deliveryChanged(key(1));
    events.close();
    expect([onClose.mock.calls.length, closedBefore.mock.calls.length]).toEqual([1, 0]);
    unsubscribe();
    await passTime();
    expect(messages).toEqual([]);
  });
});
