import { EdgeVM } from "@edge-runtime/vm";
import { expect, test } from "vitest";
import { bundleForWorker } from "../support/worker-bundle.ts";

test("In a runtime without Node the client loads, reads its token from the option, and throws without one", async () => {
  const vm = new EdgeVM();
  vm.evaluate(
    await bundleForWorker(`
      import { HubClient, HubError } from "./client.ts";
      export async function list(token) {
        const hub = new HubClient({ token, fetch: async (url, { headers }) => Response.json([{
          id: [url, headers.authorization].join(" "), disabled: false, watched: [], domains: [],
        }]) });
        return hub.webhooks.list().then(([{ id }]) => id, (error) => [HubError.isInstance(error), error.code].join(" "));
      }
    `),
  );
  expect(await vm.evaluate('worker.list("hf_worker")')).toBe(
    "https://huggingface.co/api/settings/webhooks Bearer hf_worker",
  );
  expect(await vm.evaluate("worker.list()")).toBe("true HUB_TOKEN_MISSING");
});
