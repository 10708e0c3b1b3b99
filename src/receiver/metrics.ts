import type { Registry } from "prom-client";
import { WebhookError } from "../core/errors.ts";
import { type Activity, activityOutcomes } from "./activity.ts";
import type { Endpoint } from "./endpoint.ts";
import type { InboxCounts } from "./inbox-counts.ts";

type PromClient = typeof import("prom-client");

/** What metrics are made from. */
export interface MetricsSource {
  activity: Activity;
  endpoints: ReadonlyMap<string, Endpoint>;
  inbox: InboxCounts;
}

/** In seconds: an answer to the Hub takes less than 25, work in the background may take an hour. */
const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60, 300, 900, 3600];

/** Of the process, not of a server: several servers of one process share it. */
let processRegistry: Registry | undefined;

/**
 * Loads `prom-client` and begins to measure. The function that is returned writes what there is in the text format of
 * Prometheus; everything is labelled by endpoint, so there are as many series as there are endpoints to cause them.
 *
 * @param load gets `prom-client`.
 * @throws `OPTION_INVALID` when `prom-client` is not installed.
 */
export async function openMetrics(
  { activity, endpoints, inbox }: MetricsSource,
  load: () => Promise<PromClient> = loadPromClient,
): Promise<() => Promise<Response>> {
  const { Registry, Counter, Gauge, Histogram, collectDefaultMetrics } = await load().catch((cause: unknown) => {
    throw clientMissing(cause);
  });
  const registry = new Registry();
  const registers = [registry];

  new Counter({
    name: "hub_webhooks_received_total",
    help: "Deliveries that came in; neither what was refused nor what was here before.",
    labelNames: ["endpoint"],
    registers,
    collect() {
      this.reset();
      for (const endpoint of endpoints.values()) this.inc({ endpoint: endpoint.name }, endpoint.activity.deliveries);
    },
  });

  new Counter({
    name: "hub_webhooks_deliveries_total",
    help: "Deliveries by how they ended; in the background a failed attempt that is followed by another is retrying.",
    labelNames: ["endpoint", "outcome"],
    registers,
    collect() {
      this.reset();
      for (const endpoint of endpoints.values()) {
        for (const outcome of activityOutcomes) {
          // Zeros too: a series that begins at one hides its first delivery from rate().
          if (outcome === "retrying" && !endpoint.background) continue;
          this.inc({ endpoint: endpoint.name, outcome }, endpoint.activity.countOf(outcome));
        }
      }
    },
  });

  const durations = new Histogram({
    name: "hub_webhooks_handler_duration_seconds",
    help: "How long handlers ran.",
    labelNames: ["endpoint"],
    buckets: durationBuckets,
    registers,
  });
  activity.observeRuns((endpoint, milliseconds) => durations.observe({ endpoint }, milliseconds / 1_000));

  new Gauge({
    name: "hub_webhooks_inbox_up",
    help: "Whether the inbox tells in time what it holds: 1 or 0; absent while none is open.",
    registers,
    async collect() {
      const counts = await inbox.read();
      if (counts === undefined) this.remove();
      else this.set(counts === "unknown" ? 0 : 1);
    },
  });

  new Gauge({
    name: "hub_webhooks_inbox_deliveries",
    help: "Deliveries in the inbox by status; the same on every server that shares it.",
    labelNames: ["endpoint", "status"],
    registers,
    async collect() {
      this.reset();
      const counts = await inbox.read();
      if (counts === undefined || counts === "unknown") return;
      for (const { name, background } of endpoints.values()) {
        if (!background) continue;
        const { queued = 0, running = 0, succeeded = 0, dead = 0 } = counts[name] ?? {};
        for (const [status, count] of Object.entries({ queued, running, succeeded, dead })) {
          this.set({ endpoint: name, status }, count);
        }
      }
    },
  });

  if (!processRegistry) {
    processRegistry = new Registry();
    collectDefaultMetrics({ register: processRegistry });
  }
  const ofProcess = processRegistry;

  return async () => {
    const texts = [await registry.metrics(), await ofProcess.metrics()];
    return new Response(texts.join(""), {
      headers: { "Content-Type": registry.contentType, "Cache-Control": "no-store" },
    });
  };
}

/** Not by a literal: a bundler would have to find the package, which most who use this one do not have. */
const packageName: string = "prom-client";

function loadPromClient(): Promise<PromClient> {
  return import(packageName);
}

function clientMissing(cause: unknown): WebhookError {
  return new WebhookError(
    "Metrics are switched on, and the package that writes them could not be loaded: run `npm install prom-client`, or leave out `metrics: true` and METRICS.",
    { code: "OPTION_INVALID", status: 503, cause },
  );
}
