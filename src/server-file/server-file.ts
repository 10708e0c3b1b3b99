import type { ServerDescription } from "./description.ts";
import { type OutputLine, ServerProcess } from "./server-process.ts";

export type { ServerDescription } from "./description.ts";
export { findServerFile } from "./find.ts";

/** How {@link describeServerFile} runs a file. */
export interface DescribeOptions {
  /** Where the server will be reached: what `launch()` tells the file. Default `http://localhost:7860`. */
  publicUrl?: string | undefined;
  /** Told of each line that the file prints. Default: nobody is. */
  onOutput?: (line: OutputLine) => void;
  signal?: AbortSignal | undefined;
}

/**
 * Runs a server's file in a process of its own, without letting its server listen, and tells what the server is like.
 *
 * @throws `SERVER_FILE_INVALID` with what the file threw, or that it makes no server.
 * @example
 * ```ts
 * const { endpoints } = await describeServerFile(findServerFile({ file: "server.ts" }));
 * ```
 */
export function describeServerFile(path: string, options: DescribeOptions = {}): Promise<ServerDescription> {
  const { publicUrl = "http://localhost:7860", onOutput, signal } = options;
  const reachedAt = { port: 7860, url: "http://localhost:7860", publicUrl };
  return ServerProcess.describe({ path, reachedAt, signal, ...(onOutput && { onOutput }) });
}
