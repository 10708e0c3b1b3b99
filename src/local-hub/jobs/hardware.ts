import type { hardwareFlavors } from "../../hub/jobs/definition.ts";
import type { JobHardware } from "../../hub/jobs/schemas.ts";

interface Hardware {
  flavor: (typeof hardwareFlavors)[number];
  prettyName: string;
  vcpus: number;
  ramGb: number;
  /** The number, model, and total memory in GB of the GPUs, such as `4 L40S 192`. */
  gpus?: string;
  /** The price per minute, in millionths of a US dollar. */
  microUsd: number;
}

/** The hardware for jobs. Names match the Hub. Sizes and prices are approximate. */
const flavors: readonly Hardware[] = [
  { flavor: "cpu-basic", prettyName: "CPU Basic", vcpus: 2, ramGb: 16, microUsd: 167 },
  { flavor: "cpu-upgrade", prettyName: "CPU Upgrade", vcpus: 8, ramGb: 32, microUsd: 500 },
  { flavor: "cpu-performance", prettyName: "CPU Performance", vcpus: 32, ramGb: 256, microUsd: 31_667 },
  { flavor: "cpu-xl", prettyName: "CPU XL", vcpus: 16, ramGb: 124, microUsd: 16_667 },
  { flavor: "t4-small", prettyName: "Nvidia T4 - small", vcpus: 4, ramGb: 15, gpus: "1 T4 16", microUsd: 6667 },
  { flavor: "t4-medium", prettyName: "Nvidia T4 - medium", vcpus: 8, ramGb: 30, gpus: "1 T4 16", microUsd: 10_000 },
  { flavor: "l4x1", prettyName: "1x Nvidia L4", vcpus: 8, ramGb: 30, gpus: "1 L4 24", microUsd: 13_333 },
  { flavor: "l4x4", prettyName: "4x Nvidia L4", vcpus: 48, ramGb: 186, gpus: "4 L4 96", microUsd: 63_333 },
  { flavor: "l40sx1", prettyName: "1x Nvidia L40S", vcpus: 8, ramGb: 62, gpus: "1 L40S 48", microUsd: 30_000 },
  { flavor: "l40sx4", prettyName: "4x Nvidia L40S", vcpus: 48, ramGb: 382, gpus: "4 L40S 192", microUsd: 138_333 },
  { flavor: "l40sx8", prettyName: "8x Nvidia L40S", vcpus: 192, ramGb: 1534, gpus: "8 L40S 384", microUsd: 391_667 },
  { flavor: "a10g-small", prettyName: "Nvidia A10G - small", vcpus: 4, ramGb: 15, gpus: "1 A10G 24", microUsd: 16_667 },
  {
    flavor: "a10g-large",
    prettyName: "Nvidia A10G - large",
    vcpus: 12,
    ramGb: 46,
    gpus: "1 A10G 24",
    microUsd: 25_000,
  },
  {
    flavor: "a10g-largex2",
    prettyName: "2x Nvidia A10G - large",
    vcpus: 24,
    ramGb: 92,
    gpus: "2 A10G 48",
    microUsd: 50_000,
  },
  {
    flavor: "a10g-largex4",
    prettyName: "4x Nvidia A10G - large",
    vcpus: 48,
    ramGb: 184,
    gpus: "4 A10G 96",
    microUsd: 83_333,
  },
  {
    flavor: "a100-large",
    prettyName: "Nvidia A100 - large",
    vcpus: 12,
    ramGb: 142,
    gpus: "1 A100 80",
    microUsd: 41_667,
  },
  { flavor: "a100x4", prettyName: "4x Nvidia A100", vcpus: 48, ramGb: 568, gpus: "4 A100 320", microUsd: 166_667 },
  { flavor: "a100x8", prettyName: "8x Nvidia A100", vcpus: 96, ramGb: 1136, gpus: "8 A100 640", microUsd: 333_333 },
  { flavor: "h200", prettyName: "Nvidia H200", vcpus: 23, ramGb: 256, gpus: "1 H200 141", microUsd: 83_333 },
  { flavor: "h200x2", prettyName: "2x Nvidia H200", vcpus: 46, ramGb: 512, gpus: "2 H200 282", microUsd: 166_667 },
  { flavor: "h200x4", prettyName: "4x Nvidia H200", vcpus: 92, ramGb: 1024, gpus: "4 H200 564", microUsd: 333_333 },
  { flavor: "h200x8", prettyName: "8x Nvidia H200", vcpus: 184, ramGb: 2048, gpus: "8 H200 1128", microUsd: 666_667 },
  {
    flavor: "rtx-pro-6000",
    prettyName: "Nvidia RTX PRO 6000",
    vcpus: 24,
    ramGb: 128,
    gpus: "1 RTX PRO 6000 96",
    microUsd: 50_000,
  },
  {
    flavor: "rtx-pro-6000x2",
    prettyName: "2x Nvidia RTX PRO 6000",
    vcpus: 48,
    ramGb: 256,
    gpus: "2 RTX PRO 6000 192",
    microUsd: 100_000,
  },
  {
    flavor: "rtx-pro-6000x4",
    prettyName: "4x Nvidia RTX PRO 6000",
    vcpus: 96,
    ramGb: 512,
    gpus: "4 RTX PRO 6000 384",
    microUsd: 200_000,
  },
  {
    flavor: "rtx-pro-6000x8",
    prettyName: "8x Nvidia RTX PRO 6000",
    vcpus: 192,
    ramGb: 1024,
    gpus: "8 RTX PRO 6000 768",
    microUsd: 400_000,
  },
];

/** The hardware for jobs, in the format of the Hub's API. */
export const hardware: readonly JobHardware[] = flavors.map(({ flavor, prettyName, vcpus, ramGb, gpus, microUsd }) => ({
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
