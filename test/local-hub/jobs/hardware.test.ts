import { expect, test } from "vitest";
import * as z from "zod";
import { hardwareFlavors } from "../../../src/hub/jobs/definition.ts";
import { jobHardware } from "../../../src/hub/jobs/schemas.ts";
import { openLocalHub } from "../support/hub.ts";

test("Each hardware flavor for jobs is listed with a price", async () => {
  const hub = await openLocalHub();
  const { body } = await hub.request("GET /api/jobs/hardware", { token: "hf_read" });
  const hardware = z.array(jobHardware).parse(body);
  const names = hardware.map(({ name }) => name);
  // The Hub does not offer these three for jobs.
  const others = ["sprx8", "zero-a10g", "inf2x6"];
  expect([...names].sort()).toEqual(hardwareFlavors.filter((flavor) => !others.includes(flavor)).sort());
  for (const { name, unitCostMicroUSD, unitCostUSD, unitLabel, accelerator } of hardware) {
    expect(unitCostMicroUSD, name).toBeGreaterThan(0);
    expect(unitCostUSD, name).toBeCloseTo(unitCostMicroUSD / 1_000_000, 9);
    expect([unitLabel, accelerator === null], name).toEqual(["minute", name.startsWith("cpu-")]);
  }
  expect(hardware.find(({ name }) => name === "l40sx4")?.accelerator).toEqual({
    type: "gpu",
    model: "L40S",
    quantity: "4",
    vram: "192 GB",
    manufacturer: "Nvidia",
  });
});
