import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { InvalidArgumentError, Option } from "commander";
import { messageOf } from "../../../core/describe.ts";
import { WebhookError } from "../../../core/errors.ts";
import type { Logger } from "../../../core/log.ts";
import type { Duration } from "../../../core/options.ts";
import { plainText } from "../../../core/terminal.ts";
import { maskSecretsOf } from "../../../core/urls.ts";
import type { DeliveryStatus, Inbox } from "../../../inbox/inbox.ts";
import type { ServerInbox } from "../../../receiver/inbox.ts";
import type { Invocation, Shell } from "../../invocation.ts";

/** The options of commands that change an inbox. */
export interface TakeOverOptions {
  takeOver?: boolean;
}

interface InboxAccessOptions {
  shell: Shell;
  /** A function, because the options are parsed after this object is created. */
  readOptions: () => { inbox?: string };
  /** The option or argument with the URL, for messages. Default `--inbox`. */
  urlName?: string;
}

// The inbox logs warnings for servers that store deliveries. Problems that affect a command are thrown.
const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };

/** Opens the inbox that `--inbox` or `INBOX_URL` selects. If neither is set, opens the inbox that {@link findInbox} selects. */
export class InboxAccess {
  readonly #options: InboxAccessOptions;

  constructor(options: InboxAccessOptions) {
    this.#options = options;
  }

  /**
   * Opens the inbox, runs a function with it, then closes the inbox. Never creates an inbox. Secrets in the inbox URL
   * are removed from errors.
   *
   * @param options.takeOver whether to change an inbox in a bucket although another process owns it.
   * @throws `INBOX_UNUSABLE`, `INBOX_IN_USE`, `OPTION_INVALID`, and the errors of `work`.
   */
  use(
    work: (inbox: ServerInbox, opened: Inbox) => Promise<void>,
    options: { access: "read" } | ({ access: "write" } & TakeOverOptions) = { access: "read" },
  ): Promise<void> {
    return this.useUrl(async (url) => {
      const [{ openInbox }, { ServerInbox }] = await Promise.all([
        import("../../../inbox/open-inbox.ts"),
        import("../../../receiver/inbox.ts"),
      ]);
      const inbox = await openInbox({ url, mustExist: true, ...options, ...this.settings });
      try {
        await work(new ServerInbox(async () => inbox), inbox);
      } finally {
        await inbox.close(0);
      }
    });
  }

  /** The settings with which commands open an inbox. */
  get settings() {
    const { env } = this.#options.shell;
    return { log: silent, now: Date.now, readVariable: (name: string) => env[name] || undefined };
  }

  /** Runs a function with the URL of the inbox, or with `undefined` for the default inbox. Secrets in the URL are removed from errors. */
  async useUrl(work: (url: string | undefined) => Promise<void>): Promise<void> {
    const { shell, readOptions, urlName = "--inbox" } = this.#options;
    // An empty variable counts as unset.
    const named = readOptions().inbox ?? (shell.env.INBOX_URL || undefined);
    const found = named === undefined ? findInbox(process.cwd()) : undefined;
    if (found) shell.stderr.write(`note: ${found.note}\n`);
    const url = named ?? found?.url;
    try {
      await work(url);
    } catch (error) {
      throw toUserError(error, { url: url ?? "", urlName, isOption: readOptions().inbox !== undefined });
    }
  }
}

/** The URL of the inbox (empty for the default inbox), the option for it, and whether the option is set. */
interface NamedInbox {
  url: string;
  urlName: string;
  isOption: boolean;
}

/** Creates an error that is safe to print. The error has no cause, because the cause could contain the URL. */
function toUserError(error: unknown, inbox: NamedInbox): Error {
  const { url } = inbox;
  const reason = maskSecretsOf(url, messageOf(error)).replace("set INBOX_TAKE_OVER=1", "add --take-over");
  if (WebhookError.isInstance(error)) {
    const hint = error.code === "INBOX_UNUSABLE" ? listInboxes({ except: url }) : "";
    return new WebhookError(`${withOptionName(error, reason, inbox)}${hint}`, { code: error.code });
  }
  // An error with a code comes from the inbox engine or the system, not from a bug in this package.
  if (error instanceof Error && "code" in error) {
    return new WebhookError(`The inbox could not be read or written (${reason}). Fix the problem, then try again.`, {
      code: "INBOX_UNUSABLE",
    });
  }
  return new Error(reason);
}

function withOptionName({ code, cause }: WebhookError, reason: string, { url, urlName, isOption }: NamedInbox): string {
  if (code === "INBOX_UNAVAILABLE") {
    const detail = cause === undefined ? "" : ` (${maskSecretsOf(url, messageOf(cause))})`;
    return `The inbox could not be written${detail}. Try again.`;
  }
  // Inbox errors mention only the variable that servers read, so replace it with the option of this command.
  if (isOption) return reason.replace('INBOX_URL (or the "inbox" option)', urlName).replaceAll("INBOX_URL", urlName);
  return code === "INBOX_UNUSABLE" ? `${reason} For this command, you can also set the URL with ${urlName}.` : reason;
}

/** Returns a sentence that lists the URLs of the inbox files in `.hub-webhooks`, or an empty string without such files. */
function listInboxes({ except }: { except: string }): string {
  const urls = namesIn(".hub-webhooks")
    .filter((name) => name.endsWith(".db"))
    .map((name) => `sqlite:./.hub-webhooks/${plainText(name)}`)
    .filter((url) => url !== except)
    .slice(0, maxListed);
  return urls.length === 0 ? "" : ` Inbox files in this folder: ${urls.join(", ")}.`;
}

/** The maximum number of inbox files to list in an error. */
const maxListed = 10;

/** The inbox to read by default, and a note for the user. */
interface FoundInbox {
  /** The URL of the inbox, or `undefined` for the default inbox. */
  url: string | undefined;
  note: string;
}

/**
 * Finds the latest inbox of `hub-webhooks dev` in a folder. If the folder contains no inbox of a launched server, the
 * inbox of `dev` becomes the default. If the inbox of a launched server is older, the note mentions the inbox of `dev`.
 * Returns `undefined` in all other cases.
 */
export function findInbox(folder: string): FoundInbox | undefined {
  const inboxes = join(folder, ".hub-webhooks");
  const [latest] = namesIn(inboxes)
    .filter((name) => /^dev(?:-\d+)?\.db$/.test(name))
    .sort((left, right) => writtenAt(inboxes, right) - writtenAt(inboxes, left));
  if (latest === undefined) return undefined;
  const url = `sqlite:./.hub-webhooks/${latest}`;
  if (!namesIn(inboxes).includes("inbox.db")) return { url, note: `Reading ${url}, the inbox of hub-webhooks dev.` };
  if (writtenAt(inboxes, "inbox.db") > writtenAt(inboxes, latest)) return undefined;
  const note = `Reading the inbox of the server. To read the inbox of hub-webhooks dev, add --inbox ${url}.`;
  return { url: undefined, note };
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Returns the time of the last write to an inbox file or its write-ahead log. */
function writtenAt(folder: string, name: string): number {
  const times = [name, `${name}-wal`].map(
    (file) => statSync(join(folder, file), { throwIfNoEntry: false })?.mtimeMs ?? 0,
  );
  return Math.max(...times);
}

/** Context shared by the `deliveries` subcommands. */
export interface DeliveriesContext {
  invocation: Invocation;
  access: InboxAccess;
}

/** Creates the `--endpoint` option. */
export function endpointOption(description: string): Option {
  return new Option("--endpoint <name>", description);
}

/** Creates the `--take-over` option. */
export function takeOverOption(): Option {
  return new Option(
    "--take-over",
    "change an inbox in a bucket even if another process owns it, which then rejects deliveries",
  );
}

/** The titles of the statuses. Only the type of a status is imported, because the help must not load the inbox. */
export const statusTitles = {
  queued: "Queued",
  running: "Running",
  succeeded: "Succeeded",
  ignored: "Ignored",
  dead: "Dead",
  cancelled: "Cancelled",
} satisfies Record<DeliveryStatus, string>;

/** Creates the `--status` option. */
export function statusOption(description: string): Option {
  return new Option("--status <status>", description).choices(Object.keys(statusTitles));
}

/** Parses a duration. Rejects a number without a unit, which could mean seconds or milliseconds. */
export function parseDuration(text: string): Duration {
  if (isDuration(text)) return text;
  throw new InvalidArgumentError("Use a number with a unit, such as 500ms, 1s, or 5m.");
}

function isDuration(text: string): text is Exclude<Duration, number> {
  return /^\d+(\.\d+)?(ms|s|m|h|d)$/.test(text);
}
