import { vi } from "vitest";
import { connection, runStream, session } from "../../../src/console/app/api.ts";
import type { ConsoleStatus, DeliverySummary } from "../../../src/console/protocol/deliveries.ts";
import { ConsoleAccess } from "../../../src/console/server/access.ts";
import type { ConsoleResource } from "../../../src/console/server/api.ts";
import { type DeliveryQuery, type DeliverySource, deliveriesApi } from "../../../src/console/server/api.ts";
import { Console } from "../../../src/console/server/console.ts";
import { ConsoleEvents } from "../../../src/console/server/events.ts";

const startedAt = Date.UTC(2026, 10, 23, 12);
/** Each simulation starts a day after the last, because modules of the app keep the time of their last action. */
let simulatedDays = 0;
const token = "simulated-owner-token";

/** The deliveries of a server, whose console reads them at once. The newest is first. */
class StoredDeliveries implements DeliverySource {
  rows: DeliverySummary[] = [];
  #count = 0;

  /** Stores a delivery that is newer than all others. */
  add(changes: Partial<DeliverySummary> = {}): DeliverySummary {
    this.#count += 1;
    const id = `d-${this.#count}`;
    const given = { endpoint: this.#count % 3 === 0 ? "b" : "a", id, receivedAt: startedAt + this.#count };
    const row: DeliverySummary = { ...given, storage: "inbox", status: "queued", attempts: 0, ...changes };
    this.rows.unshift(row);
    return row;
  }

  /** Changes a delivery. `place`: counted from the newest. */
  change(place: number, status: ConsoleStatus): DeliverySummary | undefined {
    const row = this.rows[place];
    if (!row) return undefined;
    const changed = { ...row, status, attempts: row.attempts + 1 };
    this.rows[place] = changed;
    return changed;
  }

  matching({ endpoint, statuses }: DeliveryQuery, rows: readonly DeliverySummary[] = this.rows): DeliverySummary[] {
    return rows.filter(
      (row) => (endpoint === undefined || row.endpoint === endpoint) && (!statuses || statuses.includes(row.status)),
    );
  }

  async list(query: DeliveryQuery, { limit, cursor }: { limit: number; cursor: string | undefined }) {
    const older = this.rows.filter((row) => cursor === undefined || row.receivedAt < Number(cursor));
    // Like an inbox, it examines a limited number of deliveries at a time, so that a page can be empty and have a next one.
    const examined = query.statuses ? older : older.slice(0, 2 * limit);
    const deliveries = this.matching(query, examined).slice(0, limit);
    const last = deliveries.length === limit ? deliveries.at(-1) : examined.at(-1);
    const isLast = !last || last === older.at(-1);
    return { deliveries, totals: this.totals(), ...(!isLast && { next: `${last.receivedAt}` }) };
  }

  totals(): Partial<Record<ConsoleStatus, number>> {
    const totals: Partial<Record<ConsoleStatus, number>> = {};
    for (const { status } of this.rows) totals[status] = (totals[status] ?? 0) + 1;
    return totals;
  }

  get = async () => undefined;
  replay = unused;
  replayEdited = unused;
  countDead = unused;
  replayDead = unused;
  discard = unused;
}

function unused(): never {
  throw new Error("The simulation has no actions.");
}

/** A part of a transfer between the page and the server, which continues when the test decides. */
type Transfer = () => void;

/**
 * A page and the server of its console, with a network between them whose transfers the test delivers in any order. All timers are
 * simulated.
 */
export class SimulatedConsole {
  readonly stored = new StoredDeliveries();
  readonly events: ConsoleEvents = new ConsoleEvents({
    readDelivery: async ({ endpoint, id }) => {
      await this.#wait();
      const found = this.stored.rows.find((row) => row.id === id && row.endpoint === endpoint);
      await this.#wait();
      return found;
    },
  });
  readonly #console: Console;
  readonly #transfers: Transfer[] = [];
  readonly #stop = new AbortController();
  readonly #cuts = new Set<() => void>();
  #isDown = false;
  #isDamaged = false;
  isSignedIn = true;
  /** The answer of the server to the next requests of a list. */
  failure: number | undefined;
  /** The requests that the server has received, without streams. */
  readonly requests: string[] = [];

  constructor(resources: readonly ConsoleResource[] = []) {
    this.#console = new Console({
      ...{ place: "receiver", features: () => ["deliveries"], version: "1.2.3", events: this.events },
      access: new ConsoleAccess({ token, now: () => startedAt }),
      resources: [deliveriesApi(this.stored), ...resources],
      onError: (error) => {
        throw error;
      },
    });
  }

  get waitingTransfers(): number {
    return this.#transfers.length;
  }

  /** The number of open streams. */
  get streams(): number {
    return this.events.subscribers;
  }

  /** Stores new deliveries, and reports each to the page. */
  arrive(count = 1): void {
    for (let added = 0; added < count; added += 1) this.events.deliveryChanged(this.stored.add());
  }

  /** Stores new deliveries, and only reports that the list has changed. */
  missed(count: number): void {
    for (let added = 0; added < count; added += 1) this.stored.add();
    this.events.changed("deliveries");
  }

  /** Starts the page's stream. */
  connect(): void {
    void runStream(this.#stop.signal);
  }

  /** Closes the page. */
  async close(): Promise<void> {
    this.#stop.abort();
    // The page handles the last messages.
    await vi.advanceTimersByTimeAsync(1_000);
    this.events.close();
  }

  /** Ends all connections. New ones fail until {@link restore} is called. */
  cut(): void {
    this.#isDown = true;
    for (const cut of [...this.#cuts]) cut();
  }

  restore(): void {
    this.#isDown = false;
  }

  /** Damages the next part of the stream. */
  damage(): void {
    this.#isDamaged = true;
  }

  /** Continues one of the transfers that wait, and lets everything run that depends on it. */
  async deliver(choice: number): Promise<void> {
    const [transfer] = this.#transfers.splice(choice % Math.max(1, this.#transfers.length), 1);
    transfer?.();
    await vi.advanceTimersByTimeAsync(0);
  }

  /** Continues all transfers that wait, and those that follow at once. */
  async deliverAll(): Promise<void> {
    for (let count = 0; this.#transfers.length > 0; count += 1) {
      if (count > 10_000) throw new Error("The page sends requests without an end.");
      await this.deliver(0);
    }
  }

  /** Lets time pass in steps, after each of which everything arrives. In milliseconds. */
  async pass(ms: number, stepMs: number = ms): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await vi.advanceTimersByTimeAsync(stepMs);
      await this.deliverAll();
    }
  }

  /** Continues everything for a second, except the transfer that has waited longest. */
  async delayOldest(): Promise<void> {
    for (let round = 0; round < 4; round += 1) {
      for (let count = 0; this.#transfers.length > 1 && count < 1_000; count += 1) await this.deliver(1);
      await vi.advanceTimersByTimeAsync(250);
    }
  }

  /** Repairs the network, and continues everything until nothing happens any longer except heartbeats. */
  async settle(): Promise<void> {
    this.restore();
    this.failure = undefined;
    for (let [quietSeconds, seconds] = [0, 0]; quietSeconds < 8; quietSeconds += 1, seconds += 1) {
      if (seconds > 300) throw new Error("The page does not come to rest.");
      if (this.#transfers.length > 0 || connection.value !== "live") quietSeconds = 0;
      await this.deliverAll();
      await vi.advanceTimersByTimeAsync(1_000);
    }
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => this.#transfers.push(resolve));
  }

  readonly fetch = async (url: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const request = new Request(url, { ...init, signal: null });
    const { signal } = init;
    const isStream = request.url.endsWith("/stream");
    const cut = Promise.withResolvers<never>();
    cut.promise.catch(() => {});
    const lost = () => cut.reject(new TypeError("The connection is lost."));
    this.#cuts.add(lost);
    signal?.addEventListener("abort", () => cut.reject(signal.reason));
    if (this.#isDown || signal?.aborted) lost();
    if (this.isSignedIn) request.headers.set("authorization", `Bearer ${token}`);
    try {
      await Promise.race([this.#wait(), cut.promise]);
      if (!isStream) this.requests.push(request.url);
      const response =
        isStream || this.failure === undefined
          ? await this.#console.fetch(request)
          : Response.json({ error: "The inbox is down.", code: "INBOX_UNAVAILABLE" }, { status: this.failure });
      // The connection can be lost before the first byte arrives.
      await Promise.race([this.#wait(), cut.promise]).catch(async (error: unknown) => {
        await response.body?.cancel();
        throw error;
      });
      if (!isStream || !response.body) return response;
      return new Response(this.#relay(response.body, cut.promise), response);
    } finally {
      if (!isStream) this.#cuts.delete(lost);
    }
  };

  /** Passes on a stream. Its parts arrive in order, but late. */
  #relay(body: ReadableStream<Uint8Array>, cut: Promise<never>): ReadableStream<Uint8Array> {
    const reader = body.getReader();
    return new ReadableStream({
      pull: async (controller) => {
        try {
          const { done, value } = await Promise.race([reader.read(), cut]);
          if (done) return controller.close();
          await Promise.race([this.#wait(), cut]);
          controller.enqueue(this.#isDamaged ? new TextEncoder().encode("data: {\n\n") : value);
          this.#isDamaged = false;
        } catch (error) {
          await reader.cancel();
          controller.error(error);
        }
      },
      cancel: () => reader.cancel(),
    });
  }
}

/** Opens a simulated console. Its page is signed in. */
export function openSimulatedConsole(resources: readonly ConsoleResource[] = []): SimulatedConsole {
  simulatedDays += 1;
  vi.useFakeTimers({
    now: startedAt + simulatedDays * 86_400_000,
    toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"],
  });
  vi.spyOn(performance, "now").mockImplementation(Date.now);
  vi.spyOn(Math, "random").mockReturnValue(0.5);
  const opened = new SimulatedConsole(resources);
  vi.stubGlobal("document", { baseURI: "http://localhost/_console/" });
  vi.stubGlobal("fetch", opened.fetch);
  session.value = { signedIn: true, place: "receiver", features: ["deliveries"], csrfToken: "", version: "1.2.3" };
  return opened;
}

/** Makes requests time out by the simulated time. Each leaves a timer. */
export function simulateRequestTimeouts(): void {
  vi.spyOn(AbortSignal, "timeout").mockImplementation((ms) => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), ms);
    return controller.signal;
  });
}

/** Removes what {@link openSimulatedConsole} has replaced. */
export function closeSimulatedConsole(): void {
  session.value = undefined;
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  vi.useRealTimers();
}
