import { messageOf } from "../../../core/describe-error.ts";
import { WebhookError } from "../../../core/errors.ts";
import type { Logger } from "../../../core/logger.ts";
import { maskUrl, secretsInUrl } from "../../../core/urls.ts";
import type { ServerInbox } from "../../../receiver/server-inbox.ts";
import type { Shell } from "../../shell.ts";
import { findInbox } from "./find-inbox.ts";

/** What {@link InboxAccess} needs. */
export interface InboxAccessOptions {
  shell: Shell;
  /** The options of `deliveries`; asked for when a command runs, since only then they have been read. */
  readOptions: () => { inbox?: string };
}

// Its warnings are for whoever stores something; what concerns the one who looks is thrown.
const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };

/** Opens the inbox that the command line names, for one command. */
export class InboxAccess {
  readonly #options: InboxAccessOptions;

  constructor(options: InboxAccessOptions) {
    this.#options = options;
  }

  /**
   * Does something with the inbox, and closes it afterwards. None is made where there is none. No error shows what is
   * secret in its URL.
   *
   * @throws `INBOX_UNUSABLE`, `OPTION_INVALID`, and whatever `work` throws.
   */
  use(work: (inbox: ServerInbox) => Promise<void>): Promise<void> {
    return this.useUrl(async (url) => {
      const [{ openInbox }, { ServerInbox }] = await Promise.all([
        import("../../../inbox/open-inbox.ts"),
        import("../../../receiver/server-inbox.ts"),
      ]);
      const inbox = await openInbox({ url, log: () => silent, now: Date.now, mustExist: true });
      try {
        await work(new ServerInbox(async () => inbox));
      } finally {
        await inbox.close(0);
      }
    });
  }

  /** Does something with the URL of the inbox; `undefined`: the default. No error shows what is secret in it. */
  async useUrl(work: (url: string | undefined) => Promise<void>): Promise<void> {
    const { shell, readOptions } = this.#options;
    // An empty variable counts as not set.
    const named = readOptions().inbox ?? (shell.env.INBOX_URL || undefined);
    const found = named === undefined ? findInbox(process.cwd()) : undefined;
    if (found) shell.stderr.write(`note: ${found.note}\n`);
    const url = named ?? found?.url;
    try {
      await work(url);
    } catch (error) {
      throw toTellable(error, { url: url ?? "", isOption: readOptions().inbox !== undefined });
    }
  }
}

/** The URL of the inbox, empty where nobody has named one, and whether `--inbox` says so. */
interface NamedInbox {
  url: string;
  isOption: boolean;
}

/** The error as it can be shown; without its cause, which may quote the URL as well. */
function toTellable(error: unknown, { url, isOption }: NamedInbox): Error {
  const reason = withoutSecrets(messageOf(error), url);
  if (WebhookError.isInstance(error))
    return new WebhookError(adviseHere(error, { reason, url, isOption }), { code: error.code });
  // Whatever has a code comes from the engine or the system, and not from a mistake of ours.
  if (error instanceof Error && "code" in error) {
    return new WebhookError(`The inbox could not be read or written (${reason}): mend that, or try again.`, {
      code: "INBOX_UNUSABLE",
    });
  }
  return new Error(reason);
}

function adviseHere({ code, cause }: WebhookError, { reason, url, isOption }: NamedInbox & { reason: string }): string {
  // The inbox knows of the variable alone, as a server does.
  if (isOption) {
    const told = reason.replace('INBOX_URL (or the option "inbox")', "--inbox").replaceAll("INBOX_URL", "--inbox");
    if (code !== "INBOX_UNAVAILABLE") return told;
  } else if (code === "INBOX_UNUSABLE") return `${reason} For this command --inbox URL names it as well.`;
  if (code !== "INBOX_UNAVAILABLE") return reason;
  const detail = cause === undefined ? "" : ` (${withoutSecrets(messageOf(cause), url)})`;
  return `The inbox could not be written${detail}: try again.`;
}

/** Shorter ones are words as well, such as "postgres", and only recognised in their place. */
const unmistakableLength = 12;

function withoutSecrets(text: string, url: string): string {
  // A password with an unescaped slash makes no URL, and is a secret all the same.
  const [, unescaped = ""] = /:\/\/[^:@]*:(.*)@/s.exec(url) ?? [];
  return [...secretsInUrl(url), unescaped]
    .filter((secret) => secret !== "")
    .sort((left, right) => right.length - left.length)
    .reduce((masked, secret) => {
      const inPlace = masked.replaceAll(`:${secret}@`, ":***@");
      return secret.length < unmistakableLength ? inPlace : inPlace.replaceAll(secret, "***");
    }, maskUrl(text));
}
