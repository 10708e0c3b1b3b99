import { inspect } from "node:util";
import type { WebhookError } from "../core/errors.ts";

/** What a tunnel tells while it is open, and the values its listeners are given. */
export interface TunnelEvents {
  /** Deliveries arrive again after a `down`. */
  up: [];
  /** Deliveries do not arrive any more, and why. It is tried again until the tunnel is closed. */
  down: [error: WebhookError];
  /** The public URL is another one now, told before `up`: webhooks that point at the old one need the new one. */
  urlChanged: [url: string];
  /**
   * Something went wrong: the tunnel is lost, an attempt to open it again has failed (`TUNNEL_FAILED`), or the server
   * gave another name than the one wished for (`TUNNEL_NAME_TAKEN`). Without a listener it is dropped; it never ends
   * the process.
   */
  error: [error: WebhookError];
}

/** A function that listens to one of {@link TunnelEvents}. */
export type TunnelListener<Name extends keyof TunnelEvents> = (...values: TunnelEvents[Name]) => void;

/**
 * Who listens to a tunnel. Not an `EventEmitter`: that throws an "error" nobody listens to, and the whole process of
 * somebody who only wanted a tunnel would end.
 *
 * @example
 * ```ts
 * const listeners = new TunnelListeners();
 * const stopListening = listeners.add("up", () => console.log("up again"));
 * listeners.tell("up");
 * ```
 */
export class TunnelListeners {
  readonly #listeners: { [Name in keyof TunnelEvents]: Set<TunnelListener<Name>> } = {
    up: new Set(),
    down: new Set(),
    urlChanged: new Set(),
    error: new Set(),
  };

  /** Adds a listener and returns the function that removes it. */
  add<Name extends keyof TunnelEvents>(event: Name, listener: TunnelListener<Name>): () => void {
    const listeners = this.#listeners[event];
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }

  /**
   * Calls every listener of an event, in the order they were added. One that throws or rejects is reported by
   * `process.emitWarning`, and the others are called all the same.
   */
  tell<Name extends keyof TunnelEvents>(event: Name, ...values: TunnelEvents[Name]): void {
    const warn = (reason: unknown) => {
      process.emitWarning(`A listener of the tunnel's event "${event}" failed: ${inspect(reason)}`);
    };
    for (const listener of [...this.#listeners[event]]) {
      // A listener may be an async function: its rejection would end the process.
      (async () => listener(...values))().catch(warn);
    }
  }
}
