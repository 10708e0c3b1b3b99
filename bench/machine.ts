import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";

/** The cores that this process may run on; in a container that is fewer than the machine has. */
function allowedCores(): number[] {
  try {
    const list = execFileSync("taskset", ["-cp", String(process.pid)], { encoding: "utf8" }).split(":")[1] ?? "";
    return list
      .trim()
      .split(",")
      .flatMap((range) => {
        const [first = 0, last = first] = range.split("-").map(Number);
        return Array.from({ length: last - first + 1 }, (_, index) => first + index);
      });
  } catch {
    return [];
  }
}

const cores = allowedCores();

/** One core for the server and another for the load, where there is `taskset` and there are two; else undefined. */
export const pinning = cores.length < 2 ? undefined : { server: cores[0] ?? 0, load: cores.at(-1) ?? 0 };

const libraries = [
  "hono",
  "@hono/node-server",
  "pino",
  "zod",
  "fastify",
  "h3",
  "@octokit/webhooks",
  "probot",
  "bullmq",
  "plainjob",
];
/** These are loaded twice, by the subjects from here and by the package from its root. */
const shared = ["hono", "@hono/node-server", "zod", "bullmq", "ioredis"];

function versionOf(library: string, root: string): string {
  const manifest = readFileSync(new URL(`${root}node_modules/${library}/package.json`, import.meta.url), "utf8");
  const { version }: { version: string } = JSON.parse(manifest);
  return version;
}

/** What the figures depend on, a line each. */
export function describeMachine(): string {
  const [core] = cpus();
  const busy = loadavg()[0] ?? 0;
  const unlike = shared.filter((library) => versionOf(library, "./") !== versionOf(library, "../"));
  return [
    `Machine    ${cpus().length} cores, ${core?.model.trim()}, ${(totalmem() / 2 ** 30).toFixed(1)} GiB`,
    `Pinned     ${pinning ? `server to core ${pinning.server}, load generator to core ${pinning.load}` : "no: server and load generator disturb each other"}`,
    `Node       ${process.version} on ${process.platform} ${process.arch}`,
    `Libraries  ${libraries.map((library) => `${library} ${versionOf(library, "./")}`).join(", ")}`,
    ...unlike.map(
      (library) => `Beware     ${library} has another version in the root: compare nothing before they are the same`,
    ),
    ...(busy > 0.5
      ? [`Beware     load average ${busy.toFixed(1)} before the start: something else is running here`]
      : []),
  ].join("\n");
}
