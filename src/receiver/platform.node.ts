/*
 * What differs between runtimes. In bundles for edge workers and browsers, the "browser" field of package.json replaces this file with
 * `platform.worker.ts`, so that the bundle contains neither Node modules nor the console. `server.ts` passes these exports to the
 * parts that need them. Each function loads a module on first use.
 */
import type { Hono } from "hono";
import { resolvesWithin } from "../core/time.ts";
import { consolePath } from "../core/urls.ts";
import type { ConsoleParts } from "./console/inbox.ts";
import type { OpenedConsole } from "./console/open-console.ts";
import type { EarlierActivity } from "./console/snapshot.ts";
import type { ServerContext } from "./context.ts";

export { DeliveryHistory } from "./history.ts";

export const loadCatchUp = () => import("./catch-up.ts");
export const loadErrorPage = () => import("../console/pages/error-page.ts");
export const loadHubClient = () => import("../hub/client.ts");
export const loadLandingPage = () => import("./landing/landing-page.ts");
export const loadMetrics = () => import("./metrics.ts");
export const loadNodeLogger = () => import("./node/node-logger.ts");
export const loadStart = () => import("./node/start-server.ts");

/** `undefined` in a runtime that cannot open an inbox, which requires Node modules. Bun and Deno support these modules. */
export const loadInbox =
  typeof process !== "undefined" && process.versions?.node !== undefined
    ? () => import("../inbox/open-inbox.ts")
    : undefined;

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
    this.#opening ??= Promise.all([import("./console/open-console.ts"), this.#restored])
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
    const { takeSessionSnapshot } = await import("./console/snapshot.ts");
    return takeSessionSnapshot(this.#context, await this.#restored);
  }

  /** Restores what {@link takeSnapshot} returned in the previous process. Call this method before the console is opened. */
  async restore(snapshot: unknown): Promise<void> {
    this.#restored = import("./console/snapshot.ts").then(({ restoreSessionSnapshot }) =>
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
