/**
 * The process that runs a tunnel's program, forked by `program.ts`. A program would keep running after its parent is
 * killed. This process detects that its own parent exited, even by SIGKILL, and stops the program.
 *
 * The arguments of this process are the path of the program and the program's arguments. The program inherits the
 * output streams of this process.
 */
import { spawn } from "node:child_process";

/** The time for the program to disconnect from its server after SIGTERM. */
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
  // Ignore signals of the terminal. The parent stops this process by disconnecting, after its deliveries are finished.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
}
