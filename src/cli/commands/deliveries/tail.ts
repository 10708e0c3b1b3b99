import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import type { Command } from "commander";
import type { Duration } from "../../../core/duration.ts";
import type { DeliveryStatus } from "../../../inbox/stored-delivery.ts";
import { examples } from "../../examples.ts";
import { DeliveryFollower } from "./delivery-follower.ts";
import { DeliveryLines } from "./delivery-lines.ts";
import {
  type DeliveriesContext,
  endpointName,
  endpointOption,
  numberBetween,
  parseDuration,
  statusOption,
} from "./delivery-options.ts";

interface TailOptions {
  endpoint?: string;
  status?: DeliveryStatus;
  last: number;
  interval: Duration;
}

/** Adds `hub-webhooks deliveries tail`. */
export function addTail(deliveries: Command, { invocation, access }: DeliveriesContext): void {
  deliveries
    .command("tail")
    .description("write a line for each delivery when it arrives and when its status changes, until interrupted")
    .addOption(endpointOption("only those of this endpoint of the server"))
    .addOption(statusOption("only when a delivery reaches this status"))
    .option("--last <number>", "begin with so many that are there already, 0 to 100", numberBetween(0, 100), 10)
    .option<Duration>("--interval <duration>", "how often to look", parseDuration, "1s")
    .addHelpText(
      "after",
      examples(
        "hub-webhooks deliveries tail",
        "hub-webhooks deliveries tail --status dead --last 0",
        "hub-webhooks deliveries tail --format json | jq .id    # an object a line",
      ),
    )
    .action(async ({ status, last, interval, ...options }: TailOptions) => {
      const endpoint = endpointName(options, invocation);
      const { toMilliseconds } = await import("../../../core/duration.ts");
      const intervalMs = toMilliseconds(interval, "--interval");
      const { output, shell } = invocation;
      const stop = new AbortController();
      const end = () => stop.abort();
      shell.untilStopped().then(end);
      // Nobody reads any more, as behind `| head -1`.
      shell.stdout.once("error", end);
      await access.use(async (inbox) => {
        const follower = new DeliveryFollower({ inbox, endpoint });
        const lines = new DeliveryLines(output);
        for (const delivery of await follower.begin({ last, status })) lines.write(delivery);
        while (await isTime(intervalMs, stop.signal)) {
          const { changed, hasMissed } = await follower.look();
          for (const delivery of changed) {
            if (status === undefined || delivery.status === status) lines.write(delivery);
          }
          if (hasMissed) output.say("More arrived than one look finds: look more often, with a shorter --interval.");
          // What a slow reader has not taken must not pile up in memory.
          if (shell.stdout.writableNeedDrain) await once(shell.stdout, "drain", { signal: stop.signal }).catch(end);
        }
      });
      shell.stdout.off("error", end);
    });
}

/** Waits until it is time to look again; `false` when it is time to end instead. */
async function isTime(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  try {
    await wait(milliseconds, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}
