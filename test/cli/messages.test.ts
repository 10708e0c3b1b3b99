import { describe, expect, test } from "vitest";
import { runCommand } from "./run-command.ts";
import { startStandInHub } from "./stand-in-hub.ts";

/**
 * The snapshot contains the wording of the command line's messages. After a change, run vitest with `-u` and review the
 * diff.
 */
const commands = [
  "",
  "init",
  "dev",
  "trigger",
  "hub",
  "list",
  "info",
  "create",
  "update",
  "enable",
  "disable",
  "delete",
  "replay",
  "sync",
  "deliveries",
  "deliveries list",
  "deliveries show",
  "deliveries replay",
  "deliveries counts",
  "deliveries tail",
  "deliveries compact",
  "job",
];

describe("The help", () => {
  test.each(commands)("of hub-webhooks %s", async (command) => {
    const { exitCode, stdout, stderr } = await runCommand([...command.split(" ").filter(Boolean), "--help"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatchSnapshot();
  });
});

const id = "654bbbc16f2ec14d77f109cc";

describe("A usage error exits with 2, before any request to the Hub", () => {
  test.each<[name: string, argv: readonly string[]]>([
    ["unknown command", ["creat"]],
    ["unknown option", ["create", "--wach", "org:a"]],
    ["unknown global option", ["list", "--tokn", "x"]],
    ["unknown subcommand", ["deliveries", "shw"]],
    ["unknown option of a subcommand", ["deliveries", "list", "--stats", "dead"]],
    ["unknown format", ["list", "--format", "yaml"]],
    ["missing value of an option", ["list", "--format"]],
    ["empty token", ["list", "--token", ""]],
    ["token with white space", ["list", "--token", "hf_a b"]],
    ["invalid Hub URL", ["list", "--hub-url", "nowhere"]],
    ["missing argument", ["info"]],
    ["too many arguments", ["info", "a", "b"]],
    ["port that is not a number", ["hub", "--port", "http"]],
    ["port out of range", ["hub", "--port", "65536"]],
    ["create without a target", ["create", "--watch", "org:a"]],
    ["create without --watch", ["create", "--url", "https://a.example"]],
    ["create with two targets", ["create", "--watch", "org:a", "--url", "https://a.example", "--job-source-id", "b"]],
    ["mistyped type", ["create", "--watch", "orgs:a"]],
    ["watch without a type", ["create", "--watch", "me/data"]],
    ["mistyped domain", ["create", "--domain", "discusion"]],
    ["domains with a comma", ["create", "--domain", "repo,discussion"]],
    ["ID after --watch", ["update", "--watch", "org:a", id]],
    ["ID after --domain", ["update", "--domain", "repo", id]],
    ["two secrets", ["update", "a", "--secret", "b", "--secret-stdin"]],
    ["empty secret", ["update", "a", "--secret", ""]],
    ["secret set and removed", ["update", "a", "--secret", "b", "--no-secret"]],
    ["secret removed and set", ["update", "a", "--no-secret", "--secret", "b"]],
    ["two readers of standard input", ["update", "a", "--job", "-", "--secret-stdin"]],
    ["update without a change", ["update", "a"]],
    ["missing job file", ["update", "a", "--job", "/nonexistent.json"]],
    ["delete without a terminal", ["delete", id]],
    ["sync without a public URL", ["sync"]],
    ["sync --prune without a terminal", ["sync", "--prune", "--public-url", "https://a.example"]],
    ["sync --clean with a file", ["sync", "server.ts", "--clean", "--prune"]],
    ["dev with an unknown Hub", ["dev", "--hub", "remote"]],
    ["dev --hub local with --hub-url", ["dev", "--hub-url", "http://127.0.0.1:5050"]],
    ["dev --hub real with --hub-port", ["dev", "--hub", "real", "--hub-port", "5051"]],
    ["dev with a tunnel and a public URL", ["dev", "--tunnel", "ngrok", "--public-url", "https://a.example"]],
    ["dev with an unknown tunnel", ["dev", "--tunnel", "ssh"]],
    ["trigger without a repository", ["trigger"]],
    ["trigger without a type", ["trigger", "me/data"]],
    ["trigger of a user", ["trigger", "user:me"]],
    ["trigger of a mistyped type", ["trigger", "datset:me/data"]],
    ["trigger without an owner", ["trigger", "dataset:data"]],
    ["trigger of an unknown scope", ["trigger", "dataset:me/data", "--scope", "content"]],
    ["trigger of a move without a destination", ["trigger", "model:me/a", "--scope", "repo", "--action", "move"]],
    ["trigger with a repository after --set", ["trigger", "--set", "repo.private=true", "dataset:me/data"]],
    ["trigger --set without a value", ["trigger", "dataset:me/data", "--set", "repo.private"]],
    ["trigger --unset with a value", ["trigger", "dataset:me/data", "--unset", "repo.private=true"]],
    ["trigger with a secret but no URL", ["trigger", "dataset:me/data", "--secret", "b"]],
    ["trigger with a URL and a Hub", ["trigger", "dataset:me/data", "--url", "http://a", "--hub-url", "http://b"]],
    ["trigger to an invalid URL", ["trigger", "dataset:me/data", "--url", "a"]],
    ["trigger on a remote Hub", ["trigger", "dataset:me/data", "--hub-url", "https://huggingface.co"]],
    ["trigger with too many repeats", ["trigger", "dataset:me/data", "--repeat", "10001"]],
    ["deliveries of an unknown status", ["deliveries", "list", "--status", "failed"]],
    ["deliveries with two limits", ["deliveries", "list", "--all", "--limit", "5"]],
    ["deliveries of an empty inbox URL", ["deliveries", "--inbox", "", "list"]],
    ["deliveries replay without IDs", ["deliveries", "replay"]],
    ["deliveries replay with IDs and --dead", ["deliveries", "replay", "a", "--dead", "--endpoint", "b"]],
    ["deliveries replay --dead without an endpoint", ["deliveries", "replay", "--dead"]],
    ["deliveries replay --dead without a terminal", ["deliveries", "replay", "--dead", "--endpoint", "b"]],
    ["deliveries tail with a bare interval", ["deliveries", "tail", "--interval", "5"]],
    ["init without a folder", ["init"]],
    ["init with an empty folder name", ["init", ""]],
    ["init without a template", ["init", "/nonexistent/new"]],
    ["init with an unknown template", ["init", "a", "--template", "docker"]],
    ["init with a mistyped example", ["init", "a", "--example", "auto-retrian"]],
    ["init with an invalid name", ["init", "a", "--name", "My Bot"]],
    ["init with a reserved name", ["init", "a", "--name", "hub-webhooks"]],
    ["job without a file", ["job"]],
  ])("%s", async (_name, argv) => {
    const hub = await startStandInHub();
    const { exitCode, stdout, stderr } = await runCommand(argv, {
      env: { HF_ENDPOINT: hub.url, HF_TOKEN: "hf_local" },
    });
    expect({ exitCode, stdout, requests: hub.requests }).toEqual({ exitCode: 2, stdout: "", requests: [] });
    expect(stderr).toMatch(/^error: .*\n(For help, run: npx hub-webhooks.* --help\n)?$/);
    expect(stderr).toMatchSnapshot();
  });
});
