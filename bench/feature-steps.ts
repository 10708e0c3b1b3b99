import { createHash, timingSafeEqual } from "node:crypto";
import type { Context } from "hono";
import { parsePayload } from "../dist/index.js";
import { type Payload, secret } from "./delivery.ts";
import { payloadSchema } from "./payload-schema.js";
import { openLog } from "./subject-log.ts";

const log = openLog();
const timeLimitMs = 25_000;

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

const secretHash = sha256(secret);

async function handler(): Promise<object> {
  return { received: true };
}

function fieldsOf(payload: Payload) {
  return { repo: `${payload.repo.type}:${payload.repo.name}`, outcome: "succeeded", ms: 0.3 };
}

function idsOf(context: Context) {
  return { endpoint: "bench", deliveryId: context.req.header("webhook-id") };
}

/** The single steps of a receiver. Each step is measured in a handler that only reads its body and runs the step. */
export const steps: Readonly<Record<string, (context: Context, payload: Payload) => unknown>> = {
  nothing: () => undefined,
  zod: (_context, payload) => payloadSchema.parse(payload),
  parsePayload: (_context, payload) => parsePayload(payload),
  secretHash: (context) => timingSafeEqual(sha256(context.req.header("x-webhook-secret") ?? ""), secretHash),
  secretXor: (context) => {
    const presented = context.req.header("x-webhook-secret") ?? "";
    let difference = presented.length ^ secret.length;
    for (let index = 0; index < secret.length; index += 1) {
      difference |= presented.charCodeAt(index) ^ secret.charCodeAt(index);
    }
    return difference === 0;
  },
  handler: () => handler(),
  race: () => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error("late")), timeLimitMs);
    });
    return Promise.race([handler(), late]).finally(() => clearTimeout(timer));
  },
  settleOnce: () =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("late")), timeLimitMs);
      handler().then((result) => {
        clearTimeout(timer);
        resolve(result);
      }, reject);
    }),
  abortController: () => new AbortController().signal.aborted,
  line: (context, payload) => log.info({ ...idsOf(context), ...fieldsOf(payload) }),
  childAndLine: (context, payload) => log.child(idsOf(context)).info(fieldsOf(payload)),
};
