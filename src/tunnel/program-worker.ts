/**
 * The process that runs a tunnel's program, forked by `program.ts`. Those programs do not notice that the process which
 * started them is gone, even when it was killed without a warning: this one does, and ends them.
 *
 * Its arguments are the program's file and the arguments for it. What the program prints goes where its own output goes.
 */
import { spawn } from "node:child_process";

/** How many milliseconds the program has to take leave of its server. */
const leave = 1_000;

const [file, ...programArguments] = process.argv.slice(2);

if (process.connected && file !== undefined) {
  const program = spawn(file, programArguments, { stdio: ["ignore", "inherit", "inherit"], windowsHide: true });
  program.once("error", () => process.exit(127));
  program.once("exit", (code) => process.exit(code ?? 1));
  process.once("disconnect", () => {
    program.kill("SIGTERM");
    setTimeout(() => program.kill("SIGKILL"), leave);
  });
  // Those who wish the tunnel to end tell it by disconnecting. The parent may still have deliveries to finish.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
}
