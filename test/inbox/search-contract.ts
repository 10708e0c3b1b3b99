import { describe, expect, test } from "vitest";
import type { Inbox, ListOptions } from "../../src/inbox/inbox.ts";
import { type Engine, failed, incoming, lend, listAll, openInbox, succeeded, waitForStatus, work } from "./engine.ts";

/** Returns the body of an event. */
export function eventBody({
  repository = "dataset:acme/data",
  scope = "repo.content",
  action = "update",
}: {
  repository?: string;
  scope?: string;
  action?: string;
}): string {
  const [type, name] = repository.split(":");
  return JSON.stringify({ event: { action, scope }, repo: { type, name }, webhook: { version: 3 } });
}

const time = (minutes: number) => new Date(Date.UTC(2026, 0, 1, 0, minutes));

/** Tests of the filters of a list that every inbox must pass. */
export function describeSearch(engine: Engine): void {
  describe("a filtered list", () => {
    async function fill(inbox: Inbox): Promise<void> {
      const bodies: Readonly<Record<string, string>> = {
        "d-1": eventBody({}),
        "d-2": eventBody({ repository: "model:acme/data" }),
        "d-3": eventBody({ repository: "dataset:acme/data-2", scope: "repo.config" }),
        "d-4": eventBody({ scope: "repo", action: "create" }),
        "e-5": "not JSON",
        "e-6": '{"repo":"acme/data","event":[1]}',
        "e-7": "null",
        "e-8": `{"repo":{"type":"dataset","name":"Acm\\u00e9/\\ud800\\u0000"},"event":{"scope":5}}`,
      };
      for (const [index, [id, body]] of Object.entries(bodies).entries()) {
        await inbox.accept({ ...incoming(id, { body }), receivedAt: time(10 * index) });
      }
    }

    /** Reads all pages, because the first one can end early on a busy machine. */
    async function ids(inbox: Inbox, options: ListOptions): Promise<string[]> {
      return (await listAll(inbox, options)).map(({ id }) => id);
    }

    const matches: readonly [string, ListOptions, string[]][] = [
      ["a repository with its type", { repository: "dataset:acme/data" }, ["d-4", "d-1"]],
      ["a repository of any type", { repository: "acme/data" }, ["d-4", "d-2", "d-1"]],
      ["the start of a repository", { repository: "acme/dat" }, []],
      ["a scope", { scope: "repo.content" }, ["d-2", "d-1"]],
      ["a broader scope", { scope: "repo" }, ["d-4"]],
      ["an action", { action: "create" }, ["d-4"]],
      ["all filters", { repository: "acme/data", scope: "repo.content", action: "update", search: "model" }, ["d-2"]],
      ["the first time", { receivedFrom: time(40) }, ["e-8", "e-7", "e-6", "e-5"]],
      ["the last time, which is excluded", { receivedUntil: time(20) }, ["d-2", "d-1"]],
      ["both times", { receivedFrom: time(10), receivedUntil: time(20) }, ["d-2"]],
      ["a time and a scope", { receivedFrom: time(10), scope: "repo.content" }, ["d-2"]],
      ["an ID", { search: "e-7" }, ["e-7"]],
      ["a part of an ID", { search: "-7" }, ["e-7"]],
      ["parts of the body", { search: "DATA-2 cme conf" }, ["d-3"]],
      ["a repository with its type as a word", { search: "model:acme/data" }, ["d-2"]],
      ["text that is not JSON", { search: "JSON not" }, ["e-5"]],
      ["a word with an accent", { search: "acme" }, ["e-8", "e-6", "d-4", "d-3", "d-2", "d-1"]],
      ["an escaped character", { search: "ACMÉ/" }, ["e-8", "e-6", "d-4", "d-3", "d-2", "d-1"]],
      ["words that no delivery contains", { search: "acme nothing" }, []],
      ["characters that no delivery contains", { search: "*-( AND" }, []],
      ["no words", { search: "  " }, ["e-8", "e-7", "e-6", "e-5", "d-4", "d-3", "d-2", "d-1"]],
    ];

    test("contains the deliveries that match, also while another process owns the inbox", async () => {
      const opened = await openInbox(engine);
      await fill(opened.inbox);
      const find = async (inbox: Inbox) => {
        const found: unknown[] = [];
        for (const [what, options] of matches) found.push([what, options, await ids(inbox, options)]);
        return found;
      };
      expect(await find(opened.inbox)).toEqual(matches);
      const { reader } = await lend(engine, opened);
      if (reader !== opened.inbox) expect(await find(reader)).toEqual(matches);
    });

    test("combines filters with an endpoint and a status", async () => {
      const { inbox } = await openInbox(engine);
      work(inbox, () => succeeded);
      await inbox.accept(incoming("a", { body: eventBody({}) }));
      await inbox.accept(incoming("b", { body: eventBody({}), endpoint: "other" }));
      await inbox.accept(incoming("c", { body: eventBody({ repository: "model:acme/net" }) }));
      for (const id of ["a", "c"]) await waitForStatus(inbox, id, "succeeded");
      expect(await ids(inbox, { repository: "acme/data" })).toEqual(["b", "a"]);
      expect(await ids(inbox, { repository: "acme/data", status: "succeeded" })).toEqual(["a"]);
      expect(await ids(inbox, { repository: "acme/data", endpoint: "other" })).toEqual(["b"]);
      expect(await ids(inbox, { repository: "acme/data", endpoint: "other", status: "succeeded" })).toEqual([]);
      expect(await ids(inbox, { repository: "acme/data", endpoint: "unknown" })).toEqual([]);
    });

    test("finds the code and the message of an error", async () => {
      const { inbox } = await openInbox(engine);
      work(inbox, ({ id, attempt }) =>
        id === "a" && attempt === 1 ? failed({ cause: new Error("The GPU is gone.") }) : succeeded,
      );
      for (const id of ["a", "b"]) await inbox.accept(incoming(id));
      for (const id of ["a", "b"]) await waitForStatus(inbox, id, "succeeded");
      expect(await ids(inbox, { search: "gpu" })).toEqual(["a"]);
      expect(await ids(inbox, { search: "handler_failed go" })).toEqual(["a"]);
    });

    test("finds the log lines of an attempt", async () => {
      const { inbox } = await openInbox(engine);
      const log = { at: 0, level: "info", message: "Trained on shard 17", fields: '{"loss":"low"}' } as const;
      work(inbox, ({ id }) => (id === "a" ? { ...succeeded, details: { logs: [log] } } : succeeded));
      for (const id of ["a", "b"]) await inbox.accept(incoming(id));
      for (const id of ["a", "b"]) await waitForStatus(inbox, id, "succeeded");
      expect(await ids(inbox, { search: "SHARD low" })).toEqual(["a"]);
      const { deliveries } = await inbox.list({ search: "shard" });
      expect(deliveries).toMatchObject([{ id: "a", attempts: [{ number: 1 }] }]);
      expect(deliveries[0]?.attempts[0]).not.toHaveProperty("details");
    });

    test("has pages that contain each matching delivery once", async () => {
      const { inbox } = await openInbox(engine);
      const names = Array.from({ length: 25 }, (_, index) => `d${index}`);
      for (const [index, id] of names.entries()) {
        const repository = index % 2 ? "model:acme/net" : "dataset:acme/data";
        await inbox.accept({ ...incoming(id, { body: eventBody({ repository }) }), receivedAt: time(index) });
      }
      expect(await ids(inbox, { repository: "model:acme/net", limit: 5 })).toEqual(
        names.filter((_, index) => index % 2).reverse(),
      );
    });

    test("rejects an invalid time", async () => {
      const { inbox } = await openInbox(engine);
      for (const options of [{ receivedFrom: new Date("x") }, { receivedUntil: new Date(Number.NaN) }])
        await expect(inbox.list(options)).rejects.toMatchObject({ code: "OPTION_INVALID" });
    });
  });
}
