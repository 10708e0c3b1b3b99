import { writeSessionFile } from "./session-file.ts";

export interface StoredSessionOptions {
  /** The port of the session's server. */
  port: number;
  /** The URL of the session's local Hub. `undefined`: the session uses the real Hub. */
  localHubUrl: string | undefined;
  /** Called if the session cannot be stored for the first time. */
  onFailure: (error: unknown) => void;
}

/** The file with the URL of the local Hub and the secret of the server, which `hub-webhooks trigger` reads. */
export class StoredSession {
  readonly #options: StoredSessionOptions;
  /** The secret in the file; `null` before the file is written. */
  #secret: string | undefined | null = null;
  #remove: () => void = () => {};
  #isClosed = false;

  constructor(options: StoredSessionOptions) {
    this.#options = options;
  }

  /** Writes the file if the secret has changed. Call this method after every reload, which can change the secret. */
  store(secret: string | undefined): void {
    if (secret === this.#secret || this.#isClosed) return;
    const isFirst = this.#secret === null;
    this.#secret = secret;
    const { port, localHubUrl, onFailure } = this.#options;
    try {
      this.#remove = writeSessionFile({
        port,
        folder: process.cwd(),
        ...(localHubUrl !== undefined && { localHubUrl }),
        ...(secret !== undefined && { secret }),
      });
    } catch (error) {
      if (isFirst) onFailure(error);
    }
  }

  /** Deletes the file. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#remove();
  }
}
