/** An HTTP answer as received on a socket. */
export interface WireAnswer {
  status: number;
  headers: ReadonlyMap<string, string>;
  body: string;
}

/**
 * Parses all bytes of one connection strictly as HTTP/1.1 answers.
 *
 * @throws when any byte does not belong to a valid answer.
 */
export function readAnswers(bytes: Buffer): WireAnswer[] {
  const text = bytes.toString("latin1");
  const answers: WireAnswer[] = [];
  for (let at = 0; at < text.length; ) {
    const { answer, end } = readAnswer(text, at);
    answers.push(answer);
    at = end;
  }
  return answers;
}

function readAnswer(text: string, start: number): { answer: WireAnswer; end: number } {
  const headEnd = text.indexOf("\r\n\r\n", start);
  if (headEnd === -1) throw new Error("the head of an answer is incomplete");
  const [statusLine = "", ...lines] = text.slice(start, headEnd).split("\r\n");
  const status = Number(/^HTTP\/1\.1 ([1-5]\d\d) [\x20-\x7e]*$/.exec(statusLine)?.[1] ?? Number.NaN);
  if (Number.isNaN(status)) throw new Error(`invalid status line: ${JSON.stringify(statusLine)}`);
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name, value] = /^([\w!#$%&'*+.^`|~-]+): ?([\t\x20-\x7e]*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new Error(`invalid header: ${JSON.stringify(line)}`);
    if (headers.has(name.toLowerCase()) && name.toLowerCase() !== "vary") throw new Error(`duplicate header: ${name}`);
    headers.set(name.toLowerCase(), value);
  }
  const bodyStart = headEnd + 4;
  const without = { answer: { status, headers, body: "" }, end: bodyStart };
  if (status < 200 || status === 204 || status === 304) return without;
  const read = headers.get("transfer-encoding") === "chunked" ? readChunked : readCounted;
  const { body, end } = read(text, bodyStart, headers);
  // The answer to a HEAD request has a length but no body.
  if (end > text.length || (end < text.length && !text.startsWith("HTTP/1.1 ", end))) {
    if (bodyStart === text.length || text.startsWith("HTTP/1.1 ", bodyStart)) return without;
    throw new Error("the body of an answer does not match its length");
  }
  return { answer: { status, headers, body }, end };
}

function readCounted(text: string, start: number, headers: ReadonlyMap<string, string>): { body: string; end: number } {
  const length = headers.get("content-length");
  if (length !== undefined && !/^\d+$/.test(length)) throw new Error(`invalid length: ${length}`);
  const end = length === undefined ? text.length : start + Number(length);
  return { body: text.slice(start, end), end };
}

function readChunked(text: string, start: number): { body: string; end: number } {
  let body = "";
  for (let at = start; ; ) {
    const [line = "", digits] = /^([\da-f]+)\r\n/.exec(text.slice(at, at + 20)) ?? [];
    // An incomplete chunk: the caller detects an end beyond the text.
    if (digits === undefined) return { body, end: text.length + 1 };
    const size = Number.parseInt(digits, 16);
    body += text.slice(at + line.length, at + line.length + size);
    at += line.length + size + 2;
    if (size === 0) return { body, end: at };
  }
}
