import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { type Duration, toMilliseconds } from "../../../core/options.ts";
import { plainJson, plainText } from "../../../core/terminal.ts";
import type { DeliveryKey, DeliveryStatus } from "../../../inbox/inbox.ts";
import type { ServerInbox } from "../../../receiver/inbox.ts";
import { type Output, padColumn } from "../../invocation.ts";
import { type CliCommand, numberBetween } from "../../usage.ts";
import { deliveryColumns, type ListedDelivery, listDeliveries, toListedDelivery } from "./delivery-list.ts";
import { type DeliveriesContext, endpointOption, parseDuration, statusOption } from "./inbox-access.ts";

interface TailOptions {
  endpoint?: string;
  status?: DeliveryStatus;
  last: number;
  interval: Duration;
}

export function addTailDeliveries(deliveries: CliCommand, { invocation, access }: DeliveriesContext): void {
  deliveries
    .command("tail")
    .description("print a line whenever a delivery arrives or changes, until stopped")
    .addOption(endpointOption("only print deliveries of this endpoint"))
    .addOption(statusOption("only print deliveries with this status"))
    .option("--last <number>", "number of existing deliveries to print first, 0 to 100", numberBetween(0, 100), 10)
    .option<Duration>("--interval <duration>", "poll interval", parseDuration, "1s")
    .examples(
      "deliveries tail",
      "deliveries tail --status dead --last 0",
      "deliveries tail --format json | jq .id    # one object per line",
    )
    .action(async ({ endpoint, status, last, interval }: TailOptions) => {
      const intervalMs = toMilliseconds(interval, "--interval");
      const { output, shell } = invocation;
      const stop = new AbortController();
      const onStop = () => stop.abort();
      shell.untilStopped().then(onStop);
      await access.use(async (inbox, opened) => {
        const warned = new Set<string>();
        const follower = new DeliveryFollower({ inbox, endpoint });
        const print = createPrinter(output);
        for (const delivery of await follower.start({ last, status })) print(delivery);
        while (await wait(intervalMs, true, { signal: stop.signal }).catch(() => false)) {
          const { changed, hasMissed } = await follower.poll();
          for (const delivery of changed) {
            if (status === undefined || delivery.status === status) print(delivery);
          }
          if (hasMissed) {
            output.log(
              "Some deliveries were missed, because more arrived than one poll reads. Use a shorter --interval.",
            );
          }
          for (const { message } of await opened.problems()) {
            if (!warned.has(message))
              output.log(`warning: ${message} To follow another inbox, run this command again.`);
            warned.add(message);
          }
          // Wait for a slow reader. Otherwise, the output accumulates in memory.
          if (shell.stdout.writableNeedDrain) await once(shell.stdout, "drain", { signal: stop.signal }).catch(onStop);
        }
      });
    });
}

/**
 * The column widths, in characters. They are fixed because lines are printed one at a time. Most of the Hub's delivery
 * IDs have 36 characters.
 */
const widths: Readonly<Record<string, number>> = {
  id: 36,
  endpoint: 16,
  status: 9,
  event: 25,
  repo: 24,
  subject: 8,
  receivedAt: 24,
  duration: 8,
  attempts: 8,
};

/** Returns a function that prints a delivery on one line: as a JSON object, an ID, or the columns of a list. */
function createPrinter(output: Output): (delivery: ListedDelivery) => void {
  const isTable = output.format === "table";
  const columns = Object.entries(deliveryColumns);
  const printCells = (cells: readonly string[]) => {
    const padded = columns.map(([key], index) => padColumn(cells[index] ?? "", widths[key] ?? 0));
    output.print(isTable ? padded.join("  ").trimEnd() : cells.join("\t"));
  };
  let hasHeading = false;
  return (delivery) => {
    if (output.format === "json") return output.print(plainJson(delivery));
    if (output.format === "quiet") return output.print(plainText(delivery.id));
    if (!hasHeading) printCells(columns.map(([key, { title }]) => (isTable ? title.toUpperCase() : key)));
    hasHeading = true;
    printCells(columns.map(([, { cell }]) => plainText(cell(delivery)) || (isTable ? "-" : "")));
  };
}

/**
 * The number of deliveries per page. Each poll reads at least the newest page, including finished deliveries, because
 * they can be replayed.
 */
const pageSize = 100;
/** The maximum number of new deliveries that one poll reads. */
const maxNew = 1_000;
/** The maximum number of deliveries to follow. The least recently changed deliveries are dropped first. */
const maxFollowed = 2_000;

interface Followed extends DeliveryKey {
  /** The status and the number of attempts, to detect changes. */
  state: string;
  isDone: boolean;
}

/**
 * Polls an inbox for new and changed deliveries. Follows the newest deliveries and every later delivery until it is
 * finished. Older deliveries are ignored.
 */
export class DeliveryFollower {
  readonly #inbox: ServerInbox;
  readonly #filter: { endpoint?: string };
  // Ordered by the time of the latest change.
  readonly #followed = new Map<string, Followed>();

  /** @param options.endpoint Restricts the deliveries to one endpoint. Default: all endpoints. */
  constructor({ inbox, endpoint }: { inbox: ServerInbox; endpoint: string | undefined }) {
    this.#inbox = inbox;
    this.#filter = endpoint === undefined ? {} : { endpoint };
  }

  /** Starts to follow deliveries. Returns the latest `last` existing deliveries, optionally with one status, oldest first. */
  async start({ last, status }: { last: number; status: DeliveryStatus | undefined }): Promise<ListedDelivery[]> {
    const { deliveries } = await listDeliveries(this.#inbox, { ...this.#filter, limit: pageSize });
    this.#record(deliveries.reverse());
    if (last === 0) return [];
    const shown = await listDeliveries(this.#inbox, { ...this.#filter, ...(status && { status }), limit: last });
    shown.deliveries.reverse();
    // This list can include changes that were made after the first list was read.
    this.#record(shown.deliveries);
    return shown.deliveries;
  }

  /**
   * Returns the new and changed deliveries, oldest first, and whether some were missed because more arrived since the previous poll
   * than one poll reads.
   */
  async poll(): Promise<{ changed: readonly ListedDelivery[]; hasMissed: boolean }> {
    const { newest, hasMissed } = await this.#readNewest();
    const others = await this.#readUnfinished(new Set(newest.map(keyOf)));
    return { changed: this.#record([...others, ...newest.reverse()]), hasMissed };
  }

  /** Reads the newest deliveries back to the oldest followed delivery. Older deliveries arrived before the follower started. */
  async #readNewest(): Promise<{ newest: ListedDelivery[]; hasMissed: boolean }> {
    const isFollowed = (delivery: ListedDelivery) => this.#followed.has(keyOf(delivery));
    const newest: ListedDelivery[] = [];
    let next: string | undefined;
    do {
      const page = await listDeliveries(this.#inbox, {
        ...this.#filter,
        limit: pageSize,
        ...(next !== undefined && { cursor: next }),
      });
      newest.push(...page.deliveries);
      next = page.next;
    } while (next !== undefined && newest.length < maxNew && !newest.some(isFollowed));
    const oldest = newest.findLastIndex(isFollowed);
    return {
      newest: oldest === -1 ? newest : newest.slice(0, oldest + 1),
      hasMissed: oldest === -1 && next !== undefined,
    };
  }

  /** Reads the unfinished deliveries that are no longer among the newest. */
  async #readUnfinished(seen: ReadonlySet<string>): Promise<ListedDelivery[]> {
    const found: ListedDelivery[] = [];
    for (const [key, { id, endpoint, isDone }] of this.#followed) {
      if (isDone || seen.has(key)) continue;
      const delivery = await this.#inbox.get(id, { endpoint });
      if (delivery) found.push(toListedDelivery(delivery));
      else this.#followed.delete(key);
    }
    return found;
  }

  /** Adds deliveries to the followed ones, and returns those that have changed. */
  #record(deliveries: readonly ListedDelivery[]): ListedDelivery[] {
    const changed = deliveries.filter((delivery) => {
      const { id, endpoint, status, attempts } = delivery;
      const key = keyOf(delivery);
      const state = `${status} ${attempts.length}`;
      const before = this.#followed.get(key);
      this.#followed.delete(key);
      this.#followed.set(key, { id, endpoint, state, isDone: status !== "queued" && status !== "running" });
      return before?.state !== state;
    });
    for (const key of this.#followed.keys()) {
      if (this.#followed.size <= maxFollowed) break;
      this.#followed.delete(key);
    }
    return changed;
  }
}

function keyOf({ id, endpoint }: DeliveryKey): string {
  return `${endpoint} ${id}`;
}
