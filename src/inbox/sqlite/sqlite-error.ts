const busy = 5;
const corrupt = 11;
const full = 13;
const notADatabase = 26;
/** Extended codes: the disk returns nothing, or less than there should be. */
const readError = 266;
const shortRead = 522;

/** SQLite's extended result code of an error; its lowest byte is the primary one. */
function resultCode(error: unknown): number {
  return error instanceof Error && "errcode" in error ? Number(error.errcode) : 0;
}

/** Whether another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return (resultCode(error) & 0xff) === busy;
}

/** Whether there is no space left for a write. */
export function isFull(error: unknown): boolean {
  return (resultCode(error) & 0xff) === full;
}

/** Whether a part of the file is damaged or cannot be read. */
export function isDamage(error: unknown): boolean {
  const code = resultCode(error);
  return [corrupt, notADatabase].includes(code & 0xff) || code === readError || code === shortRead;
}
