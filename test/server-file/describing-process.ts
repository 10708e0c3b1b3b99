import { ServerProcess } from "../../src/server-file/server-process.ts";

/** Serves the file of its first argument, and tells of it on standard output, until it is killed. */
const [path = ""] = process.argv.slice(2);
const reachedAt = { port: 7860, url: "http://localhost:7860", publicUrl: "http://localhost:7860" };
const started = ServerProcess.serve({
  path,
  reachedAt,
  secret: undefined,
  onOutput: ({ text }) => console.log(text),
});
const { port } = await started.serving();
console.log(`serving ${port}`);
