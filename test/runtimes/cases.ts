import { join } from "node:path";
import { fileURLToPath } from "node:url";

const packages = fileURLToPath(new URL("node_modules/", import.meta.url));

/** The runtimes, as their packages in the registry of npm ship them: one program each, without an install script. */
const programs = {
  node22: join(packages, "node-22/bin/node"),
  node24: join(packages, "node-24/bin/node"),
  node26: join(packages, "node-26/bin/node"),
  bun: join(packages, "@oven/bun-linux-x64/bin/bun"),
  deno: join(packages, "@deno/linux-x64-glibc/deno"),
};

/** pnpm, which Node 24 runs: it refuses to install a package with an install script. */
export const pnpm = [programs.node24, join(packages, "pnpm/bin/pnpm.mjs")];

/** One way to run the documented program. */
export interface RuntimeCase {
  name: string;
  /** The runtime and its arguments, before the file. */
  command: (port: number) => readonly string[];
  /** How the program is changed. */
  change?: (program: string, port: number) => string;
  /** Whether `PORT` is set. Default `true`. */
  setsPort?: boolean;
  /** Whether the server ends on SIGTERM with 0, as a launched one does. Default `true`. */
  endsItself?: boolean;
}

/** The documented program without its launch: the runtime serves the default export. */
const withoutLaunch = (program: string) => program.replace(/^await server\.launch\(\);.*$/m, "");

export const runtimeCases: readonly RuntimeCase[] = [
  { name: "Node 22", command: () => [programs.node22] },
  { name: "Node 24", command: () => [programs.node24] },
  { name: "Node 26", command: () => [programs.node26] },
  { name: "Bun", command: () => [programs.bun] },
  {
    // Bun's own listener would take 3000.
    name: "Bun, port in the program",
    command: () => [programs.bun],
    change: (program, port) => program.replace("server.launch()", `server.launch({ port: ${port} })`),
    setsPort: false,
  },
  {
    name: "Bun, launch() without await",
    command: () => [programs.bun],
    change: (program) => program.replace("await server.launch", "void server.launch"),
  },
  { name: "Bun, without launch()", command: () => [programs.bun], change: withoutLaunch, endsItself: false },
  { name: "Deno", command: () => [programs.deno, "run", "--allow-all"] },
  { name: "deno serve", command: () => [programs.deno, "serve", "--allow-all"] },
  {
    name: "deno serve, without launch()",
    command: (port) => [programs.deno, "serve", "--allow-all", "--host", "127.0.0.1", "--port", String(port)],
    change: withoutLaunch,
    setsPort: false,
    endsItself: false,
  },
];

/** A command that loads a server file, on a runtime that cannot. */
export const refusedCommands: readonly { name: string; command: readonly string[] }[] = [
  { name: "Bun, hub-webhooks dev", command: [programs.bun, "--bun"] },
  { name: "Deno, hub-webhooks dev", command: [programs.deno, "run", "--allow-all"] },
];
