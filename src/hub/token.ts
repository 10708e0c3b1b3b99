import { readOwnField } from "../core/describe.ts";
import { readEnvironment } from "../core/environment.ts";
import { HubError } from "../core/errors.ts";

/**
 * Returns the access token: the option, `HF_TOKEN`, `HUGGING_FACE_HUB_TOKEN`, or the content of the file that `hf auth
 * login` writes (`HF_TOKEN_PATH`, by default `token` in `HF_HOME`). Skips empty values.
 *
 * @throws `HUB_TOKEN_MISSING` if no token is found, `HUB_TOKEN_INVALID` if the token is not valid in an HTTP header.
 */
export async function findToken({ option, hubUrl }: { option: string | undefined; hubUrl: string }): Promise<string> {
  const source = sources(option).find(({ text }) => text.trim() !== "") ?? (await readTokenFile());
  const token = source?.text.trim() ?? "";
  if (source === undefined || token === "") {
    throw new HubError(
      `No access token for the Hub was found. Set HF_TOKEN or pass a token (--token, or "token" in code). Create a token at ${hubUrl}/settings/tokens.`,
      { code: "HUB_TOKEN_MISSING" },
    );
  }
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new HubError(
    `The token in ${source.name} contains whitespace or characters that are not valid in an HTTP header. Provide only the token, on one line. Create a token at ${hubUrl}/settings/tokens.`,
    { code: "HUB_TOKEN_INVALID" },
  );
}

interface TokenSource {
  /** The name of the source, for error messages. */
  name: string;
  /** The content of the source, which can be empty. */
  text: string;
}

function sources(option: string | undefined): TokenSource[] {
  return [
    { name: 'the "token" option', text: option ?? "" },
    ...["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"].map((name) => ({ name, text: readEnvironment(name) ?? "" })),
  ];
}

async function readTokenFile(): Promise<TokenSource | undefined> {
  // `process` is used instead of an import, because bundlers for other runtimes fail on Node's modules.
  const node = typeof process === "undefined" ? undefined : process;
  const files = node?.getBuiltinModule?.("node:fs/promises");
  const paths = node?.getBuiltinModule?.("node:path");
  const system = node?.getBuiltinModule?.("node:os");
  if (!files || !paths || !system) return undefined;

  let path = "";
  try {
    path = tokenPath(system.homedir, paths.join);
    return { name: `the file ${path}`, text: await files.readFile(path, "utf8") };
  } catch (error) {
    const code = readOwnField(error, "code");
    // A user without a home folder has no token file.
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ERR_SYSTEM_ERROR") return undefined;
    throw new HubError(
      `Could not read the token file "${path}" (${code}). Make the file readable, set HF_TOKEN, or pass a token (--token, or "token" in code).`,
      { code: "HUB_TOKEN_MISSING" },
    );
  }
}

function tokenPath(homeFolder: () => string, join: (...parts: string[]) => string): string {
  const read = (name: string) => readEnvironment(name)?.replace(/^~(?=[/\\]|$)/, homeFolder);
  // A user without a home folder can set one of these variables.
  const cacheFolder = () => read("XDG_CACHE_HOME") ?? join(homeFolder(), ".cache");
  return read("HF_TOKEN_PATH") ?? join(read("HF_HOME") ?? join(cacheFolder(), "huggingface"), "token");
}
