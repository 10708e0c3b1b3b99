import { optionError } from "../core/option-error.ts";
import type { ListOptions } from "./inbox.ts";
import { areFound, searchWords, wordsOf } from "./search-words.ts";

/** The fields of an event that filters compare. A field is missing if the body does not contain it. */
export interface EventFields {
  repositoryType?: string;
  repositoryName?: string;
  scope?: string;
  action?: string;
}

/** The part of a delivery that filters compare. */
export interface FilteredDelivery {
  id: string;
  /** Milliseconds since the epoch. */
  receivedAt: number;
  event: EventFields;
  /** Reads the errors of the attempts, newest first. Only called for a search. */
  errors: () => readonly { code: string; message: string }[];
}

/** The filters of a list, except `endpoint` and `status`, which each inbox applies itself. */
export interface DeliveryFilter extends Pick<ListOptions, "repository" | "scope" | "action"> {
  /** Only deliveries that were received at this time or later, in milliseconds since the epoch. */
  receivedFrom: number | undefined;
  /** Only deliveries that were received before this time, in milliseconds since the epoch. */
  receivedUntil: number | undefined;
  /** The words of the search. */
  words: readonly string[];
  /** Whether there are filters of the content, which are `repository`, `scope`, `action`, and `search`. */
  hasContent: boolean;
}

/** Larger bodies are not parsed for filters, in bytes. They only match filters of the ID, the errors, and the time. */
export const maxFilteredBytes = 2 ** 20;

/** The maximum number of errors and of characters per error message that a search reads. */
export const maxSearchedErrors = 10;
const maxErrorLength = 1_000;

/** Returns the filters of a list, or `undefined` if there are none. @throws `OPTION_INVALID` if a time is invalid. */
export function readFilter(options: ListOptions): DeliveryFilter | undefined {
  const { repository, scope, action, search = "" } = options;
  const words = searchWords(search);
  const hasContent = [repository, scope, action].some((value) => value !== undefined) || words.length > 0;
  const receivedFrom = readTime(options, "receivedFrom");
  const receivedUntil = readTime(options, "receivedUntil");
  if (!hasContent && receivedFrom === undefined && receivedUntil === undefined) return undefined;
  return {
    ...(repository !== undefined && { repository }),
    ...(scope !== undefined && { scope }),
    ...(action !== undefined && { action }),
    receivedFrom,
    receivedUntil,
    words,
    hasContent,
  };
}

function readTime(options: ListOptions, option: "receivedFrom" | "receivedUntil"): number | undefined {
  const time = options[option]?.getTime();
  if (Number.isNaN(time)) throw optionError({ option, value: String(options[option]), expected: "a valid date" });
  return time;
}

export function matchesFilter(
  { repository, scope, action, receivedFrom, receivedUntil, words }: DeliveryFilter,
  delivery: FilteredDelivery,
): boolean {
  const { receivedAt, event } = delivery;
  return (
    (receivedFrom === undefined || receivedAt >= receivedFrom) &&
    (receivedUntil === undefined || receivedAt < receivedUntil) &&
    (repository === undefined || repositoryNames(event).includes(repository)) &&
    (scope === undefined || event.scope === scope) &&
    (action === undefined || event.action === action) &&
    (words.length === 0 || areFound(words, wordsIn(delivery)))
  );
}

/** Returns the names by which a filter finds a repository: with and without its type. */
export function repositoryNames({ repositoryType, repositoryName }: EventFields): string[] {
  if (repositoryName === undefined) return [];
  return repositoryType === undefined ? [repositoryName] : [repositoryName, `${repositoryType}:${repositoryName}`];
}

/** Returns the words in which a search looks. */
export function wordsIn({ id, event, errors }: Pick<FilteredDelivery, "id" | "event" | "errors">): string[] {
  const parts = [id, event.repositoryType, event.repositoryName];
  for (const { code, message } of errors().slice(0, maxSearchedErrors)) {
    parts.push(code, message.slice(0, maxErrorLength));
  }
  return wordsOf(parts.join(" "));
}

/** Returns the fields of an event from values in the order repository type, repository name, scope, action. */
export function toEventFields(values: readonly unknown[]): EventFields {
  const [repositoryType, repositoryName, scope, action] = values;
  return {
    ...(typeof repositoryType === "string" && { repositoryType }),
    ...(typeof repositoryName === "string" && { repositoryName }),
    ...(typeof scope === "string" && { scope }),
    ...(typeof action === "string" && { action }),
  };
}
