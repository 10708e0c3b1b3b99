const headEnd = "\r\n\r\n";

/** Reads the answers of one connection, one at a time: as little of HTTP as counting them takes. */
export class AnswerReader {
  #kept: Buffer | undefined;

  /** Takes what came next; gives the status once an answer is complete, 0 until then. */
  read(arrived: Buffer): number {
    const bytes = this.#kept ? Buffer.concat([this.#kept, arrived]) : arrived;
    const bodyStart = bytes.indexOf(headEnd) + headEnd.length;
    const end = bodyStart < headEnd.length ? Number.POSITIVE_INFINITY : endOfAnswer(bytes, bodyStart);
    if (end > bytes.length) {
      // Copied, because the socket reads into the same buffer again.
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
  throw new Error(`An answer without a length: ${head}`);
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
