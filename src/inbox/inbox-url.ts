import { optionError } from "../core/option-error.ts";

/** The engine of an inbox, and the file of an inbox in SQLite. */
export type InboxUrl =
  | {
      engine: "sqlite";
      /** The path of the file, or `:memory:`. */
      file: string;
      unsafeFileSystem: "refuse" | "allow";
    }
  | { engine: "bucket" | "redis" | "postgres" };

/**
 * Parses the URL of an inbox as far as necessary to choose the engine.
 *
 * @throws `OPTION_INVALID` if the URL is not supported.
 */
export function parseInboxUrl(url: string): InboxUrl {
  if (/^(?:hf|s3):\/\//.test(url)) return { engine: "bucket" };
  if (/^rediss?:\/\//.test(url)) return { engine: "redis" };
  if (/^postgres(?:ql)?:\/\//.test(url)) return { engine: "postgres" };
  const [, file, unsafe] = /^sqlite:(?:\/\/)?(.+?)(\?unsafe-file-system=allow)?$/s.exec(url) ?? [];
  if (file !== undefined) {
    return { engine: "sqlite", file, unsafeFileSystem: unsafe === undefined ? "refuse" : "allow" };
  }
  // The message does not quote the URL, because the URL may contain a password.
  throw optionError(
    'Unsupported inbox URL. Set INBOX_URL (or the "inbox" option) to a file, such as sqlite:./data/inbox.db, to a bucket, such as hf://buckets/me/inbox, or to a redis://, rediss://, postgres://, or postgresql:// URL.',
  );
}
