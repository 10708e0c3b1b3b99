import { inspect } from "node:util";
import type { WebhookError } from "../core/errors.ts";

/** The events of an open tunnel, and the values that its listeners receive. */
export interface TunnelEvents {
  /** Deliveries arrive again after a `down`. */
  up: [];
  /** Deliveries no longer arrive. The error contains the reason. The tunnel tries to reconnect until it is closed. */
  down: [error: WebhookError];
  /** The public URL has changed. Emitted before `up`. Update webhooks that point to the old URL. */
  urlChanged: [url: string];
  /**
   * The tunnel was lost or could not be reopened (`TUNNEL_FAILED`), or the server assigned a name other than the
   * requested one (`TUNNEL_NAME_TAKEN`). Without a listener, the error is ignored and does not end the process.
   */
  error: [error: WebhookError];
}

/** A listener for one of {@link TunnelEvents}. */
export type TunnelEventListener<Name extends keyof TunnelEvents> = (...values: TunnelEvents[Name]) => void;

/**
 * The listeners of a tunnel. Does not use `EventEmitter`, which throws if an "error" event has no listener and would
 * end the process.
 *
 * @example
 * ```ts
 * const listeners = new TunnelListeners();
 * const stopListening = listeners.add("up", () => console.log("up again"));
 * listeners.emit("up");
 * ```
 */
export class TunnelListeners {
  readonly #listeners: { [Name in keyof TunnelEvents]: Set<TunnelEventListener<Name>> } = {
    up: new Set(),
    down: new Set(),
    urlChanged: new Set(),
    error: new Set(),
  };

  /** Adds a listener and returns the function that removes it. */
  add<Name extends keyof TunnelEvents>(event: Name, listener: TunnelEventListener<Name>): () => void {
    const listeners = this.#listeners[event];
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }

  /**
   * Calls every listener of an event in the order of registration. If a listener throws or rejects, the error is
   * reported with `process.emitWarning`, and the other listeners are still called.
   */
  emit<Name extends keyof TunnelEvents>(event: Name, ...values: TunnelEvents[Name]): void {
    const warn = (reason: unknown) => {
      process.emitWarning(`A listener of the tunnel event "${event}" failed: ${inspect(reason)}`);
    };
    for (const listener of [...this.#listeners[event]]) {
      // A listener can be async, and an unhandled rejection would end the process.
      (async () => listener(...values))().catch(warn);
    }
  }
}
