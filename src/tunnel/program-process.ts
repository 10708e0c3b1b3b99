/**
 * The process that runs a tunnel's program, forked by `program.ts`. The program keeps running when its parent dies, so
 * this process detects when its own parent dies, even by SIGKILL, and stops the program.
 *
 * Its arguments are the path of the program and the program's arguments. The program inherits its output streams.
 */
import { spawn } from "node:child_process";

/** How long the program may take to disconnect from its server, in milliseconds. */
const gracePeriodMs = 1_000;

const [file, ...programArguments] = process.argv.slice(2);

if (process.connected && file !== undefined) {
  const program = spawn(file, programArguments, { stdio: ["ignore", "inherit", "inherit"], windowsHide: true });
  program.once("error", () => process.exit(127));
  program.once("exit", (code) => process.exit(code ?? 1));
  process.once("disconnect", () => {
    program.kill("SIGTERM");
    setTimeout(() => program.kill("SIGKILL"), gracePeriodMs);
  });
  // The parent decides when to stop, by disconnecting: it may still have deliveries to finish.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
}
