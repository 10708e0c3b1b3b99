import { afterAll, beforeAll, beforeEach, vi } from "vitest";
import type { HubClientOptions, HubRepository } from "../../../src/client.ts";
import { createObservedClient, HubClient } from "../../../src/hub/client.ts";
import type { ActionObserver, MadeChange } from "../../../src/hub/repositories/action-observer.ts";
import { LocalHub } from "../../../src/local-hub.ts";

/** How a request fails after the Hub has received it. */
export type Loss = "answer" | "request";

/** A `fetch` that loses requests and answers. */
export interface LossyFetch {
  fetch: typeof fetch;
  /** `POST /path` of each request. */
  calls: string[];
  /** Loses the next request whose `METHOD /path` matches, or its answer. */
  loseNext(pattern: RegExp, loss: Loss): void;
}

/** A repository on a local Hub, and the client that calls it. */
export interface OpenedRepository {
  repo: HubRepository;
  client: HubClient;
  network: LossyFetch;
  /** Returns the requests that change the repository. */
  writes(): string[];
  /** Creates another client of the same or another user, such as after a restart. */
  connect(options?: HubClientOptions): HubRepository;
  /** The changes that were reported to the observer. `undefined`: a change that has not ended. */
  observed: (readonly MadeChange[] | undefined)[];
}

const readingPosts = /\/(?:paths-info|preupload)\//;

/**
 * Launches a local Hub for the tests of a file, and sets the random part of each wait between attempts to 0. Returns a function that
 * creates a repository with a new name.
 */
export function useLocalHub(): (options?: { signature?: string }) => Promise<OpenedRepository> {
  let hub: LocalHub;
  let count = 0;
  beforeAll(async () => {
    hub = await LocalHub.launch();
  });
  afterAll(() => hub.close());
  beforeEach(() => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    return () => vi.restoreAllMocks();
  });

  return async ({ signature } = {}) => {
    const network = createLossyFetch();
    const observed: OpenedRepository["observed"] = [];
    const options = { hubUrl: hub.url, token: "hf_local", fetch: network.fetch, attempts: 2 };
    const observer: ActionObserver = {
      begin() {
        const index = observed.push(undefined) - 1;
        return {
          async done(made) {
            observed[index] = made;
          },
        };
      },
    };
    const open = (changes: HubClientOptions = {}) =>
      signature === undefined
        ? new HubClient({ ...options, ...changes })
        : createObservedClient({ ...options, ...changes }, { observer, signature });
    const client = open();
    const { name } = await client.whoami();
    count += 1;
    const ref = { type: "dataset", name: `${name}/data-${count}` };
    await client.fetch("/api/repos/create", {
      method: "POST",
      body: JSON.stringify({ type: ref.type, name: `data-${count}` }),
    });
    network.calls.length = 0;
    return {
      repo: client.repo(ref),
      client,
      network,
      writes: () => network.calls.filter((call) => !call.startsWith("GET ") && !readingPosts.test(call)),
      connect: (changes) => open(changes).repo(ref),
      observed,
    };
  };
}

function createLossyFetch(): LossyFetch {
  const calls: string[] = [];
  let next: { pattern: RegExp; loss: Loss } | undefined;
  return {
    calls,
    loseNext(pattern, loss) {
      next = { pattern, loss };
    },
    async fetch(input, init) {
      const call = `${init?.method} ${new URL(String(input)).pathname}`;
      calls.push(call);
      const loss = next?.pattern.test(call) ? next.loss : undefined;
      if (loss !== undefined) next = undefined;
      if (loss !== "request") {
        const response = await fetch(input, init);
        if (loss === undefined) return response;
        await response.arrayBuffer();
      }
      throw new TypeError("fetch failed", {
        cause: Object.assign(new Error("socket hang up"), { code: "ECONNRESET" }),
      });
    },
  };
}
