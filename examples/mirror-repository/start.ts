import { join } from "node:path";
import { mirror } from "./mirror.ts";
import { createServer, type Repo } from "./server.ts";

const { HF_TOKEN, TARGET_URL, TARGET_TOKEN } = process.env;
if (!HF_TOKEN || !TARGET_URL || !TARGET_TOKEN) {
  throw new Error("Set HF_TOKEN, TARGET_URL to the URL of a git server, and TARGET_TOKEN to a token for it.");
}

/** Repositories on the Hub: `me/net`, `datasets/me/data`, `spaces/me/app`. */
const pathOf = ({ type, name }: Repo) => (type === "model" ? name : `${type}s/${name}`);

const server = createServer((repo, refs, signal) =>
  mirror(
    {
      source: { url: `https://huggingface.co/${pathOf(repo)}`, authorization: basic("user", HF_TOKEN) },
      target: { url: `${TARGET_URL}/${pathOf(repo)}.git`, authorization: basic("user", TARGET_TOKEN) },
      refs,
      folder: join(".hub-webhooks", "mirrors", encodeURIComponent(pathOf(repo))),
    },
    signal,
  ),
);

export default server;
await server.launch();

/** git servers take a token as the password of any user. */
function basic(user: string, token: string): string {
  return `Basic ${Buffer.from(`${user}:${token}`).toString("base64")}`;
}
