// @module-tag slow

import fc from "fast-check";
import { expect, test } from "vitest";
import { DataLoss } from "../../../src/inbox/bullmq/health.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

const processes = [0, 1, 2];
const event = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...processes) },
  { weight: 1, arbitrary: fc.constantFrom("empty", "save", "restore") },
);

test("A process reports a loss only if its last check is lost, and always if it is lost and not made up for", () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60, size: "max" }), (events) => {
      /** The numbers of all checks that the server knows. The first one is its identity. */
      let server: readonly number[] = [];
      let saved = server;
      let number = 0;
      const observers = processes.map(() => {
        const logger = createMemoryLogger();
        return { logger, loss: new DataLoss(logger), last: { check: -1, first: -1, count: 0 }, reported: 0 };
      });
      for (const one of events) {
        const observer = typeof one === "number" ? observers[one] : undefined;
        if (one === "save") saved = server;
        if (one === "restore") server = saved;
        if (one === "empty") server = [];
        if (!observer) continue;
        number += 1;
        const { last, loss, logger } = observer;
        const isLost = last.check > 0 && !server.includes(last.check);
        server = [...server, number];
        const isReported = loss.observe({ identity: `${server[0]}`, checks: server.length });
        // After a restore, the checks of other processes can make up for the lost ones.
        const isMadeUpFor = server[0] === last.first && server.length > last.count;
        expect(isReported).toBe(isLost && !isMadeUpFor);
        if (isReported) observer.reported += 1;
        observer.last = { check: number, first: server[0] ?? -1, count: server.length };
        expect(logger.lines).toHaveLength(observer.reported);
        expect(loss.problem !== undefined).toBe(observer.reported > 0);
      }
    }),
    { numRuns: 500 },
  );
});
