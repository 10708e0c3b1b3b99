/** Checks types and runs the affected tests after each change, until Ctrl+C: `npm run dev`. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const bin = (name: string) => fileURLToPath(new URL(`../node_modules/.bin/${name}`, import.meta.url));
const programs = [
  spawn(bin("tsc"), ["-p", "tsconfig.json", "--watch", "--preserveWatchOutput"], { stdio: "inherit" }),
  spawn(bin("vitest"), ["watch", "--changed"], { stdio: "inherit" }),
];
for (const program of programs) {
  program.once("exit", (code) => {
    process.exitCode ??= code ?? 0;
    for (const other of programs) other.kill();
  });
}
