/** What every call can be given. */
export interface CallOptions {
  /** Ends the call, a wait between two attempts too: it rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
}
