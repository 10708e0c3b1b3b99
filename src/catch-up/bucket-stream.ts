import * as z from "zod/mini";
import type { Logger } from "../core/log.ts";
import { exponentialBackoff, untilAborted, withDeadline } from "../core/time.ts";
import type { HubClient } from "../hub/client.ts";
import type { CallBudget } from "./call-budget.ts";

interface FollowOptions {
  hub: HubClient;
  budget: CallBudget;
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
  monotonicNow: () => number;
  log: Logger;
  name: string;
  onChange: () => void;
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
 * Keeps the stream of the changes in a bucket open, also if the bucket does not exist yet, and continues at the last cursor. It only makes
 * a comparison start, so a lost event delays the comparison, and an additional call of `onChange` does no harm. Never rejects.
 */
export async function followBucket(options: FollowOptions): Promise<void> {
  const { hub, budget, wait, monotonicNow, log, name, onChange, signal } = options;
  let cursor: string | undefined;
  let failures = 0;
  while (!signal.aborted) {
    let openedAt = Number.POSITIVE_INFINITY;
    try {
      await budget.take(signal);
      const query = cursor === undefined ? "" : `?${new URLSearchParams({ cursor })}`;
      const headers = { accept: "text/event-stream" };
      const response = await hub.fetch(`/api/buckets/${name}/events${query}`, { headers, signal });
      budget.adopt(response.headers);
      openedAt = monotonicNow();
      // What changed since the last cursor arrives with the stream. Without a cursor, it does not.
      let isGap = cursor === undefined;
      for await (const data of readData(response, signal)) {
        const event = parseEvent(data);
        if (event.changes || event.cursor === undefined || isGap) onChange();
        isGap = false;
        cursor = event.cursor;
      }
    } catch (error) {
      if (signal.aborted) return;
      log.debug({ err: error, bucket: name }, "The stream of the changes in a bucket failed. It is opened again.");
    }
    failures = monotonicNow() - openedAt < stableMs ? failures + 1 : 1;
    await wait(exponentialBackoff(failures, { firstMs: firstRetryMs, maxMs: maxRetryMs }), signal).catch(() => {});
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
