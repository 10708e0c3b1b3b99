import { describe, expect, expectTypeOf, test } from "vitest";
import { HubClient, type HubClientOptions } from "../../src/client.ts";
import { WebhooksServer } from "../../src/index.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";

describe("The type of the Hub client", () => {
  test("is HubClient, in handlers and on the server", () => {
    const server = new WebhooksServer({ logger: createMemoryLogger() });
    server.webhook("any", (_payload, { hub }) => expectTypeOf(hub).toEqualTypeOf<HubClient>());
    server.webhook("paths", { scope: "repo.content", paths: ["data/**"], ignoreSelf: true }, (payload, { hub }) => {
      expectTypeOf(hub.repo(payload.repo).readText("README.md")).toEqualTypeOf<Promise<string>>();
    });
    expectTypeOf(server.hub).toEqualTypeOf<HubClient>();
    expect(server.endpointNames).toEqual(["any", "paths"]);
  });

  test("is set by a client or by its options, whose fetch function has typed parameters", () => {
    const logger = createMemoryLogger();
    const client = new HubClient({ token: "hf_local" });
    const options: HubClientOptions = { token: "hf_local" };
    expect([client, options].map((hub) => new WebhooksServer({ logger, hub }).endpointNames)).toEqual([[], []]);
    new WebhooksServer({
      logger,
      hub: {
        fetch: async (input, init) => {
          expectTypeOf(input).toEqualTypeOf<Parameters<typeof fetch>[0]>();
          return fetch(input, init);
        },
      },
    });
    // @ts-expect-error A text is no client.
    expect(() => new WebhooksServer({ logger, hub: "hf_local" })).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID" }),
    );
  });
});
