import { resolve } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { SqliteInbox } from "../../../src/inbox/sqlite/sqlite-inbox.ts";
import { locateInbox } from "../../../src/receiver/console/inbox.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

beforeEach(() => {
  for (const name of ["SPACE_ID", "SPACE_HOST", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_REGION"]) {
    vi.stubEnv(name, "");
  }
});

const kept = { keptUntil: "retention" };
const redis = { engine: "redis", namespace: "hub-webhooks", ...kept };
const postgres = { engine: "postgres", namespace: "hub_webhooks", ...kept };

describe("The location of an inbox", () => {
  test.each([
    ["sqlite:./data/inbox.db", { engine: "sqlite", address: resolve("data/inbox.db"), ...kept }],
    ["sqlite:///data/a@b.db", { engine: "sqlite", address: "/data/a@b.db", ...kept }],
    ["sqlite::memory:", { engine: "memory", keptUntil: "process-exit" }],
    [undefined, { engine: "memory", keptUntil: "process-exit" }],
    [
      "hf://buckets/me/inbox/production",
      { engine: "bucket", address: "hf://buckets/me/inbox/production", api: "https://s3.hf.co/me", ...kept },
    ],
    [
      "s3://mine/inbox?endpoint=https://minio.example:9000",
      { engine: "bucket", address: "s3://mine/inbox", api: "https://minio.example:9000", ...kept },
    ],
    ["redis://cache.example", { ...redis, address: "cache.example:6379", database: "0" }],
    ["rediss://:planted@[::1]:7000/3", { ...redis, address: "[::1]:7000", database: "3" }],
    ["postgres://planted:planted@db.example/hooks", { ...postgres, address: "db.example:5432", database: "hooks" }],
    ["postgresql:///hooks?host=/run/pg&password=planted", { ...postgres, address: "/run/pg", database: "hooks" }],
    ["postgres://planted@db.example:6000?sslmode=require", { ...postgres, address: "db.example:6000" }],
  ])("at %s contains what identifies it", (url, expected) => {
    expect(locateInbox(url)).toEqual(expected);
  });

  test.each([
    ...["redis://planted:12/planted@cache.example:6379/0", "redis://planted?planted@cache.example"],
    ...["redis://planted#planted@cache.example", "postgres://planted:12/planted@db.example/hooks"],
    ...["postgres://planted:pla nted@db.example/hooks", "redis://:planted/@cache.example"],
    ...["mysql://planted:planted@db.example/hooks"],
    ...["s3://mine/inbox?endpoint=https://planted:planted@minio.example", "planted"],
  ])("at %s contains no part of a password that is not escaped", (url) => {
    expect(JSON.stringify(locateInbox(url))).not.toMatch(/planted|pla nted/);
  });

  test("of a file in a Space is erased, unless it is on a mounted disk", () => {
    vi.stubEnv("SPACE_ID", "acme/bot");
    vi.stubEnv("SPACE_HOST", "acme-bot.hf.space");
    expect(locateInbox("sqlite:./inbox.db").keptUntil).toBe("space-restart");
    expect(locateInbox("sqlite:/data/inbox.db?unsafe-file-system=allow").keptUntil).toBe("retention");
    expect(locateInbox("redis://cache.example").keptUntil).toBe("retention");
  });

  test("of an Inbox object and of an unsupported URL is unknown", async () => {
    const inbox = new SqliteInbox({ file: ":memory:", now: Date.now, log: createMemoryLogger() });
    expect(locateInbox(inbox)).toEqual({ engine: "custom" });
    await inbox.close(0);
    expect(locateInbox("mysql://db.example")).toEqual({ engine: "unknown" });
  });
});
