/** What the data of a new local Hub is made with. */
export interface SeedOptions {
  /** Milliseconds since the epoch. */
  now: number;
}
