import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { deliveryRequest, webhookPayload } from "../../src/testing.ts";
import { freePort } from "../support/free-port.ts";
import { startProgram } from "../support/program.ts";

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

/** The result of a check; `problem` is `undefined` if it passed. */
export interface Check {
  name: string;
  problem: string | undefined;
}

/** Options of {@link runCase}. */
export interface RunCaseOptions {
  /** An empty folder. */
  folder: string;
  /** The `node_modules` folder with the package. */
  nodeModules: string;
  /** The documented program. */
  program: string;
}

const secret = "s3cret";
const withinMs = 20_000;

/** Runs the documented program and checks its documented behavior. */
export async function runCase(runtime: RuntimeCase, options: RunCaseOptions): Promise<readonly Check[]> {
  const { folder, nodeModules, program } = options;
  const port = await freePort();
  await mkdir(folder);
  await symlink(nodeModules, join(folder, "node_modules"));
  await writeFile(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  await writeFile(join(folder, "server.ts"), runtime.change?.(program, port) ?? program);
  const { child, ended, output } = startProgram([...runtime.command(port), "server.ts"], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      WEBHOOK_SECRET: secret,
      DENO_NO_UPDATE_CHECK: "1",
      ...(runtime.setsPort !== false && { PORT: String(port) }),
    },
  });
  const url = `http://127.0.0.1:${port}`;
  const deliver = async (id: string, sent: string | undefined) => {
    const payload = webhookPayload("repo.content", { repo: { name: "me/data" } });
    const request = deliveryRequest({
      endpoint: "retrain",
      payload,
      id,
      baseUrl: url,
      ...(sent !== undefined && { secret: sent }),
    });
    const response = await fetch(request, { signal: AbortSignal.timeout(withinMs) });
    return `${response.status} ${await response.text()}`;
  };
  const checks: Check[] = [];
  const check = async (name: string, expected: string, got: () => unknown) => {
    const value = await Promise.resolve()
      .then(got)
      .catch((error: unknown) => String(error));
    checks.push({ name, problem: value === expected ? undefined : `expected ${expected}, got ${value}\n${output()}` });
  };
  try {
    await check("health", '200 {"status":"ok"}', () => untilHealthy(url, () => child.exitCode !== null));
    const [missing, wrong] = [
      await deliver("d-1", undefined).catch(String),
      await deliver("d-2", "other").catch(String),
    ];
    await check("no secret", "401", () => missing.slice(0, 3));
    await check("wrong secret", "403", () => wrong.slice(0, 3));
    await check("delivery", '202 {"deliveryId":"d-3"}', () => deliver("d-3", secret));
    await check("handler", "ran", () => until(() => output().includes("training on me/data"), "ran"));
    await check("one port", String(port), () => listeningPorts(child.pid ?? 0).join());
    child.kill("SIGTERM");
    if (runtime.endsItself !== false) await check("SIGTERM", "0", async () => String((await ended).code));
  } finally {
    const killer = setTimeout(() => child.kill("SIGKILL"), withinMs);
    await ended;
    clearTimeout(killer);
  }
  return checks;
}

async function untilHealthy(url: string, hasEnded: () => boolean): Promise<string> {
  const answer = async () => {
    const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(withinMs) });
    return `${response.status} ${await response.text()}`;
  };
  for (const start = performance.now(); performance.now() - start < withinMs && !hasEnded(); await pause(50)) {
    const answered = await answer().catch(() => undefined);
    if (answered !== undefined) return answered;
  }
  return "no answer";
}

async function until(isTrue: () => boolean, text: string): Promise<string> {
  for (const start = performance.now(); performance.now() - start < withinMs; await pause(20))
    if (isTrue()) return text;
  return `not within ${withinMs} ms`;
}

/** Returns the ports on which a process listens, according to Linux. */
function listeningPorts(pid: number): readonly number[] {
  const inodes = new Set(
    readdirSync(`/proc/${pid}/fd`).map((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1];
      } catch {
        // Closed meanwhile.
        return undefined;
      }
    }),
  );
  const ports = ["tcp", "tcp6"].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, "utf8")
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode]) => state === "0A" && inodes.has(inode))
      .map(([, address = ""]) => Number.parseInt(address.split(":")[1] ?? "", 16)),
  );
  return [...new Set(ports)];
}
