// Plain JavaScript, because cold start and idle memory are measured through it: stripping types adds some 17 MB and
// as many milliseconds as a small server needs to start.
import { monitorEventLoopDelay } from "node:perf_hooks";

/** In milliseconds: the delay is read from a timer that fires this often, so it is taken off the result again. */
const resolution = 10;

/**
 * Tells the process that started this one where it listens, and from then on answers what that process asks:
 * "begin" opens a sample, "end" closes it, "memory" collects garbage and tells what is left.
 *
 * @param {number} port
 * @param {() => number} [countWorked] The number of accepted deliveries that have run.
 */
export function announce(port, countWorked) {
  const delay = monitorEventLoopDelay({ resolution });
  let cpuAtBegin = process.cpuUsage();
  let workedAtBegin = 0;
  process.on("message", (question) => {
    if (question === "begin") {
      delay.reset();
      delay.enable();
      cpuAtBegin = process.cpuUsage();
      workedAtBegin = countWorked?.() ?? 0;
      process.send?.("begun");
    } else if (question === "end") {
      const { user, system } = process.cpuUsage(cpuAtBegin);
      delay.disable();
      process.send?.({
        cpuMicroseconds: user + system,
        loopDelayMs: Math.max(0, delay.percentile(99) / 1e6 - resolution),
        ...(countWorked && { worked: countWorked() - workedAtBegin }),
      });
    } else if (question === "memory") {
      globalThis.gc?.();
      globalThis.gc?.();
      process.send?.(process.memoryUsage());
    }
  });
  // Nobody is left to stop this process when the one that started it is gone.
  process.on("disconnect", () => process.exit());
  process.send?.(port);
}

/**
 * The port of a server that listens on a free one.
 *
 * @param {import("node:net").Server} server
 */
export function portOf(server) {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The subject does not listen on a port.");
  return address.port;
}
