const headEnd = "\r\n\r\n";

/** Counts the responses of one connection, and parses no more of HTTP than that requires. */
export class AnswerReader {
  #kept: Buffer | undefined;

  /** Adds received bytes. Returns the status of a complete response, or 0 while the response is incomplete. */
  read(arrived: Buffer): number {
    const bytes = this.#kept ? Buffer.concat([this.#kept, arrived]) : arrived;
    const bodyStart = bytes.indexOf(headEnd) + headEnd.length;
    const end = bodyStart < headEnd.length ? Number.POSITIVE_INFINITY : endOfAnswer(bytes, bodyStart);
    if (end > bytes.length) {
      // Copies the bytes, because the socket reuses its buffer.
      this.#kept = Buffer.from(bytes);
      return 0;
    }
    this.#kept = undefined;
    return Number(bytes.toString("latin1", 9, 12));
  }
}

function endOfAnswer(bytes: Buffer, bodyStart: number): number {
  const head = bytes.toString("latin1", 0, bodyStart);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) return bodyStart + Number(length);
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) return endOfChunks(bytes, bodyStart);
  throw new Error(`The response has no Content-Length: ${head}`);
}

function endOfChunks(bytes: Buffer, bodyStart: number): number {
  let at = bodyStart;
  for (;;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd === -1) return Number.POSITIVE_INFINITY;
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    at = lineEnd + 2 + size + 2;
    if (size === 0) return at;
  }
}
