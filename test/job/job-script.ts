import { WebhooksServer } from "../../src/index.ts";
import { runJob } from "../../src/job.ts";

const server = new WebhooksServer();
const [, , behaviour] = process.argv;

server.webhook("retrain", (_payload, { signal }) => {
  if (behaviour === "succeeds") return "done";
  if (behaviour === "fails") throw new Error("no GPU is free");
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => {
      console.log(signal.reason.code);
      if (behaviour === "listens") reject(signal.reason);
    });
    console.log("waiting");
  });
});

await runJob(server);
