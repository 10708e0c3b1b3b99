import { createProgramProvider } from "./program.ts";

/**
 * Opens a tunnel with the `ngrok` program, which requires an account. Set the account's token in ngrok's configuration
 * file or in `NGROK_AUTHTOKEN`.
 */
export const openNgrok = createProgramProvider({
  name: "ngrok",
  installUrl: "https://ngrok.com/download",
  argumentsFor: (port) => ["http", `127.0.0.1:${port}`, "--log", "stdout", "--log-format", "json"],
  createLineParser: () => (line) => {
    const [code] = /ERR_NGROK_\d{1,6}\b/.exec(line) ?? [];
    const hint = code && `ngrok reported ${code}. See https://ngrok.com/docs/errors/${code.toLowerCase()}.`;
    return { url: findPublicUrl(line), hint };
  },
});

/** Returns the public URL from the line "started tunnel". Other lines contain URLs of ngrok's own services. */
function findPublicUrl(line: string): string | undefined {
  if (!line.includes("started tunnel")) return undefined;
  try {
    const entry: unknown = JSON.parse(line);
    if (typeof entry !== "object" || entry === null) return undefined;
    if (!("url" in entry) || typeof entry.url !== "string") return undefined;
    const url = URL.parse(entry.url);
    return url?.protocol === "https:" ? url.origin : undefined;
  } catch {
    return undefined;
  }
}
