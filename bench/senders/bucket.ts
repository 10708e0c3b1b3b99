import { LocalHub } from "../../dist/local-hub.js";

const latencyMs = Number(process.argv[2]);
const hub = await LocalHub.launch();
const variables = hub.createBucket("local-user/inbox");
if (latencyMs > 0) hub.setBucketFaults([{ kind: "latency", latency: latencyMs, keys: "log/*" }]);
process.send?.(variables);
