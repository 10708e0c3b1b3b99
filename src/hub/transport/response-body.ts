import { readJson } from "../../core/text.ts";
import { untilAborted } from "../../core/time.ts";

interface BodyOptions {
  /** The maximum size of the body in bytes, after decompression. */
  limit: number;
  signal: AbortSignal;
}

/** Like {@link readBytes}, as text. */
export async function readText(response: Response, { limit, signal }: BodyOptions): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = "";
  let length = 0;
  for await (const part of partsOf(response, (reading) => untilAborted(reading, signal))) {
    length += part.byteLength;
    if (length > limit) return undefined;
    text += decoder.decode(part, { stream: true });
  }
  return text + decoder.decode();
}

/**
 * Reads the body of a response, up to `limit` bytes. Returns `undefined` if the body exceeds the limit.
 *
 * @throws the signal's abort reason as soon as the signal is aborted, and connection errors.
 */
export async function readBytes(response: Response, { limit, signal }: BodyOptions): Promise<Uint8Array | undefined> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of partsOf(response, (reading) => untilAborted(reading, signal))) {
    length += part.byteLength;
    if (length > limit) return undefined;
    parts.push(part);
  }
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.byteLength;
  }
  return bytes;
}

type Reading = ReturnType<ReadableStreamDefaultReader<Uint8Array>["read"]>;

/** Yields the parts of a body as they arrive. `wait` limits the time of each read. Exiting the loop cancels the response. */
async function* partsOf(
  { body }: Response,
  wait: (reading: Reading) => Reading,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body?.getReader();
  try {
    while (reader) {
      const { done, value } = await wait(reader.read());
      if (done) return;
      yield value;
    }
  } finally {
    reader?.cancel().catch(() => {}); // Discards the rest of the body, if there is any.
  }
}

/** Whether a text is HTML, such as a page from a proxy or a captive portal. */
export function isWebPage(text: string): boolean {
  return /^\s*<(?:!doctype|html|head|body|\?xml|!--)/i.test(text);
}

/** The maximum length of an element in UTF-16 code units, which is much longer than the elements that the Hub returns. */
const maxElementChars = 10_000_000;

export interface ElementOptions {
  /** The maximum time without new data. */
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

/** The error for a response that stops arriving. */
export class ResponseStalledError extends Error {}

/**
 * Yields the elements of a JSON array in a response as they arrive. Exiting the loop cancels the response.
 *
 * @throws `JsonArrayError` if the body is not a JSON array, `ResponseStalledError` if no data arrives for `timeoutMs`, the signal's
 *   abort reason, and connection errors, such as an incomplete response.
 */
export async function* readArrayElements(
  response: Response,
  options: ElementOptions,
): AsyncGenerator<unknown, void, undefined> {
  const splitter = new JsonArraySplitter();
  for await (const text of textParts(response, options)) {
    for (const element of splitter.push(text)) {
      const value = readJson(element);
      if (value === undefined) throw new JsonArrayError("an element is not JSON");
      yield value;
    }
  }
  if (splitter.isOpen) throw new Error("the response is incomplete");
  splitter.end();
}

interface EventOptions extends ElementOptions {
  /**
   * The maximum length of a line, and of an event, in UTF-16 code units. Default `1_000_000`, which is much longer than the events that
   * the Hub sends.
   */
  maxLineChars?: number;
}

/**
 * Yields the data of server-sent events as they arrive. Skips comments, events whose data is not a JSON object, and events that
 * are too long. Exiting the loop cancels the response.
 *
 * @throws `ResponseStalledError` if no data arrives for `timeoutMs`, the signal's abort reason, and connection errors.
 */
export async function* readEvents(
  response: Response,
  { maxLineChars = 1_000_000, ...options }: EventOptions,
): AsyncGenerator<unknown, void, undefined> {
  let rest = "";
  let data = "";
  let isTooLong = false;
  for await (const text of textParts(response, options)) {
    const lines = (rest + text).split(/\r?\n/);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line.startsWith("data:")) data += `${line.slice(5)}\n`;
      if (line !== "") continue;
      const event = !isTooLong && data.trimStart().startsWith("{") ? readJson(data) : undefined;
      data = "";
      isTooLong = false;
      if (event !== undefined) yield event;
    }
    isTooLong ||= data.length + rest.length > maxLineChars;
    if (isTooLong) data = "";
    rest = rest.slice(0, maxLineChars);
  }
}

/** Yields the text of a response as it arrives. Exiting the loop cancels the response. */
async function* textParts(response: Response, options: ElementOptions): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  for await (const value of partsOf(response, (reading) => untilStalled(reading, options))) {
    yield decoder.decode(value, { stream: true });
  }
  yield decoder.decode();
}

/** Waits for a part of a body. @throws `ResponseStalledError` if no data arrives for `timeoutMs`, and the signal's abort reason. */
async function untilStalled(reading: Reading, { timeoutMs, signal }: ElementOptions): Promise<Awaited<Reading>> {
  const stalled = new AbortController();
  const timer = setTimeout(() => stalled.abort(new ResponseStalledError()), timeoutMs);
  try {
    return await untilAborted(reading, signal ? AbortSignal.any([signal, stalled.signal]) : stalled.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** The error for a text that is not a JSON array, or for an element that is too long. */
export class JsonArrayError extends Error {}

/**
 * Splits the text of a JSON array into elements. The text can arrive in pieces of any length. The elements are not validated. Pass
 * each element to `JSON.parse`.
 */
export class JsonArraySplitter {
  #state: "before" | "inside" | "after" = "before";
  /** The start of the current element. */
  #partial = "";
  /** The number of open brackets and braces in the current element. */
  #depth = 0;
  #inString = false;
  #escaped = false;
  #hasElements = false;

  /**
   * Adds a piece of the text. Returns the elements that are complete after this piece.
   *
   * @throws `JsonArrayError` if the text is not a JSON array or an element is too long.
   */
  push(piece: string): string[] {
    const elements: string[] = [];
    let from = 0;
    for (let index = 0; index < piece.length; index += 1) {
      const character = piece.charAt(index);
      if (this.#state !== "inside") {
        from = index + 1;
        this.#outside(character);
      } else if (this.#endsElement(character)) {
        this.#complete(this.#partial + piece.slice(from, index), { isLast: character === "]", elements });
        this.#partial = "";
        from = index + 1;
      }
    }
    if (this.#state === "inside") this.#partial += piece.slice(from);
    if (this.#partial.length > maxElementChars) throw new JsonArrayError("an element is too long");
    return elements;
  }

  /** Whether the array has started but has not ended. */
  get isOpen(): boolean {
    return this.#state === "inside";
  }

  /** Call this method after the last piece. @throws `JsonArrayError` if the array is incomplete. */
  end(): void {
    if (this.#state !== "after") throw new JsonArrayError("the array is incomplete");
  }

  #outside(character: string): void {
    if (/\s/.test(character)) return;
    if (this.#state === "after") throw new JsonArrayError("other text follows the array");
    if (character !== "[") throw new JsonArrayError("the text does not start with [");
    this.#state = "inside";
  }

  /** Whether this character is the comma or bracket that ends the current element. */
  #endsElement(character: string): boolean {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (character === "\\") this.#escaped = true;
      else if (character === '"') this.#inString = false;
      return false;
    }
    if (character === '"') this.#inString = true;
    else if (character === "[" || character === "{") this.#depth += 1;
    else if (this.#depth === 0) return character === "," || character === "]";
    else if (character === "]" || character === "}") this.#depth -= 1;
    return false;
  }

  #complete(element: string, { isLast, elements }: { isLast: boolean; elements: string[] }): void {
    const isEmpty = element.trim() === "";
    if (isLast) this.#state = "after";
    if (isLast && isEmpty && !this.#hasElements) return;
    if (isEmpty) throw new JsonArrayError("an element is missing");
    this.#hasElements = true;
    elements.push(element);
  }
}
