/** The text of an answer, or that it was longer than allowed. */
export type AnswerText = { text: string } | { tooLong: true };

/**
 * Reads the body of an answer, never more than `limit` bytes of it.
 *
 * @throws the reason of the signal as soon as it is aborted, and what the connection breaks off with.
 */
export async function readText(
  response: Response,
  { limit, signal }: { limit: number; signal: AbortSignal },
): Promise<AnswerText> {
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
    reader.cancel().catch(() => {}); // After the end it does nothing; before it, nobody wants the rest.
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

/** Whether a text is a web page: what a proxy, a captive portal or a wrong address answers with. */
export function isWebPage(text: string): boolean {
  return /^\s*<(?:!doctype|html|head|body|\?xml|!--)/i.test(text);
}
