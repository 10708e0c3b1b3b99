#!/usr/bin/env node
// Old versions of Node must be able to parse this file, and the check must run before any import. Otherwise, old
// versions fail before they print the message.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < 22 || (major === 22 && minor < 18)) {
  console.error(
    `error: hub-webhooks requires Node 22.18 or newer, but this is Node ${process.versions.node}. Update Node.`,
  );
  process.exitCode = 1;
} else {
  import("./main.ts")
    .then(({ run }) => run(process.argv.slice(2)))
    .then((exitCode) => {
      // It is set if the output could not be written.
      process.exitCode ||= exitCode;
      // A server file can leave a timer or a connection open. A slow reader must still get the end of the output.
      setTimeout(() => process.stdout.write("", () => process.exit()), 250).unref();
    });
}
