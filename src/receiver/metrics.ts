import type { Registry } from "prom-client";
import { WebhookError } from "../core/errors.ts";
import type { ServerContext } from "./context.ts";
import { activityOutcomes } from "./counts.ts";
import type { InboxCounts, InboxReader } from "./inbox.ts";

/** The buckets of handler durations, in seconds: up to 25 s before a response, and up to an hour in the background. */
const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60, 300, 900, 3600];

let processRegistry: Registry | undefined;

/** The package name is in a variable, so that bundlers do not require the optional package. */
const packageName: string = "prom-client";

/**
 * Loads `prom-client` and starts to collect metrics. The returned function creates a response with all metrics in the text
 * format of Prometheus, labeled by endpoint.
 *
 * @throws `OPTION_INVALID` when `prom-client` is not installed.
 */
export async function openMetrics(
  { activity, catchUps, endpoints: { byName: endpoints } }: ServerContext,
  inbox: InboxReader<InboxCounts>,
): Promise<() => Promise<Response>> {
  const loading: Promise<typeof import("prom-client")> = import(packageName);
  const { Registry, Counter, Gauge, Histogram, collectDefaultMetrics } = await loading.catch((cause: unknown) => {
    throw new WebhookError(
      "Metrics are enabled, but prom-client could not be loaded. Run `npm install prom-client`, or disable metrics by removing `metrics: true` and METRICS.",
      { code: "OPTION_INVALID", status: 503, cause },
    );
  });
  const registry = new Registry();
  const registers = [registry];
  const perEndpoint = { labelNames: ["endpoint"], registers };

  new Counter({
    name: "hub_webhooks_received_total",
    help: "Deliveries received, excluding refused and duplicate deliveries.",
    ...perEndpoint,
    collect() {
      this.reset();
      for (const endpoint of endpoints.values()) this.inc({ endpoint: endpoint.name }, endpoint.activity.deliveries);
    },
  });

  new Counter({
    name: "hub_webhooks_deliveries_total",
    help: "Deliveries by outcome. Failed background attempts count as retrying, or as dead if they are not retried.",
    labelNames: ["endpoint", "outcome"],
    registers,
    collect() {
      this.reset();
      for (const endpoint of endpoints.values()) {
        for (const outcome of activityOutcomes) {
          if (outcome === "failed" && endpoint.queue) continue;
          if ((outcome === "retrying" || outcome === "dead") && !endpoint.queue) continue;
          // Includes zeros, because rate() ignores the first delivery of a series that starts at one.
          this.inc({ endpoint: endpoint.name, outcome }, endpoint.activity.countOf(outcome));
        }
      }
    },
  });

  const durations = new Histogram({
    name: "hub_webhooks_handler_duration_seconds",
    help: "Duration of handler runs.",
    ...perEndpoint,
    buckets: durationBuckets,
  });
  activity.observeRuns((endpoint, milliseconds) => durations.observe({ endpoint }, milliseconds / 1_000));

  new Gauge({
    name: "hub_webhooks_inbox_up",
    help: "Whether the inbox responds in time: 1 or 0. Missing while no inbox is open.",
    registers,
    async collect() {
      const counts = await inbox.read();
      if (counts === undefined) this.remove();
      else this.set(counts === "unknown" ? 0 : 1);
    },
  });

  new Gauge({
    name: "hub_webhooks_inbox_deliveries",
    help: "Deliveries in the inbox by status. All servers that share an inbox report the same values.",
    labelNames: ["endpoint", "status"],
    registers,
    async collect() {
      this.reset();
      const counts = await inbox.read();
      if (counts === undefined || counts === "unknown") return;
      for (const { name, queue } of endpoints.values()) {
        if (!queue) continue;
        const { queued = 0, running = 0, succeeded = 0, ignored = 0, dead = 0, cancelled = 0 } = counts[name] ?? {};
        for (const [status, count] of Object.entries({ queued, running, succeeded, ignored, dead, cancelled })) {
          this.set({ endpoint: name, status }, count);
        }
      }
    },
  });

  new Counter({
    name: "hub_webhooks_catch_up_derived_total",
    help: "Missed deliveries that catch-up has derived.",
    ...perEndpoint,
    collect() {
      this.reset();
      for (const [endpoint, { derived }] of catchUps) this.inc({ endpoint }, derived);
    },
  });
  new Gauge({
    name: "hub_webhooks_catch_up_remaining_repositories",
    help: "Repositories that the running comparison with the Hub has not compared yet.",
    ...perEndpoint,
    collect() {
      for (const [endpoint, { remaining }] of catchUps) this.set({ endpoint }, remaining);
    },
  });
  new Gauge({
    name: "hub_webhooks_catch_up_timestamp_seconds",
    help: "When the last comparison with the Hub ended.",
    ...perEndpoint,
    collect() {
      for (const [endpoint, { comparedAt }] of catchUps) {
        if (comparedAt !== undefined) this.set({ endpoint }, comparedAt / 1_000);
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
