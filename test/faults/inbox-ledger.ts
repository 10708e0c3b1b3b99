import { expect, onTestFinished } from "vitest";
import type { DeliveryKey, DeliveryStatus, Inbox, StoredDelivery } from "../../src/inbox/inbox.ts";
import { openInbox } from "../../src/inbox/open-inbox.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { holdsSecret } from "../support/secrets.ts";
import { waitFor } from "../support/wait-for.ts";
import { secret } from "./receiver.ts";
import { noteAccount } from "./rows.ts";

/** The acknowledged deliveries, counted by status. */
export type Account = Readonly<Record<DeliveryStatus | "acknowledged" | "lost", number>>;

/** Records the deliveries that receivers acknowledged, to verify at the end that none is lost. */
export class Ledger {
  readonly #url: string;
  readonly #acknowledged = new Map<string, DeliveryKey>();
  #reader: Promise<Inbox> | undefined;
  #latest: Account | undefined;

  /** @param url The inbox URL. */
  constructor(url: string) {
    this.#url = url;
  }

  acknowledge(key: DeliveryKey): void {
    this.#acknowledged.set(`${key.endpoint} ${key.id}`, key);
  }

  /** Reads deliveries as a second process on the same inbox would. */
  async read(keys: readonly DeliveryKey[]): Promise<(StoredDelivery | undefined)[]> {
    this.#reader ??= this.#openReader();
    const inbox = await this.#reader;
    return Promise.all(keys.map((key) => inbox.get(key)));
  }

  /** Waits until a delivery has this status and returns it. */
  async waitForStatus(key: DeliveryKey, status: DeliveryStatus): Promise<StoredDelivery | undefined> {
    return waitFor(async () => {
      const [found] = await this.read([key]);
      expect(found).toMatchObject({ status });
      return found;
    });
  }

  /** Waits until the counts of the acknowledged deliveries match. */
  async settles(expected: Partial<Account>): Promise<Account> {
    return waitFor(async () => {
      const account = await this.#count();
      expect(account).toMatchObject({ running: 0, lost: 0, ...expected });
      return account;
    });
  }

  /**
   * Waits until no delivery is running, prints the counts of all acknowledged deliveries, and fails if one is lost or a
   * delivery contains the secret.
   */
  async account(row: string, engine: string, expected: Partial<Account> = {}): Promise<Account> {
    const account = await this.settles(expected).finally(() => this.#latest && noteAccount(this.#latest));
    const { acknowledged, succeeded, dead, queued, lost } = account;
    console.log(
      `${row} ${engine}: ${acknowledged} acknowledged, ${succeeded} succeeded, ${dead} dead, ${queued} queued, ${lost} lost`,
    );
    expect(acknowledged).toBe(succeeded + dead + queued);
    expect(acknowledged).toBeGreaterThan(0);
    return account;
  }

  async #openReader(): Promise<Inbox> {
    const inbox = await openInbox({
      url: this.#url,
      now: Date.now,
      log: createMemoryLogger(),
      access: "read",
    });
    onTestFinished(async () => void (await inbox.close(0)));
    return inbox;
  }

  async #count(): Promise<Account> {
    const account = {
      acknowledged: 0,
      succeeded: 0,
      ignored: 0,
      dead: 0,
      queued: 0,
      running: 0,
      cancelled: 0,
      lost: 0,
    };
    for (const found of await this.read([...this.#acknowledged.values()])) {
      account.acknowledged += 1;
      account[found?.status ?? "lost"] += 1;
      expect(holdsSecret(found, secret)).toBe(false);
    }
    this.#latest = account;
    return account;
  }
}
