import type { hardwareFlavors } from "../../hub/jobs/definition.ts";
import type { JobHardware } from "../../hub/jobs/schemas.ts";

/**
 * The hardware for jobs: name, title, vCPUs, RAM in GB, price per minute in millionths of a US dollar, and the number, model, and total
 * memory in GB of the GPUs. Names match the Hub. Sizes and prices are approximate.
 */
const flavors: readonly [
  ...[flavor: (typeof hardwareFlavors)[number], prettyName: string, vcpus: number, ramGb: number, microUsd: number],
  gpus?: string,
][] = [
  ["cpu-basic", "CPU Basic", 2, 16, 167],
  ["cpu-upgrade", "CPU Upgrade", 8, 32, 500],
  ["cpu-performance", "CPU Performance", 32, 256, 31_667],
  ["cpu-xl", "CPU XL", 16, 124, 16_667],
  ["t4-small", "Nvidia T4 - small", 4, 15, 6667, "1 T4 16"],
  ["t4-medium", "Nvidia T4 - medium", 8, 30, 10_000, "1 T4 16"],
  ["l4x1", "1x Nvidia L4", 8, 30, 13_333, "1 L4 24"],
  ["l4x4", "4x Nvidia L4", 48, 186, 63_333, "4 L4 96"],
  ["l40sx1", "1x Nvidia L40S", 8, 62, 30_000, "1 L40S 48"],
  ["l40sx4", "4x Nvidia L40S", 48, 382, 138_333, "4 L40S 192"],
  ["l40sx8", "8x Nvidia L40S", 192, 1534, 391_667, "8 L40S 384"],
  ["a10g-small", "Nvidia A10G - small", 4, 15, 16_667, "1 A10G 24"],
  ["a10g-large", "Nvidia A10G - large", 12, 46, 25_000, "1 A10G 24"],
  ["a10g-largex2", "2x Nvidia A10G - large", 24, 92, 50_000, "2 A10G 48"],
  ["a10g-largex4", "4x Nvidia A10G - large", 48, 184, 83_333, "4 A10G 96"],
  ["a100-large", "Nvidia A100 - large", 12, 142, 41_667, "1 A100 80"],
  ["a100x4", "4x Nvidia A100", 48, 568, 166_667, "4 A100 320"],
  ["a100x8", "8x Nvidia A100", 96, 1136, 333_333, "8 A100 640"],
  ["h200", "Nvidia H200", 23, 256, 83_333, "1 H200 141"],
  ["h200x2", "2x Nvidia H200", 46, 512, 166_667, "2 H200 282"],
  ["h200x4", "4x Nvidia H200", 92, 1024, 333_333, "4 H200 564"],
  ["h200x8", "8x Nvidia H200", 184, 2048, 666_667, "8 H200 1128"],
  ["rtx-pro-6000", "Nvidia RTX PRO 6000", 24, 128, 50_000, "1 RTX PRO 6000 96"],
  ["rtx-pro-6000x2", "2x Nvidia RTX PRO 6000", 48, 256, 100_000, "2 RTX PRO 6000 192"],
  ["rtx-pro-6000x4", "4x Nvidia RTX PRO 6000", 96, 512, 200_000, "4 RTX PRO 6000 384"],
  ["rtx-pro-6000x8", "8x Nvidia RTX PRO 6000", 192, 1024, 400_000, "8 RTX PRO 6000 768"],
];

export const hardware: readonly JobHardware[] = flavors.map(([flavor, prettyName, vcpus, ramGb, microUsd, gpus]) => ({
  name: flavor,
  prettyName,
  cpu: `${vcpus} vCPU`,
  ram: `${ramGb} GB`,
  ephemeralStorage: "50 GB",
  accelerator: gpus === undefined ? null : parseAccelerator(gpus),
  unitCostMicroUSD: microUsd,
  unitCostUSD: microUsd / 1_000_000,
  unitLabel: "minute",
}));

function parseAccelerator(gpus: string): JobHardware["accelerator"] {
  const [, quantity = "", model = "", gb = ""] = /^(\d+) (.+) (\d+)$/.exec(gpus) ?? [];
  return { type: "gpu", model, quantity, vram: `${gb} GB`, manufacturer: "Nvidia" };
}
