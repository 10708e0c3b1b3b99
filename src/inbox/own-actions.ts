/**
 * The changes on the Hub that the servers of this inbox made, by key. A server uses them to recognize the events that it caused
 * itself (`ignoreSelf`). Keys are short texts without secrets, such as `comment 6123…`.
 */
export interface OwnActions {
  /** Stores keys for 14 days. Keeps only the latest 100,000 keys. @throws if the keys cannot be stored. */
  add(keys: readonly string[]): Promise<void>;
  /** Returns the keys that are stored. @throws if the keys cannot be read. */
  find(keys: readonly string[]): Promise<ReadonlySet<string>>;
}

/** How long keys are stored, in milliseconds. The Hub retries deliveries for a shorter time. */
export const ownActionRetentionMs = 14 * 24 * 3_600_000;

/** The maximum number of stored keys. The oldest keys are removed first. */
export const maxOwnActions = 100_000;
