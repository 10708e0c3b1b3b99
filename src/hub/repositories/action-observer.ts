import type { RepoRef } from "../schemas.ts";

/** A change that a client made on the Hub. */
export interface MadeChange {
  kind: "commit" | "discussion" | "comment";
  /** The SHA of a commit, the number of a discussion or pull request in its repository, or the ID of a comment. */
  id: string;
}

/** A change that is in progress. */
export interface ObservedAction {
  /** Reports the changes that were made, in order. An empty list means that the request failed or changed nothing. */
  done(made: readonly MadeChange[]): Promise<void>;
}

/**
 * Observes the changes that a client makes, so that a server recognizes the events that it caused itself.
 *
 * The client calls `begin` before it sends the request and `done` exactly once afterwards. Events can arrive in between. If the
 * process stops in between, `done` is not called.
 */
export interface ActionObserver {
  begin(repo: RepoRef): ObservedAction;
}

/** The part of a client that identifies its changes. */
export interface Observation {
  observer: ActionObserver;
  /**
   * A name that is written into each commit, discussion, and comment of the client. It must stay the same across restarts: markers
   * are only found again by clients with the same signature.
   */
  signature: string;
}

/** The key of the method of `HubClient` that returns an observed client. All copies of this package use the same key. */
export const observeActions: unique symbol = Symbol.for("hub-webhooks.observeActions");
