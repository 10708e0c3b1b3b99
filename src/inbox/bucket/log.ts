import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import * as z from "zod/mini";
import type { Logger } from "../../core/log.ts";
import { inboxTakenOver, inboxUnavailable } from "../errors.ts";
import { isSameBody, type ObjectStore, ObjectStoreError, readObject } from "./object-store.ts";

/* The prefixes of the keys of records, heartbeats, and requests to yield. */
export const recordPrefix = "log/";
export const heartbeatPrefix = "heartbeats/";
export const yieldPrefix = "yield/";

export function recordKey(number: number): string {
  return `${recordPrefix}${padded(number)}`;
}

export function recordNumber(key: string): number | undefined {
  const digits = /^log\/(\d{16})$/.exec(key)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

export function heartbeatKey(writerId: string): string {
  return `${heartbeatPrefix}${writerId}`;
}

export function yieldKey(writerId: string): string {
  return `${yieldPrefix}${writerId}`;
}

export function quarantineKey(number: number): string {
  return `quarantine/${padded(number)}`;
}

/** Keys sort by number. All safe integers have at most 16 digits. */
export function padded(number: number): string {
  return String(number).padStart(16, "0");
}

export const ownerSchema = z.object({
  /** The Space, such as `me/receiver`. Missing outside a Space. */
  spaceId: z.optional(z.string()),
  host: z.string(),
  pid: z.number(),
  /** When the process opened the inbox, in ISO 8601 format. */
  startedAt: z.string(),
});

export type Owner = z.infer<typeof ownerSchema>;

const headerSchema = z.object({
  number: z.number().check(z.int(), z.positive()),
  /**
   * `takeover`: a process has become the owner. `gap`: the changes of a transaction that records unreadable records. `changes`: those of
   * any other transaction.
   */
  kind: z.enum(["takeover", "changes", "gap"]),
  writer: z.string(),
  encoding: z.enum(["identity", "gzip"]),
  /** The size of the body after decoding. */
  bytes: z.number().check(z.int(), z.nonnegative()),
  /** The new owner. Only in `takeover` records. */
  owner: z.optional(ownerSchema),
  schemaVersion: z.optional(z.number()),
});

/** A record of the log. The body of `changes` and `gap` records is a SQLite changeset. Other records have no body. */
export type LogRecord = Omit<z.infer<typeof headerSchema>, "encoding" | "bytes"> & { body: Uint8Array };

/** The first line of a record. The checksum covers all bytes after this line. */
const firstLine = /^hub-webhooks-log 1 ([0-9a-f]{64})$/;
const firstLineBytes = "hub-webhooks-log 1 ".length + 64;
/** Smaller bodies are not compressed, because compression would save less than one kilobyte. */
const minCompressedBytes = 1_024;
/** The maximum size of a decoded body, so that a damaged record cannot fill the memory. */
const maxBodyBytes = 512 * 2 ** 20;
const newline = 0x0a;

const compress = promisify(gzip);
const decompress = promisify(gunzip);

export async function encodeRecord({ body, ...fields }: LogRecord): Promise<Uint8Array> {
  const encoding = body.length < minCompressedBytes ? "identity" : "gzip";
  // The fastest level: payloads are JSON, which all levels compress well.
  const content = encoding === "gzip" ? await compress(body, { level: 1 }) : body;
  const header = headerSchema.parse({ ...fields, encoding, bytes: body.length });
  const rest = Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), content]);
  return Buffer.concat([Buffer.from(`hub-webhooks-log 1 ${sha256(rest)}\n`), rest]);
}

/** Returns the record, or `undefined` if the bytes are not a complete and undamaged record. */
export async function decodeRecord(bytes: Uint8Array): Promise<LogRecord | undefined> {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const checksum = firstLine.exec(all.toString("latin1", 0, firstLineBytes))?.[1];
  const rest = all.subarray(firstLineBytes + 1);
  if (checksum === undefined || all[firstLineBytes] !== newline || sha256(rest) !== checksum) return undefined;
  const headerEnd = rest.indexOf(newline);
  try {
    const { encoding, bytes: size, ...fields } = headerSchema.parse(JSON.parse(rest.toString("utf8", 0, headerEnd)));
    const content = rest.subarray(headerEnd + 1);
    const body = encoding === "gzip" ? await decompress(content, { maxOutputLength: maxBodyBytes }) : content;
    return body.length === size ? { ...fields, body } : undefined;
  } catch {
    return undefined;
  }
}

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

interface LogWriterOptions {
  store: ObjectStore;
  /** A UUID that no other process uses. */
  writerId: string;
  next: number;
  log: Logger;
  /** Called once if this process was the owner. */
  onTakenOver?: (writerId: string) => void;
  monotonicNow: () => number;
  wait: Wait;
  /** Called before each record after the takeover. The record waits for the returned promise. */
  beforeAppend?: () => Promise<void> | undefined;
}

/** Rejects if the signal is aborted. `ref`: whether the process stays alive. Default `true`. */
export type Wait = (ms: number, signal: AbortSignal, options?: { ref: boolean }) => Promise<void>;

export const waitWithTimer: Wait = (ms, signal, options) => delay(ms, undefined, { signal, ...options });

/** A record to append. The number is known only when the record is written, and can change if a number becomes unusable. */
interface AppendedRecord extends Pick<LogRecord, "kind" | "owner" | "schemaVersion"> {
  body: (number: number) => Uint8Array;
}

const firstPauseMs = 100;
const maxPauseMs = 2_000;
/** A record that is not stored after this time counts as an outage, although no request has failed. */
const slowMs = 5_000;

/** `torn`: only the beginning of the record was stored. `unreadable`: an object that is no record, whose writer is unknown. */
type StoreResult = "mine" | "torn" | "unreadable" | { other: LogRecord };

/**
 * Appends records to the log of an inbox. Each record is stored only if its number is free, so of two processes that write the same
 * number, one finds the record of the other. That process is then fenced: it never appends again. An unreadable object at a number is
 * skipped. If it was the takeover of another process, that process finds the next record at its own next number.
 */
export class LogWriter {
  readonly writerId: string;
  readonly #options: LogWriterOptions;
  readonly #closed = new AbortController();
  next: number;
  /** The numbers that this process skipped because they are used by objects that are not records. */
  readonly unreadable: number[] = [];
  /** The record of the process that has taken over the log, or `undefined` if this process is the owner. */
  fencedBy: LogRecord | undefined;
  #failingSince: number | undefined;
  #failure: unknown;
  #storingSince: number | undefined;
  #isAppending = false;
  #isOwner = false;

  constructor(options: LogWriterOptions) {
    this.#options = options;
    this.writerId = options.writerId;
    this.next = options.next;
  }

  /** The current outage: no response in time, or a request that is being repeated. `error`: the error of the last request. */
  get outage(): { forMs: number; error: unknown } | undefined {
    const now = this.#options.monotonicNow();
    if (this.#failingSince !== undefined) return { forMs: now - this.#failingSince, error: this.#failure };
    const forMs = now - (this.#storingSince ?? now);
    return forMs < slowMs ? undefined : { forMs, error: new Error("The bucket has not responded yet.") };
  }

  throwIfTakenOver(): void {
    if (this.fencedBy) throw inboxTakenOver();
  }

  /**
   * Appends a record, one at a time. Repeats the same request while it is unknown whether the record was stored. Returns the number.
   *
   * @throws `INBOX_TAKEN_OVER`, and `INBOX_UNAVAILABLE` if the writer is closed, or the store refuses the record. The log then lacks it.
   */
  async append({ body, ...fields }: AppendedRecord): Promise<number> {
    if (fields.kind !== "takeover") await this.#options.beforeAppend?.();
    this.throwIfTakenOver();
    this.#isAppending = true;
    try {
      for (;;) {
        const number = this.next;
        const record = await encodeRecord({ ...fields, number, writer: this.writerId, body: body(number) });
        const result = await this.#store(number, record);
        if (typeof result === "object") {
          this.#recordTakeover(result.other);
          throw inboxTakenOver();
        }
        // It can be a record of the owner, so this process must not skip it before its takeover.
        if (result === "unreadable" && !this.#isOwner) throw inboxTakenOver();
        this.next = number + 1;
        if (result === "mine") {
          this.#isOwner = true;
          return number;
        }
        this.unreadable.push(number);
        this.#options.log.error(
          { code: "INBOX_DAMAGED", record: number },
          "A record of the inbox is unreadable. The changes are stored in the next record.",
        );
      }
    } finally {
      this.#isAppending = false;
      this.#storingSince = undefined;
    }
  }

  /** Checks whether another process has taken over the log, if no record is being appended. @throws {@link ObjectStoreError} */
  async detectTakeover(): Promise<void> {
    if (this.#isAppending || this.fencedBy) return;
    const number = this.next;
    const found = await this.#options.store.get(recordKey(number));
    const record = found && (await decodeRecord(found.body));
    // In the meantime, this process can have appended a record with this number.
    if (record && record.writer !== this.writerId) this.#recordTakeover(record);
  }

  /** Stops repeating requests. A pending call of `append` rejects. */
  close(): void {
    this.#closed.abort();
  }

  /** Repeats the request until it is known what is stored. */
  async #store(number: number, record: Uint8Array): Promise<StoreResult> {
    const { store, monotonicNow, log } = this.#options;
    let isUnknown = false;
    this.#storingSince = monotonicNow();
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
      try {
        // The record can be stored although an earlier request failed.
        let result = isUnknown ? await this.#readBack(number, record) : undefined;
        if (result === undefined) {
          const put = await store.put(recordKey(number), record, { ifAbsent: true });
          result = put === "stored" ? "mine" : await this.#readBack(number, record);
        }
        if (result === undefined)
          throw new ObjectStoreError("The store has rejected a record as a duplicate, but returns no such record.");
        this.#failingSince = undefined;
        return result;
      } catch (error) {
        if (this.#failingSince === undefined) {
          this.#failingSince = monotonicNow();
          log.warn({ err: error }, "A record of the inbox could not be stored. The request is repeated.");
        }
        this.#failure = error;
        const isRefused = error instanceof ObjectStoreError && error.isRefused;
        if (isRefused && !isUnknown) {
          // No request is repeated, so the next record must find out whether the store accepts records again.
          this.#failingSince = undefined;
          throw inboxUnavailable(error);
        }
        isUnknown = true;
        await this.#pause(pauseMs, error);
      }
    }
  }

  /** Returns `undefined` if no record has this number. */
  async #readBack(number: number, record: Uint8Array): Promise<StoreResult | undefined> {
    const { store } = this.#options;
    const key = recordKey(number);
    const compare = async (body: Uint8Array): Promise<StoreResult | undefined> => {
      if (isSameBody(body, record)) return "mine";
      const other = await decodeRecord(body);
      return other && { other };
    };
    const found = await store.get(key);
    const result = found && (await compare(found.body));
    if (found === undefined || result !== undefined) return result;
    // A complete record that is stored again with the next number would be applied twice.
    const listed = await store.list(recordPrefix, { after: recordKey(number - 1) });
    const bytes = listed.find((object) => object.key === key)?.bytes;
    const read = await readObject(store, key, { decode: compare, bytes });
    if (read.state === "readable") return read.content;
    if (read.state !== "unreadable") return undefined;
    const { length } = read.body;
    const isTorn = length > firstLineBytes && isSameBody(read.body, record.subarray(0, length));
    return isTorn ? "torn" : "unreadable";
  }

  async #pause(ms: number, error: unknown): Promise<void> {
    const requestedMs = error instanceof ObjectStoreError ? (error.retryAfterMs ?? 0) : 0;
    const { signal } = this.#closed;
    const pauseMs = Math.max(ms, Math.min(requestedMs, maxPauseMs));
    if (!signal.aborted) await this.#options.wait(pauseMs, signal).catch(() => {});
    if (signal.aborted) throw inboxUnavailable(error);
  }

  #recordTakeover(record: LogRecord): void {
    if (this.fencedBy) return;
    this.fencedBy = record;
    if (!this.#isOwner) return;
    const { owner, writer } = record;
    this.#options.log.error(
      { code: "INBOX_TAKEN_OVER", ...(owner && { owner }) },
      "Another process has taken over the inbox. This process rejects deliveries until the other process stops.",
    );
    this.#options.onTakenOver?.(writer);
  }
}
