import { describe, expect, onTestFinished, test } from "vitest";
import type { AuditFilter, StoredAuditEvent } from "../../../src/local-hub/store/audit-log-store.ts";
import { openStore } from "../../../src/local-hub/store/store.ts";

const everything: AuditFilter = { authors: [], ips: [], types: [] };

function openLog() {
  const store = openStore({});
  onTestFinished(() => store.close());
  return store.auditLog;
}

function event(number: number, changes: Partial<StoredAuditEvent> = {}): StoredAuditEvent {
  return { id: String(number), organization: "acme", type: "org.leave", at: number, message: "left", ...changes };
}

describe("The store of audit logs", () => {
  test("returns the newest events first, page by page", () => {
    const log = openLog();
    log.add(...[0, 1, 2, 3, 4].map((number) => event(number)));
    const idsFrom = (before: number | undefined) => {
      const page = log.page({ organization: "acme", filter: everything, before, limit: 2 });
      return { ids: page.events.map(({ id }) => id), before: page.before };
    };
    const first = idsFrom(undefined);
    expect(first.ids).toEqual(["4", "3"]);
    log.add(event(5));
    const second = idsFrom(first.before);
    expect(second.ids).toEqual(["2", "1"]);
    expect(idsFrom(second.before)).toEqual({ ids: ["0"], before: undefined });
  });

  test("fills a page with matching events, regardless of their age", () => {
    const log = openLog();
    log.add(event(0, { type: "org.rename" }), ...Array.from({ length: 50 }, (_, number) => event(number + 1)));
    const filter = { ...everything, types: ["org.rename"] };
    const { events } = log.page({ organization: "acme", filter, limit: 2 });
    expect(events.map(({ id }) => id)).toEqual(["0"]);
  });

  test("keeps organizations separate, and every field of an event", () => {
    const log = openLog();
    const whole = event(1, {
      author: "Ada",
      isAuthorDeleted: true,
      ip: "192.0.2.1",
      data: { nested: [1, null, { text: "a 'quoted' \u0000 text" }] },
      location: { formatted: "Paris", city: "Paris" },
      userAgent: "test",
      token: { deleted: false, role: "read" },
      oauth: { clientId: "app" },
    });
    log.add(whole, event(2, { organization: "team-org" }));
    expect(log.page({ organization: "acme", filter: everything, limit: 10 }).events).toEqual([whole]);
  });

  test("finds authors and addresses in any case, and events of the Hub by the author system", () => {
    const log = openLog();
    log.add(event(1, { author: "Ada", ip: "2001:DB8::1" }), event(2));
    const found = (filter: Partial<AuditFilter>) =>
      log.page({ organization: "acme", filter: { ...everything, ...filter }, limit: 10 }).events.map(({ id }) => id);
    expect(found({ authors: ["aDA"] })).toEqual(["1"]);
    expect(found({ authors: ["system"] })).toEqual(["2"]);
    expect(found({ authors: ["system", "ada"] })).toEqual(["2", "1"]);
    expect(found({ ips: ["2001:db8::1"] })).toEqual(["1"]);
    expect(found({ authors: ["ad"] })).toEqual([]);
    expect(found({ authors: ["%", "A_a"], ips: [] })).toEqual([]);
  });
});
