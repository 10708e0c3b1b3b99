import { JsonArrayError, JsonArraySplitter } from "./json-array.ts";

/** The text of a body, or that it exceeds the limit. */
export type BodyText = { text: string } | { tooLong: true };

/**
 * Reads the body of a response, up to `limit` bytes.
 *
 * @throws the reason of the signal as soon as it is aborted, and what the connection breaks off with.
 */
export async function readText(
  response: Response,
  { limit, signal }: { limit: number; signal: AbortSignal },
): Promise<BodyText> {
  const reader = response.body?.getReader();
  if (reader === undefined) return { text: "" };
  const decoder = new TextDecoder();
  let text = "";
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await untilAborted(reader.read(), signal);
      if (done) return { text: text + decoder.decode() };
      length += value.byteLength;
      if (length > limit) return { tooLong: true };
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    reader.cancel().catch(() => {}); // Discards the rest; does nothing after the end.
  }
}

/**
 * Waits for a promise, but not once the signal is aborted: a `fetch` of the user's own may not listen to it.
 *
 * @throws the reason of the signal.
 */
export async function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const aborted = Promise.withResolvers<never>();
  const stop = () => aborted.reject(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Whether a text is HTML, as a proxy, a captive portal or a wrong address sends. */
export function isWebPage(text: string): boolean {
  return /^\s*<(?:!doctype|html|head|body|\?xml|!--)/i.test(text);
}

/** In UTF-16 code units. Elements of lists of the Hub are much shorter. */
const maxElementChars = 10_000_000;

/** Options of {@link readArrayElements}. */
export interface ElementOptions {
  /** Maximum time without new data. */
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

/** No data arrived for too long. */
export class ResponseStalledError extends Error {}

/**
 * The elements of a JSON array that is the body of an answer, each as soon as it has arrived. Whoever stops early ends
 * the answer.
 *
 * @throws JsonArrayError where the body is no JSON array; ResponseStalledError; the reason of the signal; another error
 * where the connection breaks off, or the answer ends too early.
 */
export async function* readArrayElements(
  response: Response,
  { timeoutMs, signal }: ElementOptions,
): AsyncGenerator<unknown, void, undefined> {
  const splitter = new JsonArraySplitter({ maxElementChars });
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  try {
    for (;;) {
      const { done, value } = reader ? await readPart(reader, { timeoutMs, signal }) : { done: true };
      for (const element of splitter.push(value ? decoder.decode(value, { stream: true }) : decoder.decode())) {
        yield parse(element);
      }
      if (done && splitter.isOpen) throw new Error("the answer is cut off");
      if (done) return splitter.end();
    }
  } finally {
    reader?.cancel().catch(() => {}); // Discards the rest; does nothing after the end.
  }
}

async function readPart(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { timeoutMs, signal }: ElementOptions,
): Promise<{ done: boolean; value?: Uint8Array | undefined }> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(new ResponseStalledError()), timeoutMs);
  try {
    return await untilAborted(reader.read(), signal ? AbortSignal.any([signal, silence.signal]) : silence.signal);
  } finally {
    clearTimeout(timer);
  }
}

function parse(element: string): unknown {
  try {
    return JSON.parse(element);
  } catch {
    // Without the parser's message: it quotes the answer.
    throw new JsonArrayError("one of its elements is no JSON");
  }
}
