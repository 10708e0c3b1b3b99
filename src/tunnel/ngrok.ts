import { providerOf } from "./program.ts";

/** Opens a tunnel with the program `ngrok`, which needs an account: its token is in its settings or NGROK_AUTHTOKEN. */
export const openNgrok = providerOf({
  name: "ngrok",
  installation: "https://ngrok.com/download",
  argumentsFor: (port) => ["http", `127.0.0.1:${port}`, "--log", "stdout", "--log-format", "json"],
  createReader: () => (line) => {
    const [code] = /ERR_NGROK_\d{1,6}\b/.exec(line) ?? [];
    const hint = code && `It says ${code}: see https://ngrok.com/docs/errors/${code.toLowerCase()}.`;
    return { url: publicUrlIn(line), hint };
  },
});

/** The line "started tunnel" holds the URL; others hold those of ngrok's own services. */
function publicUrlIn(line: string): string | undefined {
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
