import { expect, test } from "vitest";
import { WebhookError } from "../../src/core/errors.ts";
import { listenOnFreePort } from "../../src/dev/dev-proxy.ts";

/** Listens on ports for which `taken` returns `false` and records the tried ports. */
function listener(taken: (port: number) => boolean) {
  const tried: number[] = [];
  const listen = async (port: number) => {
    tried.push(port);
    if (taken(port)) throw new WebhookError("The port is in use.", { code: "PORT_IN_USE" });
    return port;
  };
  return { tried, listen };
}

test("listenOnFreePort uses the next free port if the first one is in use", async () => {
  const { tried, listen } = listener((port) => port < 7863);
  expect(await listenOnFreePort(7860, listen)).toBe(7863);
  expect(tried).toEqual([7860, 7861, 7862, 7863]);
});

test("listenOnFreePort lets the system choose if the first port and the next 20 are in use", async () => {
  const { tried, listen } = listener((port) => port !== 0);
  expect(await listenOnFreePort(7860, listen)).toBe(0);
  expect(tried).toHaveLength(22);
});

test("listenOnFreePort throws any other error", async () => {
  const listen = () => Promise.reject(new Error("EACCES"));
  await expect(listenOnFreePort(80, listen)).rejects.toThrow("EACCES");
});
