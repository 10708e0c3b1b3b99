import { join } from "node:path";
import { fileURLToPath } from "node:url";

const packages = fileURLToPath(new URL("node_modules/", import.meta.url));

/** The runtimes, from npm packages that contain the program and have no install script. */
const programs = {
  node22: join(packages, "node-22/bin/node"),
  node24: join(packages, "node-24/bin/node"),
  node26: join(packages, "node-26/bin/node"),
  bun: join(packages, "@oven/bun-linux-x64/bin/bun"),
  deno: join(packages, "@deno/linux-x64-glibc/deno"),
};

/** pnpm, run by Node 24. It refuses to install packages that have an install script. */
export const pnpm = [programs.node24, join(packages, "pnpm/bin/pnpm.mjs")];

/** A way to run the documented program. */
export interface RuntimeCase {
  name: string;
  /** The runtime and its arguments, without the file. */
  command: (port: number) => readonly string[];
  /** Changes the program for this case. */
  change?: (program: string, port: number) => string;
  /** Whether `PORT` is set. Default `true`. */
  setsPort?: boolean;
  /** Whether the server exits with 0 on SIGTERM, as a launched one does. Default `true`. */
  endsItself?: boolean;
}

/** Removes the launch from the documented program, because the runtime serves the default export. */
const withoutLaunch = (program: string) => program.replace(/^await server\.launch\(\);.*$/m, "");

export const runtimeCases: readonly RuntimeCase[] = [
  { name: "Node 22", command: () => [programs.node22] },
  { name: "Node 24", command: () => [programs.node24] },
  { name: "Node 26", command: () => [programs.node26] },
  { name: "Bun", command: () => [programs.bun] },
  {
    // Bun would listen on port 3000 by default.
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

/** Commands that load a server file on a runtime that cannot. */
export const refusedCommands: readonly { name: string; command: readonly string[] }[] = [
  { name: "Bun, hub-webhooks dev", command: [programs.bun, "--bun"] },
  { name: "Deno, hub-webhooks dev", command: [programs.deno, "run", "--allow-all"] },
];
