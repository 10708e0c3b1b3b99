import { subscribe } from "node:diagnostics_channel";
import { LocalHub } from "../../dist/local-hub.js";

let requests = 0;
subscribe("http.server.request.start", () => {
  requests += 1;
});
process.on("message", () => process.send?.(requests));

const latencyMs = Number(process.argv[2]);
const hub = await LocalHub.launch();
const variables = hub.createBucket("local-user/inbox");
if (latencyMs > 0) hub.setBucketFaults([{ kind: "latency", latency: latencyMs, keys: "log/*" }]);
process.send?.(variables);
