import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A git repository on a server. */
export interface Remote {
  /** The URL, without credentials. */
  url: string;
  /** The value of the `Authorization` header. */
  authorization?: string;
}

/** Makes refs of the target equal to those of the source: pushes those that exist, deletes those that do not. */
export async function mirror(
  { source, target, refs, folder }: { source: Remote; target: Remote; refs: readonly string[]; folder: string },
  signal: AbortSignal,
): Promise<void> {
  const env = environmentFor([source, target]);
  const git = async (...args: string[]) => (await run("git", args, { env, signal })).stdout;
  /** The commits of the refs that exist in a repository. */
  const read = async ({ url }: Remote) => {
    const lines = (await git("ls-remote", url, ...refs)).trimEnd().split("\n");
    return new Map(
      lines.map((line) => {
        const [commit = "", ref = ""] = line.split("\t");
        return [ref, commit] as const;
      }),
    );
  };

  // The current state, not the state of the push: a late or repeated delivery must not restore an old one.
  const [wanted, existing] = await Promise.all([read(source), read(target)]);
  const changed = refs.filter((ref) => wanted.get(ref) !== existing.get(ref));
  if (changed.length === 0) return;
  const updated = changed.filter((ref) => wanted.has(ref)).map((ref) => `+${ref}:${ref}`);
  const deleted = changed.filter((ref) => !wanted.has(ref));
  await git("init", "--quiet", "--bare", folder);
  const inFolder = (...args: string[]) => git("--git-dir", folder, ...args);
  // The branch "dev" would prevent a new branch "dev/docs".
  for (const ref of deleted) await inFolder("update-ref", "-d", ref);
  if (updated.length > 0) await inFolder("fetch", "--quiet", "--no-tags", source.url, ...updated);
  await inFolder("push", "--quiet", target.url, ...updated, ...deleted.map((ref) => `:${ref}`));
}

/** Passes the headers to git in its environment: arguments and URLs are visible in the process list and in errors. */
function environmentFor(remotes: readonly Remote[]): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...process.env, GIT_TERMINAL_PROMPT: "0" };
  let count = 0;
  for (const { url, authorization } of remotes) {
    if (authorization === undefined) continue;
    env[`GIT_CONFIG_KEY_${count}`] = `http.${url}.extraHeader`;
    env[`GIT_CONFIG_VALUE_${count}`] = `Authorization: ${authorization}`;
    count += 1;
  }
  env.GIT_CONFIG_COUNT = String(count);
  return env;
}
