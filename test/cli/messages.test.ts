import { readdirSync } from "node:fs";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createFolder } from "../support/temporary-folder.ts";
import { runCommand } from "./run-command.ts";
import { startStandInHub } from "./stand-in-hub.ts";

const id = "654bbbc16f2ec14d77f109cc";
const data = "dataset:me/data";
const url = "https://a.example";
const local = "http://127.0.0.1:1/";

/** Invalid command lines, as words. `""` is an empty word, and `_` is a space in a word. */
const usageErrors = [
  // Every command
  "creat",
  "create --wach org:a",
  "list --tokn x",
  "list --format yaml",
  "list --format",
  'list --token ""',
  "list --token hf_a_b",
  "list --hub-url nowhere",
  "info",
  "info a b",
  "hub --port http",
  "hub --port 65536",
  // Webhooks
  "create --watch org:a",
  `create --url ${url}`,
  `create --watch org:a --url ${url} --job-source-id b`,
  "create --watch orgs:a",
  "create --watch me/data",
  "create --domain discusion",
  "create --domain repo,discussion",
  `update --watch org:a ${id}`,
  `update --domain repo ${id}`,
  "update a --secret b --secret-stdin",
  'update a --secret ""',
  "update a --secret b --no-secret",
  "update a --no-secret --secret b",
  "update a --job - --secret-stdin",
  "update a",
  "update a --job /nonexistent.json",
  `delete ${id}`,
  "sync",
  `sync --prune --public-url ${url}`,
  "sync server.ts --clean --prune",
  // Development
  "dev --hub remote",
  "dev --hub-url http://127.0.0.1:5050",
  "dev --hub real --hub-port 5051",
  `dev --tunnel ngrok --public-url ${url}`,
  "dev --tunnel ssh",
  "dev --port 70000",
  "dev --watch data:me/data",
  "job",
  "init",
  'init ""',
  "init /nonexistent/new",
  "init new --template docker",
  "init new --template space --example auto-retrian",
  "init new --template space --example constructor",
  "init new --example auto-retrain",
  "init new --template space --name My_Bot",
  "init new --template space --name fs",
  "init new --template space --name hub-webhooks",
  `init new --template space --name ${"a".repeat(215)}`,
  // Events
  "trigger",
  "trigger me/data",
  "trigger user:me",
  "trigger datset:me/data",
  "trigger dataset:data",
  `trigger ${data} --scope papers`,
  `trigger ${data} --scope comment`,
  `trigger ${data} --scope discusion`,
  `trigger ${data} --scope repo --action move`,
  `trigger ${data} --scope repo --action move --set movedTo.name=new`,
  `trigger --set a=1 ${data}`,
  `trigger --unset a ${data}`,
  `trigger ${data} --set =1`,
  `trigger ${data} --set repo.private`,
  `trigger ${data} --set repo.name.x=1`,
  `trigger ${data} --unset repo.private=true`,
  `trigger ${data} --file /nonexistent.json`,
  `trigger ${data} --file /`,
  `trigger ${data} --secret b`,
  `trigger ${data} --url http://a --hub-url http://b`,
  `trigger ${data} --url horse`,
  `trigger ${data} --url localhost:7860/horse`,
  `trigger ${data} --url file:///horse`,
  `trigger ${data} --url ${local} --secret horse --secret-stdin`,
  `trigger ${data} --url ${local} --secret ""`,
  `trigger ${data} --url ${local} --secret-stdin`,
  `trigger ${data} --url ${local} --secret hörse`,
  `trigger ${data} --url ${local} --file - --secret-stdin`,
  `trigger ${data} --hub-url https://huggingface.co`,
  `trigger ${data} --hub-url http://10.0.0.1:5050`,
  `trigger ${data} --repeat 0`,
  `trigger ${data} --repeat 10001`,
  `trigger ${data} --concurrency 101`,
  // Deliveries
  "deliveries shw",
  "deliveries lst",
  "deliveries list --stats dead",
  "deliveries list --status failed",
  "deliveries list --all --limit 5",
  "deliveries list --limit 0",
  "deliveries list --limit 1001",
  "deliveries list --limit 1e2",
  'deliveries --inbox "" list',
  "deliveries show",
  "deliveries replay",
  "deliveries replay a --dead --endpoint b",
  "deliveries replay --dead",
  "deliveries replay --dead --endpoint b",
  "deliveries tail --status x",
  "deliveries tail --interval 5",
  "deliveries tail --interval 0s",
  "deliveries tail --last 101",
];

describe("A usage error", () => {
  /** The wording of the messages. After a change, run vitest with `-u` and review the diff. */
  test("exits with 2 and a message of one or two lines, before any request to the Hub", async () => {
    const hub = await startStandInHub();
    const folder = createFolder();
    vi.spyOn(process, "cwd").mockReturnValue(folder);
    onTestFinished(() => void vi.restoreAllMocks());
    const messages: string[] = [];
    for (const line of usageErrors) {
      const argv = line.split(" ").map((word) => (word === '""' ? "" : word.replaceAll(/(?<!hf)_/g, " ")));
      const env = { HF_ENDPOINT: hub.url, HF_TOKEN: "hf_local" };
      const { exitCode, stdout, stderr } = await runCommand(argv, { env });
      expect({ line, exitCode, stdout }).toEqual({ line, exitCode: 2, stdout: "" });
      expect(stderr).toMatch(/^error: .*\n(For help, run: npx hub-webhooks.* --help\n)?$/);
      expect(stderr, "possible secrets").not.toMatch(/h[oö]rse/);
      messages.push(`$ ${line}\n${stderr}`);
    }
    // Neither requests nor files of a new project.
    expect({ requests: hub.requests, files: readdirSync(folder) }).toEqual({ requests: [], files: [] });
    expect(`\n${messages.join("")}`).toMatchSnapshot();
  });
});
