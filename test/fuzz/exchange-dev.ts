import { createHash, randomBytes } from "node:crypto";
import { startDev } from "hub-webhooks/dev";
import { followPlans, listOpenResources } from "./exchange-hook.ts";

/* A dev session of `exchange-server.ts` with its local Hub. */

followPlans();
process.on("unhandledRejection", (reason) => console.log(`UNHANDLED ${reason}`));
const [folder = ""] = process.argv.slice(2);
process.chdir(folder);

let output = "";
const dev = await startDev({
  file: new URL("exchange-server.ts", import.meta.url).pathname,
  port: 0,
  hubPort: 0,
  inbox: "sqlite:./dev.db",
  onEvent(event) {
    if (event.event === "output") output = `${output}\n${event.text}`.slice(-2_000);
    // The cause is on standard error, because each reported line is one finding.
    if (event.event === "broken") console.error(`Output of the server of dev:${output}`);
    if (event.event === "broken") console.log(`UNHANDLED the server of dev ended: ${event.reason}`);
    if (event.event === "output" && /^(?:UNHANDLED|RAN) /.test(event.text)) console.log(event.text);
  },
});
const { url, hub } = dev.state;
const headers = { authorization: "Bearer hf_local", "content-type": "application/json" };
const repository = { type: "model", name: "net", organization: "local-user" };
await fetch(`${hub.url}/api/repos/create`, { method: "POST", headers, body: JSON.stringify(repository) });
const large = randomBytes(4 * 1024 * 1024);

/** Returns a URL to upload a file with this SHA-256. */
async function uploadUrl(oid: string, size: number): Promise<string> {
  const batch = { operation: "upload", objects: [{ oid, size }] };
  const response = await fetch(`${hub.url}/local-user/net.git/info/lfs/objects/batch`, {
    ...{ method: "POST", headers, body: JSON.stringify(batch) },
  });
  const { objects } = await response.json();
  return objects[0].actions.upload.href;
}

const oid = createHash("sha256").update(large).digest("hex");
await fetch(await uploadUrl(oid, large.length), { method: "PUT", body: large });
const commit = [
  { key: "header", value: { summary: "Add a large file" } },
  { key: "lfsFile", value: { path: "large.bin", algo: "sha256", oid, size: large.length } },
];
const committed = await fetch(`${hub.url}/api/models/local-user/net/commit/main`, {
  method: "POST",
  headers: { ...headers, "content-type": "application/x-ndjson" },
  body: commit.map((line) => JSON.stringify(line)).join("\n"),
});
if (!committed.ok) throw new Error(`The commit failed: ${await committed.text()}`);
/** The paths of an upload that matches its SHA-256, and of one that does not. */
const uploadPaths = [createHash("sha256").update(Buffer.alloc(300_000)).digest("hex"), "0".repeat(64)].map(
  async (oid) => (await uploadUrl(oid, 300_000)).slice(hub.url.length),
);

process.on("message", () => process.send?.(listOpenResources()));
process.on("disconnect", () => process.exit());
process.send?.({ url, hubUrl: hub.url, uploadPaths: await Promise.all(uploadPaths) });
