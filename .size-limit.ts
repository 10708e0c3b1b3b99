import type { SizeLimitConfig } from "size-limit";

// Peers count as well: a worker gets them in its bundle.
const inWorker = {
  gzip: true,
  modifyEsbuildConfig: (config: object) => ({ ...config, platform: "browser", external: [] }),
};

export default [
  { name: "receiver in a worker", path: "dist/index.js", import: "{ WebhooksServer }", limit: "47 kB", ...inWorker },
  { name: "client in a worker", path: "dist/client.js", import: "{ HubClient }", limit: "44.6 kB", ...inWorker },
  { name: "testing in a worker", path: "dist/testing.js", import: "{ webhookPayload }", limit: "1.5 kB", ...inWorker },
] satisfies SizeLimitConfig;
