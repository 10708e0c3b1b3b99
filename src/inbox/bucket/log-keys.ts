/** The prefix of the keys of records. */
export const recordPrefix = "log/";

/** The prefix of the keys of heartbeats. */
export const heartbeatPrefix = "heartbeats/";

/** Returns the key of a record. Keys sort by number. */
export function recordKey(number: number): string {
  return `${recordPrefix}${padded(number)}`;
}

/** Returns the number of the record with this key, or `undefined` if the key belongs to no record. */
export function recordNumber(key: string): number | undefined {
  const digits = /^log\/(\d{16})$/.exec(key)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Returns the key of the heartbeat of a writer. */
export function heartbeatKey(writerId: string): string {
  return `${heartbeatPrefix}${writerId}`;
}

/** Returns the key of the copy of a record that could not be read. */
export function quarantineKey(number: number): string {
  return `quarantine/${padded(number)}`;
}

/** Returns a number with 16 digits, which is enough for all safe integers. */
export function padded(number: number): string {
  return String(number).padStart(16, "0");
}
