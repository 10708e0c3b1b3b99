import { readEnvironment } from "../core/environment.ts";
import { HubError } from "../core/errors.ts";
import { readBaseUrl } from "../core/urls.ts";

const defaultEndpoint = "https://huggingface.co";

/**
 * Finds the Hub's base address, without a trailing slash: the option, `HF_ENDPOINT`, or `https://huggingface.co`.
 *
 * @throws `OPTION_INVALID` when it is no http(s) address, or carries credentials, a query or a fragment.
 */
export function findEndpoint(option: string | undefined): string {
  const address = option || (readEnvironment("HF_ENDPOINT") ?? defaultEndpoint);
  const read = typeof address === "string" ? readBaseUrl(address) : undefined;
  if (read !== undefined) return read;
  throw new HubError(
    `The address of the Hub (option "endpoint" or HF_ENDPOINT) is not usable: give an http or https address without user name, password, query and fragment, such as ${defaultEndpoint}.`,
    { code: "OPTION_INVALID", fields: ["endpoint"] },
  );
}

/**
 * Finds the access token: the option, `HF_TOKEN`, `HUGGING_FACE_HUB_TOKEN`, else the file that `hf auth login` writes
 * (`HF_TOKEN_PATH`, by default `token` in `HF_HOME`). An empty one counts as not set.
 *
 * @throws `HUB_TOKEN_MISSING` when there is none, `HUB_TOKEN_INVALID` when HTTP cannot carry it.
 */
export async function findToken({
  option,
  endpoint,
}: {
  option: string | undefined;
  endpoint: string;
}): Promise<string> {
  const source = sources(option).find(({ text }) => text.trim() !== "") ?? (await readTokenFile());
  const token = source?.text.trim() ?? "";
  if (source === undefined || token === "") {
    throw new HubError(
      `No access token for the Hub was found. Set HF_TOKEN, or pass one (--token, or "token" in code). Create one at ${endpoint}/settings/tokens.`,
      { code: "HUB_TOKEN_MISSING" },
    );
  }
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new HubError(
    `The token in ${source.name} holds white space or a character that HTTP cannot carry: give the token alone, on one line. Create one at ${endpoint}/settings/tokens.`,
    { code: "HUB_TOKEN_INVALID" },
  );
}

/** Where a token may come from, and what stands there. */
interface Source {
  name: string;
  text: string;
}

function sources(option: string | undefined): Source[] {
  return [
    { name: 'the option "token"', text: option ?? "" },
    ...["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"].map((name) => ({ name, text: readEnvironment(name) ?? "" })),
  ];
}

async function readTokenFile(): Promise<Source | undefined> {
  // Asked for at run time: an import of Node's modules would keep bundlers from building for other runtimes.
  const node = typeof process === "undefined" ? undefined : process;
  const files = node?.getBuiltinModule?.("node:fs/promises");
  const paths = node?.getBuiltinModule?.("node:path");
  const system = node?.getBuiltinModule?.("node:os");
  if (!files || !paths || !system) return undefined;

  const path = tokenPath(system.homedir(), paths.join);
  try {
    return { name: `the file ${path}`, text: await files.readFile(path, "utf8") };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new HubError(
      `The file of the token, ${path}, cannot be read (${String(code)}): make it readable, set HF_TOKEN or give one (--token, or "token" in code).`,
      { code: "HUB_TOKEN_MISSING" },
    );
  }
}

function tokenPath(homeFolder: string, join: (...parts: string[]) => string): string {
  const read = (name: string) => readEnvironment(name)?.replace(/^~(?=[/\\]|$)/, () => homeFolder);
  const cacheFolder = read("XDG_CACHE_HOME") ?? join(homeFolder, ".cache");
  return read("HF_TOKEN_PATH") ?? join(read("HF_HOME") ?? join(cacheFolder, "huggingface"), "token");
}
