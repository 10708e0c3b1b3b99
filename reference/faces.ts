import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The root of the repository, with a slash at its end. */
export const root = fileURLToPath(new URL("..", import.meta.url));

/** What can be imported from this package under one address. */
export interface Face {
  /** As in `hub-webhooks/client`. */
  readonly address: string;
  /** The file in `src` that exports it. */
  readonly file: string;
  /** The name of its page in `docs/reference`. */
  readonly page: string;
  /** What it is for. */
  readonly summary: string;
}

const summaries: Record<string, string> = {
  ".": "Receive: the server, its endpoints, payloads, deliveries and errors.",
  "./client":
    "Manage: a client for the webhooks on the Hub, and for notifications, settings, papers and organizations.",
  "./dev": "Develop: a session that reloads and registers, registration by itself, and tunnels.",
  "./job": "Run an endpoint inside a job of a webhook, without a server.",
  "./local-hub": "A Hub on this machine, for tests and for a laptop.",
  "./testing": "Payloads and requests as the Hub sends them.",
};

/** The faces in the order of `exports` in package.json. */
export function readFaces(): Face[] {
  const { name, exports }: { name: string; exports: Record<string, unknown> } = JSON.parse(
    readFileSync(`${root}package.json`, "utf8"),
  );
  return Object.keys(exports)
    .filter((subpath) => subpath !== "./package.json")
    .map((subpath) => {
      const summary = summaries[subpath];
      if (summary === undefined) throw new Error(`reference/faces.ts has no summary of "${subpath}": write one.`);
      const place = subpath.slice(2);
      return {
        address: place === "" ? name : `${name}/${place}`,
        file: `${root}src/${place || "index"}.ts`,
        page: `${place || name}.md`,
        summary,
      };
    });
}
