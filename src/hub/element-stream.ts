import { untilAborted } from "./answer-text.ts";
import { JsonArrayError, JsonArraySplitter } from "./json-array.ts";

/** No element of a list of the Hub is nearly as long, in UTF-16 code units. */
const longestElement = 10_000_000;

/** What {@link readElements} is told. */
export interface ElementOptions {
  /** Milliseconds without anything new, until it is given up. */
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

/** Thrown where nothing has come for too long. */
export class SilentAnswerError extends Error {}

/**
 * The elements of a JSON array that is the body of an answer, each as soon as it has arrived. Whoever stops early ends
 * the answer.
 *
 * @throws JsonArrayError where the body is no JSON array; SilentAnswerError; the reason of the signal; another error
 * where the connection breaks off, or the answer ends too early.
 */
export async function* readElements(
  response: Response,
  { timeoutMs, signal }: ElementOptions,
): AsyncGenerator<unknown, void, undefined> {
  const splitter = new JsonArraySplitter({ longestElement });
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
    reader?.cancel().catch(() => {}); // After the end it does nothing; before it, nobody wants the rest.
  }
}

async function readPart(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { timeoutMs, signal }: ElementOptions,
): Promise<{ done: boolean; value?: Uint8Array | undefined }> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(new SilentAnswerError()), timeoutMs);
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
