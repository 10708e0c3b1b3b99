import { HubClient } from "hub-webhooks/client";
import { createServer, type StartJob } from "./server.ts";

const { HF_TOKEN: token, JOB_NAMESPACE: namespace } = process.env;
if (!token || !namespace) throw new Error("Set HF_TOKEN, and JOB_NAMESPACE to the user or organization that pays.");
const hub = new HubClient({ token });

const startJob: StartJob = async ({ dataset, revision }, signal) => {
  const response = await hub.fetch("/api/jobs/{namespace}", {
    method: "POST",
    params: { namespace },
    body: JSON.stringify({
      dockerImage: "python:3.12",
      command: ["python", "-c", "import os; print('training on', os.environ['DATASET'], os.environ['REVISION'])"],
      environment: { DATASET: dataset, REVISION: revision },
      flavor: "cpu-basic",
      timeoutSeconds: 3600,
    }),
    signal,
  });
  const job: { id: string } = await response.json();
  return job.id;
};

const server = createServer(startJob);

export default server;
await server.launch();
