import { HubClient } from "hub-webhooks/client";
import { createServer, type HubActions } from "./server.ts";

const { HF_TOKEN: token, JOB_NAMESPACE: namespace } = process.env;
if (!token || !namespace) throw new Error("Set HF_TOKEN, and JOB_NAMESPACE to the user or organization that pays.");
const client = new HubClient({ token });

const hub: HubActions = {
  // The Hub's own clients use this path. hub-api.md does not specify it, so it may change.
  async startJob({ dataset, revision }, signal) {
    const body = JSON.stringify({
      dockerImage: "python:3.12",
      command: ["python", "-c", "import os; print('training on', os.environ['DATASET'], os.environ['REVISION'])"],
      environment: { DATASET: dataset, REVISION: revision },
      flavor: "cpu-basic",
      timeoutSeconds: 3600,
    });
    const response = await client.fetch("/api/jobs/{namespace}", {
      method: "POST",
      params: { namespace },
      body,
      signal,
    });
    const job: { id: string } = await response.json();
    return job.id;
  },
};

const server = createServer({ hub });

export default server;
await server.launch();
