import { PermanentError } from "hub-webhooks";
import { createServer, type HubActions } from "./server.ts";

const { HF_TOKEN: token, JOB_NAMESPACE: namespace, HF_ENDPOINT } = process.env;
if (!token || !namespace) throw new Error("Set HF_TOKEN, and JOB_NAMESPACE to the user or organization that pays.");
const endpoint = HF_ENDPOINT || "https://huggingface.co";

const hub: HubActions = {
  // hub-api.md specifies the body of a job, but not this path: it is the one of the Hub's own clients, and may change.
  async startJob({ dataset, revision }, signal) {
    const response = await fetch(`${endpoint}/api/jobs/${namespace}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({
        dockerImage: "python:3.12",
        command: ["python", "-c", "import os; print('training on', os.environ['DATASET'], os.environ['REVISION'])"],
        environment: { DATASET: dataset, REVISION: revision },
        flavor: "cpu-basic",
        timeoutSeconds: 3600,
      }),
      signal,
    });
    if (response.ok) {
      const job: { id: string } = await response.json();
      return job.id;
    }
    const problem = `The Hub answers ${response.status} to the start of a job.`;
    throw response.status === 429 || response.status >= 500 ? new Error(problem) : new PermanentError(problem);
  },
};

const server = createServer({ hub });

export default server;
await server.launch();
