import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import { createNodeMiddleware, createProbot, type Probot } from "probot";
import { announce, portOf } from "../announce.js";
import { isPayload, secret } from "../delivery.ts";
import { logDelivery, openLog } from "../subject-log.ts";

const log = openLog();
const startedAtById = new Map<string, number>();
const { privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2_048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs1", format: "pem" },
});

function application(app: Probot): void {
  app.on("push", async ({ id, payload }) => {
    if (!isPayload(payload)) throw new Error("The delivery is not from this benchmark.");
    logDelivery(log, { deliveryId: id, payload, startedAt: startedAtById.get(id) ?? Number.NaN });
    startedAtById.delete(id);
  });
}

const env = { APP_ID: "1", PRIVATE_KEY: privateKey, WEBHOOK_SECRET: secret, LOG_LEVEL: "fatal" } as const;
const middleware = await createNodeMiddleware(application, {
  webhooksPath: "/webhooks/bench",
  probot: createProbot({ env }),
});
const server = createServer((request, response) => {
  startedAtById.set(String(request.headers["x-github-delivery"]), performance.now());
  void middleware(request, response, () => void response.writeHead(404).end());
});
server.listen(0, "127.0.0.1", () => announce(portOf(server)));
