import { EdgeVM } from "@edge-runtime/vm";
import { expect, test } from "vitest";
import { bundleForWorker } from "../support/worker-bundle.ts";

test("register() in a bundle for a worker needs no Node module, and rejects with the reason", async () => {
  const bundle = await bundleForWorker(`
    import { register } from "./client.ts";
    export const registering = register({}, {}, { publicUrl: "https://bot.example" }).catch(({ code }) => code);
  `);
  const vm = new EdgeVM();
  vm.evaluate(bundle);
  expect(await vm.evaluate("worker.registering")).toBe("STATE_UNUSABLE");
});
