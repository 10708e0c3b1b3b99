import { readSecret } from "../../read-input.ts";
import type { Shell } from "../../shell.ts";
import { wrongUsage } from "../../wrong-usage.ts";

/** The options of `sync`, as commander reads them. */
export interface SyncOptions {
  baseUrl?: string;
  dryRun?: boolean;
  prune?: boolean;
  adopt?: boolean;
  state?: string;
  secretStdin?: boolean;
  removeSecret?: boolean;
  clean?: boolean;
}

/**
 * Says where the server is reached: by the option, else as the server itself finds it when it is launched.
 *
 * @throws `ARGUMENT_INVALID` when nobody says.
 */
export function findBaseUrl({ baseUrl }: SyncOptions, { env }: Shell): string {
  const found = baseUrl ?? (env.PUBLIC_URL || (env.SPACE_HOST && `https://${env.SPACE_HOST}`));
  if (found) return found;
  throw wrongUsage(
    "Nothing says where the Hub reaches the server: give its public address, such as --base-url https://me-bot.hf.space, or set PUBLIC_URL.",
  );
}

/** The secret from standard input, where it is asked for. @throws `ARGUMENT_INVALID` when it is empty. */
export async function readSyncSecret({ secretStdin }: SyncOptions, shell: Shell): Promise<string | undefined> {
  if (!secretStdin) return undefined;
  const secret = await readSecret(shell);
  if (secret !== "") return secret;
  throw wrongUsage("The secret is empty: give one of a character or more, or leave the option out.");
}

/** @throws `ARGUMENT_INVALID` when cleaning up is asked for together with what is for registering. */
export function checkCleanOptions(file: string | undefined, options: SyncOptions): void {
  const others = {
    "the file": file,
    "--base-url": options.baseUrl,
    "--prune": options.prune,
    "--adopt": options.adopt,
    "--secret-stdin": options.secretStdin,
    "--remove-secret": options.removeSecret,
  };
  const given = Object.entries(others).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (given.length === 0) return;
  throw wrongUsage(
    `--clean only deletes what hub-webhooks dev has left behind, for which ${given.join(" and ")} ${given.length > 1 ? "are" : "is"} of no use: leave it out, or run sync once without --clean.`,
  );
}
