import { signal } from "@preact/signals";
import type { StreamMessage } from "../../protocol/session.ts";
import { session } from "../state/session.ts";
import { apiUrl, toFailure } from "./client.ts";

/** The state of the connection to `GET api/stream`. */
export const connection = signal<"connecting" | "live" | "reconnecting">("connecting");

interface Subscriber {
  /** Called at most 5 times a second, with all messages since the last call. */
  messages?: (messages: readonly StreamMessage[]) => void;
  /** Called when the connection opens, for the first time too. Messages were missed before, so load again. */
  opened?: () => void;
}

const subscribers = new Set<Subscriber>();

/** Receives the messages of the stream. Returns a function that ends the subscription. */
export function subscribe(subscriber: Subscriber): () => void {
  subscribers.add(subscriber);
  return () => {
    subscribers.delete(subscriber);
  };
}

/** The server writes a heartbeat every 15 s. A connection that is silent for longer is broken. */
const maxSilenceMs = 45_000;
const maxBackoffMs = 15_000;

/** Connects to the stream until `signal` aborts, and reconnects after each failure. */
export async function runStream(signal: AbortSignal): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    try {
      await readStream(signal, () => {
        failures = 0;
        connection.value = "live";
        for (const { opened } of [...subscribers]) opened?.();
      });
    } catch {
      // The next attempt follows. If the session has ended, `signal` is aborted.
    }
    if (signal.aborted) return;
    connection.value = "reconnecting";
    failures += 1;
    await sleep(Math.min(500 * 2 ** failures, maxBackoffMs) * (0.5 + Math.random() / 2), signal);
  }
}

async function readStream(signal: AbortSignal, opened: () => void): Promise<void> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), maxSilenceMs);
  try {
    const response = await fetch(apiUrl("stream"), {
      headers: { accept: "text/event-stream" },
      signal: AbortSignal.any([signal, silence.signal]),
    });
    if (!response.ok || !response.body) throw await toFailure(response);
    opened();
    const parser = new EventStreamParser();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), maxSilenceMs);
      for (const data of parser.push(value)) enqueue(JSON.parse(data));
    }
  } finally {
    clearTimeout(timer);
    // After a damaged message, the server must not write to a connection that nothing reads.
    silence.abort();
  }
}

let queue: StreamMessage[] = [];
let lastFlushAt = Number.NEGATIVE_INFINITY;

/** More updates than this per second are not readable, and cost frames. */
const minFlushIntervalMs = 200;

/** Messages that arrive together are handled together. A hidden page has no frames, so that waiting for one would fill the queue. */
function enqueue(message: StreamMessage): void {
  if (!session.value?.signedIn) return;
  queue.push(message);
  if (queue.length > 1) return;
  setTimeout(flush, Math.max(0, lastFlushAt + minFlushIntervalMs - performance.now()));
}

function flush(): void {
  lastFlushAt = performance.now();
  const messages = queue;
  queue = [];
  for (const subscriber of [...subscribers]) subscriber.messages?.(messages);
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}

/** Splits the text of a Server-Sent Events response into the `data` of its events. */
export class EventStreamParser {
  #rest = "";

  /** Adds a part of the response. Returns the data of the events that it completes. */
  push(text: string): string[] {
    const blocks = (this.#rest + text).replaceAll("\r\n", "\n").split("\n\n");
    this.#rest = blocks.pop() ?? "";
    return blocks.map(readData).filter((data) => data !== "");
  }
}

function readData(block: string): string {
  return block
    .split("\n")
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice(line.startsWith("data: ") ? 6 : 5))
    .join("\n");
}
