import * as z from "zod/mini";
import type { Logger } from "../core/log.ts";
import { exponentialBackoff, untilAborted, withDeadline } from "../core/time.ts";
import type { HubClient } from "../hub/client.ts";
import type { CallBudget } from "./call-budget.ts";

interface FollowOptions {
  hub: HubClient;
  budget: CallBudget;
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Milliseconds that only increase. */
  monotonicNow: () => number;
  log: Logger;
  /** The name of the bucket. */
  name: string;
  /** Called when the bucket can have changed. */
  onChange: () => void;
  /** Ends the stream. */
  signal: AbortSignal;
}

/** The Hub sends a comment every 30 seconds. */
const maxSilenceMs = 90_000;
/** A change can list thousands of files. What is cut counts as a change. */
const maxLineChars = 1_000_000;
/** A stream that ends earlier delays the next one like a failure. */
const stableMs = 60_000;
const firstRetryMs = 1_000;
const maxRetryMs = 5 * 60_000;

/** `changes` has a list, and `reset` has no cursor, because the cursor of the request is too old. */
const streamEvent = z.object({ cursor: z.optional(z.string()), changes: z.optional(z.array(z.unknown())) });

/**
 * Keeps the stream of the changes in a bucket open until the signal is aborted. Opens it again with the last cursor after it has ended or
 * failed, also if the bucket does not exist yet. The stream only makes a comparison start, so a lost event delays the comparison, and an
 * additional call of `onChange` does no harm. Never rejects.
 */
export async function followBucket(options: FollowOptions): Promise<void> {
  const { wait, monotonicNow, log, name, signal } = options;
  let cursor: string | undefined;
  let failures = 0;
  const onCursor = (next: string | undefined) => {
    cursor = next;
  };
  while (!signal.aborted) {
    let openedAt = Number.POSITIVE_INFINITY;
    const onOpened = () => {
      openedAt = monotonicNow();
    };
    try {
      await readStream({ ...options, cursor, onOpened, onCursor });
    } catch (error) {
      if (signal.aborted) return;
      log.debug({ err: error, bucket: name }, "The stream of the changes in a bucket failed. It is opened again.");
    }
    failures = monotonicNow() - openedAt < stableMs ? failures + 1 : 1;
    await wait(exponentialBackoff(failures, { firstMs: firstRetryMs, maxMs: maxRetryMs }), signal).catch(() => {});
  }
}

interface ReadOptions extends FollowOptions {
  cursor: string | undefined;
  onOpened: () => void;
  onCursor: (cursor: string | undefined) => void;
}

async function readStream({
  hub,
  budget,
  name,
  cursor,
  onOpened,
  onCursor,
  onChange,
  signal,
}: ReadOptions): Promise<void> {
  await budget.take(signal);
  const query = cursor === undefined ? "" : `?${new URLSearchParams({ cursor })}`;
  const headers = { accept: "text/event-stream" };
  const response = await hub.fetch(`/api/buckets/${name}/events${query}`, { headers, signal });
  budget.adopt(response.headers);
  onOpened();
  // What changed since the last cursor arrives with the stream. Without a cursor, it does not.
  let isGap = cursor === undefined;
  for await (const data of readData(response, signal)) {
    const { cursor, changes } = parseEvent(data);
    if (changes || cursor === undefined || isGap) onChange();
    isGap = false;
    onCursor(cursor);
  }
}

function parseEvent(data: string): z.output<typeof streamEvent> {
  try {
    return streamEvent.parse(JSON.parse(data));
  } catch {
    // An event in another form, or one that was cut, can be a change.
    return {};
  }
}

/** Yields the data of server-sent events. The Hub client has a reader too, whose use here would enlarge its bundle. */
async function* readData({ body }: Response, signal: AbortSignal): AsyncGenerator<string, void, undefined> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  const stalled = () => new Error(`Nothing arrived for ${maxSilenceMs / 1_000} s.`);
  try {
    let line = "";
    while (reader) {
      const { done, value } = await withDeadline(untilAborted(reader.read(), signal), maxSilenceMs, stalled);
      if (done) return;
      const [end = "", ...starts] = value.split("\n");
      // What has arrived is not searched again, because a line can arrive in many parts.
      if (line.length < maxLineChars) line += end;
      for (const start of starts) {
        const [, data] = /^data: ?(.*)/.exec(line) ?? [];
        if (data !== undefined) yield data;
        line = start;
      }
    }
  } finally {
    reader?.cancel().catch(() => {});
  }
}
