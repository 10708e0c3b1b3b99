import type { Hono } from "hono";
import { resolvesWithin } from "../../core/time.ts";
import { consolePath } from "../../core/urls.ts";
import type { ServerContext } from "../context.ts";
import type { OpenedConsole } from "./open-console.ts";
import type { EarlierActivity } from "./snapshot.ts";
import type { ConsoleParts } from "./source.ts";

/** The console of a receiver. Its code is loaded when it is first used. */
export class ReceiverConsole {
  readonly #context: ServerContext;
  readonly #parts: ConsoleParts;
  #opening: Promise<OpenedConsole> | undefined;
  #restored: Promise<EarlierActivity> | undefined;

  constructor(context: ServerContext, parts: ConsoleParts) {
    this.#context = context;
    this.#parts = parts;
  }

  mount(app: Hono): void {
    for (const pattern of [consolePath, `${consolePath}/*`]) {
      app.all(pattern, async (context) => {
        const refused = this.#context.ownerCheck.refuseAll();
        return refused ?? (await this.open()).console.fetch(context.req.raw, context.env);
      });
    }
  }

  open(): Promise<OpenedConsole> {
    this.#opening ??= Promise.all([import("./open-console.ts"), this.#restored])
      .then(([{ openConsole }, earlier]) => openConsole(this.#context, this.#parts, earlier))
      .catch((error: unknown) => {
        // The next request tries again: the process may have been out of file descriptors.
        this.#opening = undefined;
        throw error;
      });
    return this.#opening;
  }

  /** Returns what the next process of a dev session needs to show the same deliveries and activity. */
  async takeSnapshot(): Promise<unknown> {
    const { takeSessionSnapshot } = await import("./snapshot.ts");
    return takeSessionSnapshot(this.#context, await this.#restored);
  }

  /** Restores what {@link takeSnapshot} returned in the previous process. Call this method before the console is opened. */
  async restore(snapshot: unknown): Promise<void> {
    this.#restored = import("./snapshot.ts").then(({ restoreSessionSnapshot }) =>
      restoreSessionSnapshot(this.#context, snapshot),
    );
    await this.#restored;
  }

  /** Ends the live streams, so that the server can stop, and waits up to `graceMs` for replays of inline deliveries. */
  async close(graceMs: number): Promise<void> {
    const opened = await this.#opening?.catch(() => undefined);
    if (!opened) return;
    opened.console.close();
    await resolvesWithin(opened.settle(), graceMs);
  }
}
