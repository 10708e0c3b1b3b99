import type { Ledger } from "./inbox-ledger.ts";
import type { InboxReceiver } from "./inbox-receiver.ts";

/** Counts the handler's runs of each delivery across all processes. */
export class RunCounts {
  readonly #runs = new Map<string, number>();

  add({ child }: InboxReceiver): void {
    for (const { msg, id } of child.lines) {
      if (msg === "target ran" && typeof id === "string") this.#runs.set(id, (this.#runs.get(id) ?? 0) + 1);
    }
  }

  /** Returns the deliveries that ran more often than their recorded crashes explain. */
  async repeatedWithoutCrash(ledger: Ledger): Promise<readonly string[]> {
    const ids = [...this.#runs.keys()].filter((id) => (this.#runs.get(id) ?? 0) > 1);
    const stored = await ledger.read(ids.map((id) => ({ id, endpoint: "target" })));
    return ids.filter((id, index) => {
      const crashes = (stored[index]?.attempts ?? []).filter(({ outcome }) => outcome === "abandoned").length;
      return (this.#runs.get(id) ?? 0) > 1 + crashes;
    });
  }
}
