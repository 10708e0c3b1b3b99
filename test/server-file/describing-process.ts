import { ServerProcess } from "../../src/server-file/server-process.ts";

/** Serves the file in its first argument until it is killed and prints reports to standard output. */
const [path = ""] = process.argv.slice(2);
const launchResult = { port: 7860, url: "http://localhost:7860", publicUrl: "http://localhost:7860" };
const started = ServerProcess.serve({
  path,
  launchResult,
  secret: undefined,
  onOutput: ({ text }) => console.log(text),
});
const { port } = await started.serving();
console.log(`serving ${port}`);
