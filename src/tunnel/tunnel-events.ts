import type { WebhookError } from "../errors.ts";

/** What a tunnel tells while it is open, and the values its listeners are given. */
export interface TunnelEvents {
  /** Deliveries arrive again after a `down`. */
  up: [];
  /** Deliveries do not arrive any more, and why. */
  down: [error: WebhookError];
  /** The public URL is another one now: webhooks that point at the old one need the new one. */
  urlChanged: [url: string];
  /** Something went wrong. Without a listener it is dropped; it never ends the process. */
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

  /** Calls every listener of an event, in the order they were added. */
  tell<Name extends keyof TunnelEvents>(event: Name, ...values: TunnelEvents[Name]): void {
    for (const listener of this.#listeners[event]) listener(...values);
  }
}
