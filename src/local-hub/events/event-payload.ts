import { WebhookError } from "../../core/errors.ts";
import { editPayload } from "../../payload/edit.ts";
import type { StoredRepository } from "../store/repository-store.ts";
import { happen } from "./event.ts";
import type { CheckedEvent } from "./event-request.ts";

/** What {@link workOutEvent} needs. */
export interface WorkOutOptions {
  event: CheckedEvent;
  /** The repository before. Default: one that is made for the event. */
  repository?: StoredRepository | undefined;
  /** What the URLs of the payload begin with, without a trailing slash. */
  baseUrl: string;
  newId: () => string;
  newSha: () => string;
}

/** What comes of an event, before any of it is done. */
export interface WorkedOutEvent {
  before: StoredRepository;
  /** `undefined`: the repository is deleted. */
  after: StoredRepository | undefined;
  /** The payload for any webhook, before its edits. */
  payload: Record<string, unknown>;
  /** The payload for a webhook, as it is sent. */
  bodyFor(webhookId: string): string;
}

/**
 * Works out what an event leads to. Changes nothing itself.
 *
 * @throws `ARGUMENT_INVALID` when the event is nested too deeply to be sent, or its edits do not fit.
 */
export function workOutEvent(options: WorkOutOptions): WorkedOutEvent {
  const { event, baseUrl, newId, newSha } = options;
  const before = options.repository ?? newRepository(options);
  try {
    const { payload, repository: after } = happen({ event, repository: before, baseUrl, newSha: newSha() });
    const bodyFor = bodyMaker(payload, event.edits ?? []);
    // What cannot be sent is told now, before anything happens.
    bodyFor(newId());
    return { before, after, payload, bodyFor };
  } catch (error) {
    // The stack ends, some thousand levels down.
    if (!(error instanceof RangeError)) throw error;
    throw new WebhookError("This event is nested too deeply: no payload of the Hub is.", { code: "ARGUMENT_INVALID" });
  }
}

function bodyMaker(payload: object, edits: NonNullable<CheckedEvent["edits"]>): (webhookId: string) => string {
  if (edits.length > 0) {
    return (id) => JSON.stringify(editPayload({ ...payload, webhook: { id, version: 3 } }, edits));
  }
  // Only the last field tells the webhooks apart, so that the rest is written once.
  const begun = JSON.stringify(payload).slice(0, -1);
  return (id) => `${begun},"webhook":{"id":"${id}","version":3}}`;
}

function newRepository({ event, newId, newSha }: WorkOutOptions): StoredRepository {
  const { type, name, private: isPrivate = false } = event.repo;
  const made = { type, name, id: newId(), private: isPrivate, discussions: 0 };
  // A bucket has no commits.
  return type === "bucket" ? made : { ...made, headSha: newSha() };
}
