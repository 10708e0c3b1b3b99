import * as z from "zod/mini";
import { optionError } from "../core/options.ts";
import type { DeliveryAttempt, ListOptions } from "./inbox.ts";

/** The part of a delivery that filters compare. */
export interface FilteredDelivery {
  id: string;
  /** Milliseconds since the epoch. */
  receivedAt: number;
  body: string | undefined;
  /** Reads the attempts with their details, oldest first. Only called for a search. */
  attempts: () => readonly Pick<DeliveryAttempt, "error" | "details">[];
}

/** The filters of a list, except `endpoint` and `status`, which each inbox applies itself. Times are milliseconds since the epoch. */
export type DeliveryFilter = NonNullable<ReturnType<typeof readFilter>>;

/** Larger bodies are not parsed for filters, in bytes. A search reads this number of characters of a body. */
const maxFilteredBytes = 2 ** 20;

/** The maximum duration of one request of a search. The cursor of its page continues the search. */
export const maxSearchMs = 300;

/** Returns the filters of a list, or `undefined` without filters. @throws `OPTION_INVALID` if a time is invalid. */
export function readFilter(options: ListOptions) {
  const { repository, scope, action, search = "" } = options;
  const words = searchWords(search);
  // Filters of the content, unlike those of the time.
  const hasContent = [repository, scope, action].some((value) => value !== undefined) || words.length > 0;
  const receivedFrom = readTime(options, "receivedFrom");
  const receivedUntil = readTime(options, "receivedUntil");
  if (!hasContent && receivedFrom === undefined && receivedUntil === undefined) return undefined;
  return { repository, scope, action, receivedFrom, receivedUntil, words, hasContent };
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
  const { receivedAt, body } = delivery;
  if (receivedFrom !== undefined && receivedAt < receivedFrom) return false;
  if (receivedUntil !== undefined && receivedAt >= receivedUntil) return false;
  if (repository !== undefined || scope !== undefined || action !== undefined) {
    const event = readEventFields(body);
    if (repository !== undefined && event.repository !== repository && event.repositoryName !== repository)
      return false;
    if (scope !== undefined && event.scope !== scope) return false;
    if (action !== undefined && event.action !== action) return false;
  }
  return words.length === 0 || areFound(words, searchedTexts(delivery, words));
}

function* searchedTexts(
  { id, body, attempts }: FilteredDelivery,
  words: readonly string[],
): Generator<string | undefined> {
  yield id;
  if (body !== undefined) yield decodeEscapes(body.slice(0, maxFilteredBytes));
  for (const { error, details } of attempts()) {
    yield error?.code;
    yield error?.message;
    for (const { message, fields } of details?.logs ?? []) {
      yield message;
      yield fields;
    }
  }
  // The body contains the type and the name, but not this text.
  if (words.some((word) => word.includes(":"))) yield readEventFields(body).repository;
}

/** Replaces escape sequences of characters in JSON text, such as `\\u00e9`. */
function decodeEscapes(text: string): string {
  if (!text.includes("\\u")) return text;
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

const optionalText = z.catch(z.optional(z.string()), undefined);
const eventSchema = z.object({
  repo: z.catch(z.optional(z.object({ type: optionalText, name: optionalText })), undefined),
  event: z.catch(z.optional(z.object({ scope: optionalText, action: optionalText })), undefined),
});

/** Reads the fields of an event from a body. A body that is too large or not JSON has none. `repository`: such as `dataset:acme/data`. */
export function readEventFields(body: string | undefined) {
  // A UTF-16 code unit has up to 3 bytes in UTF-8.
  if (body === undefined || (body.length * 3 > maxFilteredBytes && Buffer.byteLength(body) > maxFilteredBytes))
    return {};
  try {
    const { repo, event } = eventSchema.parse(JSON.parse(body));
    const hasBoth = repo?.type !== undefined && repo.name !== undefined;
    return {
      repository: hasBoth ? `${repo.type}:${repo.name}` : undefined,
      repositoryName: repo?.name,
      scope: event?.scope,
      action: event?.action,
    };
  } catch {
    return {};
  }
}

const maxWords = 20;

/** Returns the distinct words to find, which are separated by spaces, without case and accents. */
export function searchWords(search: string): string[] {
  const words = fold(search).split(/\s+/).filter(Boolean);
  return [...new Set(words)].slice(0, maxWords);
}

/** Whether each word of {@link searchWords} is part of at least one text. Only reads texts until all words are found. */
export function areFound(words: readonly string[], texts: Iterable<string | undefined>): boolean {
  let missing = words;
  for (const text of texts) {
    if (text === undefined) continue;
    const folded = fold(text);
    missing = missing.filter((word) => !folded.includes(word));
    if (missing.length === 0) return true;
  }
  return missing.length === 0;
}

/** Whether the filter of a list names one repository with its type, as in `dataset:acme/data`. Other filters are a part of a name. */
export function isWholeRepository(filter: string): boolean {
  return /^[a-z]+:./.test(filter);
}

/** Whether a repository matches the filter of a list: the repository with its type, or a part of its name. */
export function matchesRepository(filter: string, { type, name }: { type: string; name: string }): boolean {
  return isWholeRepository(filter) ? `${type}:${name}` === filter : fold(name).includes(fold(filter));
}

function fold(text: string): string {
  const isAscii = !/[\u0080-\uffff]/.test(text);
  return (isAscii ? text : text.normalize("NFKD").replaceAll(/\p{M}/gu, "")).toLowerCase();
}
