import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { binPath, CommandProcess } from "./command-process.ts";
import { filledInbox } from "./commands/deliveries/filled-inbox.ts";
import { startStandInHub, wireWebhook } from "./stand-in-hub.ts";

/** Records all loaded modules and prints them at exit. */
const recorder = `
  import { registerHooks } from "node:module";
  const urls = new Set();
  registerHooks({ load(url, context, next) { urls.add(url); return next(url, context); } });
  process.on("exit", () => console.error("loaded: " + [...urls].join(" ")));
`;

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Returns the modules that the command line loads for these arguments: our files by path, packages by name. */
async function loadedBy(argv: readonly string[], env: Record<string, string> = {}): Promise<Set<string>> {
  const hook = `data:text/javascript,${encodeURIComponent(recorder)}`;
  const { stderr } = await new CommandProcess(process.execPath, ["--import", hook, binPath, ...argv], env).ended;
  const [, urls = ""] = /^loaded: (.*)$/m.exec(stderr) ?? [];
  const paths = urls.split(" ").filter((url) => url.startsWith("file:"));
  return new Set(
    paths.map((url) => {
      const path = fileURLToPath(url);
      return /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? path.slice(root.length);
    }),
  );
}

describe("A command loads only the modules that it uses", () => {
  test.each(["--help", "deliveries tail --help", "delete id"])(
    "for %j: not the contract, the client, an inbox, the local Hub, or the prompts",
    async (words) => {
      const loaded = [...(await loadedBy(words.split(" ")))].filter((name) => !/^src\/(cli|core)\//.test(name));
      expect(loaded.sort()).toEqual([
        "commander",
        "get-east-asian-width",
        "src/payload/event-summary.ts",
        "src/payload/watch.ts",
        "src/tunnel/provider.ts",
        "string-width",
      ]);
    },
  );

  test("a list command loads the client, but not the local Hub, the server, pino, or the prompts", async () => {
    const hub = await startStandInHub([wireWebhook()]);
    const loaded = [...(await loadedBy(["list"], { HF_ENDPOINT: hub.url, HF_TOKEN: "hf_local" }))];
    expect(loaded).toContain("src/hub/client.ts");
    expect(loaded.filter((name) => /^src\/(local-hub|receiver|tunnel)\/|^pino$|^@clack/.test(name))).toEqual([
      "src/tunnel/provider.ts",
    ]);
  });

  test("a list of deliveries loads the inbox, but not the client, the server, other inboxes, or the prompts", async () => {
    const { env } = await filledInbox();
    const loaded = [...(await loadedBy(["deliveries", "list"], env))];
    expect(loaded).toContain("src/inbox/sqlite/sqlite-inbox.ts");
    const unwanted =
      /^src\/(hub|local-hub)\/|^src\/receiver\/(?!inbox\.ts$)|^(aws4fetch|bullmq|ioredis|pg|pino|@clack.*)$/;
    expect(loaded.filter((name) => unwanted.test(name))).toEqual([]);
  });
});
