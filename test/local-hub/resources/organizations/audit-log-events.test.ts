import { describe, expect, test } from "vitest";
import type { AuditLogType } from "../../../../src/hub/organizations/audit-log.ts";
import type { HubEvent } from "../../../../src/local-hub.ts";
import { auditEvents, openLocalHub, type TestHub } from "../../support/hub.ts";

const repo = { type: "dataset", name: "acme/fresh" } as const;
const seeded = { type: "dataset", name: "acme/reviews" } as const;
const pushed = { scope: "repo.content", action: "update" };

/** Returns the event types that an event adds to the audit log, by default of acme, newest first. */
async function told(hub: TestHub, event: HubEvent, { organization = "acme" } = {}): Promise<AuditLogType[]> {
  const before = await logOf(hub, organization);
  await hub.trigger(event);
  const after = await logOf(hub, organization);
  return after.slice(0, after.length - before.length).map(({ type }) => type);
}

async function logOf(hub: TestHub, organization: string): Promise<{ type: AuditLogType }[]> {
  const { body } = await hub.request(`GET /api/organizations/${organization}/audit-log/export`);
  if (!Array.isArray(body)) throw new Error("no log");
  return body;
}

describe("The audit log of an organization", () => {
  test("contains the time, the address, the author and the repository of each event", async () => {
    const now = Date.parse("2026-11-21T10:00:00.000Z");
    const hub = await openLocalHub({ now: () => now });
    await hub.trigger({ repo, event: { scope: "repo", action: "create" } });
    const [event] = await auditEvents(hub, { organization: "acme", type: "repo.create" });
    expect(event).toMatchObject({
      createdAt: "2026-11-21T10:00:00.000Z",
      message: "Created the dataset acme/fresh",
      ip: "127.0.0.1",
      author: { user: "local-user", type: "user" },
      data: { repo },
    });
  });

  test("contains deeply nested settings", async () => {
    const hub = await openLocalHub();
    let deep: unknown = 1;
    for (let depth = 0; depth < 1_500; depth += 1) deep = { deep };
    const updatedConfig = { private: false, deep };
    await hub.trigger({ repo: seeded, event: { scope: "repo.config", action: "update" }, updatedConfig });
    const [event] = await auditEvents(hub, { organization: "acme", type: "repo.update_settings" });
    expect(event?.data).toEqual({ repo: seeded, updatedConfig });
  });

  test("contains the creation, the configuration, the move and the deletion of a repository", async () => {
    const hub = await openLocalHub();
    expect(await told(hub, { repo, event: { scope: "repo", action: "create" } })).toEqual(["repo.create"]);
    const configured = { scope: "repo.config", action: "update" };
    expect(await told(hub, { repo, event: configured, updatedConfig: { private: true } })).toEqual([
      "repo.update_settings",
    ]);
    const movedTo = { name: "acme/moved" };
    expect(await told(hub, { repo, event: { scope: "repo", action: "move" }, movedTo })).toEqual(["repo.move"]);
    const moved = { type: "dataset", ...movedTo } as const;
    expect(await told(hub, { repo: moved, event: { scope: "repo", action: "delete" } })).toEqual(["repo.delete"]);
    const [settings] = await auditEvents(hub, { organization: "acme", type: "repo.update_settings" });
    expect(settings?.data).toEqual({ repo, updatedConfig: { private: true } });
    const [move] = await auditEvents(hub, { organization: "acme", type: "repo.move" });
    expect(move?.data).toEqual({ repo, movedTo });
  });

  test("contains the creation of a repository once if another event implies it", async () => {
    const hub = await openLocalHub();
    expect(await told(hub, { repo, event: pushed })).toEqual(["repo.create"]);
    expect(await told(hub, { repo, event: pushed })).toEqual([]);
    const configured = { scope: "repo.config", action: "update" };
    expect(await told(hub, { repo: { ...repo, type: "model" }, event: configured })).toEqual([
      "repo.update_settings",
      "repo.create",
    ]);
  });

  test("does not contain events of user repositories and dry runs", async () => {
    const hub = await openLocalHub();
    const event = { scope: "repo", action: "create" };
    expect(await told(hub, { repo: { type: "model", name: "local-user/net" }, event })).toEqual([]);
    const before = await logOf(hub, "acme");
    await hub.request("POST /_local/events?dryRun=true", { token: null, body: { repo, event } });
    expect(await logOf(hub, "acme")).toEqual(before);
  });
});
