import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";

/** The CPU cores that this process may use. In a container, the machine may have more. */
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

/** One core for the server and one for the load generator, or `undefined` without `taskset` or a second core. */
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
/** The subjects load these packages from this folder, and the product loads them from the root. */
const shared = ["hono", "@hono/node-server", "zod", "bullmq", "ioredis"];

function versionOf(library: string, root: string): string {
  const manifest = readFileSync(new URL(`${root}node_modules/${library}/package.json`, import.meta.url), "utf8");
  const { version }: { version: string } = JSON.parse(manifest);
  return version;
}

/** Returns one line for each property of the machine that affects the figures. */
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
      (library) => `Warning    ${library} has another version in the root: install the same version before you compare`,
    ),
    ...(busy > 0.5 ? [`Warning    load average ${busy.toFixed(1)} before the start: another program is running`] : []),
  ].join("\n");
}
