import { realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { WebhookError } from "../../src/index.ts";

/** Runs cases that must fail and returns their error codes and messages, for a snapshot of the wording. */
export async function errorsOf(cases: Readonly<Record<string, () => unknown>>): Promise<Record<string, string>> {
  const errors: Record<string, string> = {};
  for (const [name, fail] of Object.entries(cases)) errors[name] = await errorOf(name, fail);
  return errors;
}

async function errorOf(name: string, fail: () => unknown): Promise<string> {
  try {
    await fail();
  } catch (error) {
    if (!WebhookError.isInstance(error)) throw error;
    return maskAddresses(`${error.code}: ${error.message}`);
  }
  throw new Error(`No error was thrown: ${name}.`);
}

/** Replaces text that differs between runs and releases: ports, temporary folders, and the version. */
export function maskAddresses(text: string): string {
  const folders = new RegExp(`(${realpathSync(tmpdir())}|${tmpdir()})/[\\w-]+`, "g");
  return text
    .replace(/\b127\.0\.0\.1:\d+/g, "127.0.0.1:PORT")
    .replace(folders, "FOLDER")
    .replace(/\bhub-webhooks \d+\.\d+\.\d+/g, "hub-webhooks VERSION");
}
