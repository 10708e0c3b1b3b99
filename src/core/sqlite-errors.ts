/** Primary result codes of SQLite. */
const busy = 5;
const corrupt = 11;
const full = 13;
const notADatabase = 26;
/** Extended result codes for reads: the disk returned an error or too little data. */
const readError = 266;
const shortRead = 522;

/** Returns the extended result code of SQLite. The lowest byte is the primary result code. */
function resultCode(error: unknown): number {
  return error instanceof Error && "errcode" in error ? Number(error.errcode) : 0;
}

/** Whether another connection holds a lock on the file. */
export function isBusy(error: unknown): boolean {
  return (resultCode(error) & 0xff) === busy;
}

/** Whether the disk is full. */
export function isFull(error: unknown): boolean {
  return (resultCode(error) & 0xff) === full;
}

/** Whether part of the file is damaged or unreadable. */
export function isDamage(error: unknown): boolean {
  const code = resultCode(error);
  return [corrupt, notADatabase].includes(code & 0xff) || code === readError || code === shortRead;
}
