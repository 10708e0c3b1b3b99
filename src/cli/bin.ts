#!/usr/bin/env node
// Only syntax that an old Node can parse, and no import before the check: otherwise the message is never reached.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < 22 || (major === 22 && minor < 18)) {
  console.error(
    `error: hub-webhooks needs Node 22.18 or newer, but this is Node ${process.versions.node}. Update Node.`,
  );
  process.exitCode = 1;
} else {
  import("./main.ts")
    .then(({ run }) => run(process.argv.slice(2)))
    .then((exitCode) => {
      process.exitCode = exitCode;
    });
}
