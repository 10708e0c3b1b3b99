import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import { LocalHub } from "../../../src/local-hub/local-hub.ts";
import { listen } from "../../support/listen.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { canMakeTerminal, startOnTerminal } from "../command-process.ts";
import { keys, type RunOptions, type RunResult, runCommand, runWithPrompts } from "../run-command.ts";
import { idOf, type StandInHub, startStandInHub, type WireWebhook, wireWebhook } from "../stand-in-hub.ts";

const id = idOf(1);
const secret = "correct horse";
const onTerminal = { isTerminal: true, env: { NO_COLOR: "1" } };

/** The result of a command, the Hub, and the body of the request that changed a webhook. */
type HubResult = RunResult & { hub: StandInHub; body: unknown };

/** Runs a command with a Hub that has these webhooks. */
async function runOn(
  webhooks: WireWebhook[],
  words: string | readonly string[],
  options: RunOptions = {},
): Promise<HubResult> {
  const hub = await startStandInHub(webhooks);
  const result = await runCommand(words, { hub, ...options });
  return { ...result, hub, body: hub.requests.find(({ method }) => method === "POST")?.body };
}

/** A webhook of each kind. */
const webhooks = [
  wireWebhook({ secret, lastTriggerAt: "2026-09-01T10:00:00Z" }),
  wireWebhook({
    id: idOf(2),
    url: undefined,
    disabled: true,
    job: { spaceId: "me/space", environment: {}, flavor: "cpu-basic", timeoutSeconds: null, secrets: ["API_KEY"] },
    watched: [
      { type: "org", name: "acme" },
      { type: "user", name: "me" },
    ],
    domains: ["repo"],
  }),
  wireWebhook({ id: idOf(3), url: undefined, jobSourceId: "job-1", disabled: "suspended-after-failure" }),
  wireWebhook({ id: idOf(4), url: `https://example.com/hook?secret=${encodeURIComponent(secret)}`, hasSecret: true }),
];

describe("hub-webhooks list", () => {
  test("describes a job without an image by its hardware", async () => {
    const job = { environment: {}, command: ["npx"], flavor: "cpu-basic", timeoutSeconds: null, secrets: [] };
    const { stdout } = await runOn([wireWebhook({ url: undefined, job })], "list");
    expect(stdout).toContain("\tjob on cpu-basic\t");
  });

  test("shows a table on a terminal", async () => {
    const { exitCode, stdout } = await runOn(webhooks, "list", onTerminal);
    expect(exitCode).toBe(0);
    const url = "https://example.com/hook";
    expect(stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
      ["ID", "STATE", "TARGET", "WATCHED", "DOMAINS", "SECRET", "LAST TRIGGER"],
      [idOf(1), "enabled", url, "dataset:me/data", "repo,discussion", "set", "2026-09-01T10:00:00Z"],
      [idOf(2), "disabled", "job in me/space on cpu-basic", "org:acme,user:me", "repo", "not set", "never"],
      [idOf(3), "suspended", "copy of job job-1", "dataset:me/data", "repo,discussion", "not set", "never"],
      [idOf(4), "enabled", `${url}?secret=***`, "dataset:me/data", "repo,discussion", "set", "never"],
      [""],
    ]);
  });

  test("colors the states on a terminal", async () => {
    const { stdout } = await runOn(webhooks, "list", { isTerminal: true });
    for (const state of ["\u001b[32menabled", "\u001b[33mdisabled", "\u001b[31msuspended"]) {
      expect(stdout).toContain(state);
    }
  });

  test("prints the Hub's objects as JSON, with secretIsSet instead of the secret", async () => {
    const [first, ...others] = JSON.parse((await runOn(webhooks, "list --format json")).stdout);
    const { secret: _secret, ...shown } = webhooks[0] ?? { secret };
    expect(first).toEqual({ ...shown, secretIsSet: true });
    expect(others).toMatchObject([
      { disabled: true, job: { secrets: ["API_KEY"] }, secretIsSet: false },
      { disabled: "suspended-after-failure", jobSourceId: "job-1" },
      { url: "https://example.com/hook?secret=***", secretIsSet: true },
    ]);
  });

  test("prints only ids with --format quiet", async () => {
    const { stdout } = await runOn(webhooks, "list --format quiet");
    expect(stdout).toBe(`${[1, 2, 3, 4].map(idOf).join("\n")}\n`);
  });

  test.each(["table", "json", "quiet"])(
    "shows no secret, and explains how to enable a suspended webhook: %s",
    async (format) => {
      const { stdout, stderr } = await runOn(webhooks, `list --format ${format}`);
      expect(decodeURIComponent(stdout + stderr)).not.toContain(secret);
      expect(stderr).toMatch(new RegExp(`^Webhook ${idOf(3)} is suspended.*hub-webhooks enable ${idOf(3)}\n$`));
      expect(stdout).not.toContain("hub-webhooks enable");
    },
  );

  test("escapes control characters in text from the Hub", async () => {
    const watched = [{ type: "dataset", name: "me/\u009b31m\u001b]0;x\u0007data\u202e\n" }];
    for (const words of ["list", "list --format json", `info ${id}`, `delete -y ${id}`]) {
      const hostile = [wireWebhook({ url: "https://example.com/\u001b[2J", watched })];
      const { stdout, stderr } = await runOn(hostile, words, onTerminal);
      expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    }
  });

  test("explains how to create the first webhook, only on standard error", async () => {
    const { exitCode, stdout, stderr } = await runOn([], "list");
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "" });
    expect(stderr).toMatch(/^No webhooks yet\. .*npx hub-webhooks create.*\n$/);
    expect(await runOn([], "list --format json")).toMatchObject({ exitCode: 0, stdout: "[]\n" });
  });
});

describe("hub-webhooks info", () => {
  test("shows one webhook as a block on a terminal", async () => {
    const { exitCode, stdout } = await runOn([wireWebhook({ secret })], `info ${id}`, onTerminal);
    expect(exitCode).toBe(0);
    expect(stdout).toBe(
      [
        `ID            ${id}`,
        "State         enabled",
        "Target        https://example.com/hook",
        "Watched       dataset:me/data",
        "Domains       repo,discussion",
        "Secret        set",
        "Last trigger  never",
        "",
      ].join("\n"),
    );
  });

  test("prints one JSON object", async () => {
    const { stdout } = await runOn([wireWebhook({ secret })], `info ${id} --format json`);
    expect(JSON.parse(stdout)).toMatchObject({ id, secretIsSet: true });
    expect(stdout).not.toContain("horse");
  });

  test("explains how to enable a suspended webhook", async () => {
    const suspended = [wireWebhook({ disabled: "suspended-after-failure" })];
    expect(await runOn(suspended, `info ${id}`)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("suspended"),
      stderr: expect.stringContaining(`hub-webhooks enable ${id}`),
    });
  });

  test("shows an unknown state unchanged", async () => {
    const { stdout, stderr } = await runOn([wireWebhook({ disabled: "archived" })], `info ${id}`);
    expect(stdout).toContain("\tarchived\t");
    expect(stderr).toBe("");
  });
});

const toUrl = ["create", "--url", "https://example.com/hook", "--watch", "model:a"];

describe("hub-webhooks create", () => {
  test("sends the given fields, and both domains", async () => {
    const words = "create --url https://example.com/hook --watch dataset:me/data";
    const { exitCode, stdout, hub } = await runOn([], words);
    expect(exitCode).toBe(0);
    expect(hub.requests).toEqual([
      {
        method: "POST",
        path: "/api/settings/webhooks",
        authorization: "Bearer hf_local",
        body: {
          url: "https://example.com/hook",
          watched: [{ type: "dataset", name: "me/data" }],
          domains: ["repo", "discussion"],
        },
      },
    ]);
    expect(stdout).toContain("\thttps://example.com/hook\tdataset:me/data\trepo,discussion\tnot set\t");
  });

  test("warns about a webhook without a secret", async () => {
    const open = await runOn([], [...toUrl, "--format", "json"]);
    expect(open.stderr).toMatch(/^note: The webhook has no secret.*--secret-stdin.*WEBHOOK_SECRET/);
    expect(JSON.parse(open.stdout)).toBeDefined();
    expect((await runOn([], [...toUrl, "--secret", "s3cret"])).stderr).toBe("");
    const copy = await runOn([], "create --job-source-id job-1 --watch model:a");
    expect(copy).toMatchObject({ stderr: "", body: { jobSourceId: "job-1" } });
    expect(copy.stdout).toContain("\tcopy of job job-1\t");
  });

  test("accepts several values for one --watch, and several --watch options, and sends each value once", async () => {
    const words = "create --url https://a.example --watch model:a org:b model:a --watch org:b bucket:c:d dataset:a";
    const { body } = await runOn([], words);
    const watched = [
      { type: "model", name: "a" },
      { type: "org", name: "b" },
      { type: "bucket", name: "c:d" },
      { type: "dataset", name: "a" },
    ];
    expect(body).toMatchObject({ watched });
  });

  test("sends the given domains with the Hub's names", async () => {
    const { body } = await runOn([], [...toUrl, "--domain", "repo", "discussion", "discussions"]);
    expect(body).toMatchObject({ domains: ["repo", "discussion"] });
    expect((await runOn([], [...toUrl, "--domain", "discussions"])).body).toMatchObject({ domains: ["discussion"] });
  });

  test("prints only the new id with --format quiet", async () => {
    expect((await runOn([], [...toUrl, "--format", "quiet"])).stdout).toMatch(/^[0-9a-f]{24}\n$/);
  });

  test("reports an invalid request of the client as wrong usage", async () => {
    const { exitCode, stderr, hub } = await runOn([], "create --url ftp://a --watch model:a");
    expect({ exitCode, requests: hub.requests }).toEqual({ exitCode: 2, requests: [] });
    expect(stderr).toMatch(/^error: .*url/);
  });
});

describe("The secret of a new webhook", () => {
  const fromInput = [...toUrl, "--secret-stdin"];

  test.each([
    ["--secret", [...toUrl, "--secret", secret], ""],
    ["standard input, up to the line end", fromInput, `${secret}\nnext\n`],
    ["standard input of Windows", fromInput, `${secret}\r\n`],
    ["standard input without a line end", fromInput, secret],
  ])("comes from %s, and is never printed", async (_name, argv, input) => {
    const { exitCode, stdout, stderr, body } = await runOn([], argv, { input });
    expect({ exitCode, body }).toMatchObject({ exitCode: 0, body: { secret } });
    expect(stdout).toContain("\tset\t");
    expect(stdout + stderr).not.toContain("horse");
  });

  test.each([
    ["clé\n", "secret"],
    ["", "empty"],
    ["\n", "empty"],
    ["x".repeat(1_100_000), "too large. The maximum is 1 MiB"],
    [Readable.from([Buffer.from("horse\u00e9", "latin1")]), "not valid UTF-8"],
  ])("is refused if standard input is not a valid secret", async (input, expected) => {
    const { exitCode, stderr, hub } = await runOn([], fromInput, { input });
    expect({ exitCode, requests: hub.requests }).toEqual({ exitCode: 2, requests: [] });
    expect(stderr).toContain(expected);
    expect(stderr).not.toContain("clé");
  });

  test.runIf(canMakeTerminal)("is prompted for on a terminal, without being shown", async () => {
    const hub = await startStandInHub();
    const command = startOnTerminal(fromInput.join(" "), hub);
    await command.says("Secret");
    command.stdin.write("correct horse\r");
    const { exitCode, stdout } = await command.ended;
    expect(exitCode).toBe(0);
    expect(hub.requests).toMatchObject([{ body: { secret } }]);
    expect(stdout).not.toContain("horse");
  });

  test("can be canceled on a terminal, and then no webhook is created", async () => {
    const hub = await startStandInHub();
    const { exitCode, stderr } = await runWithPrompts(fromInput, [["Secret", keys.interrupt]], { hub });
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining("Nothing was changed") });
    expect(hub.requests).toEqual([]);
  });
});

describe("The job of a new webhook", () => {
  const create = "create --job - --watch model:a";
  const job = {
    flavor: "cpu-basic",
    dockerImage: "python:3.12",
    command: ["python", "-c", "print(1)"],
    secrets: { API_KEY: secret },
  };

  test("comes from a file or from standard input", async () => {
    const file = join(createFolder(), "job.json");
    writeFileSync(file, `\uFEFF${JSON.stringify(job)}`);
    for (const words of [["create", "--job", file, "--watch", "model:a"], create]) {
      const { exitCode, stdout, stderr, body } = await runOn([], words, { input: JSON.stringify(job) });
      expect({ exitCode, stderr, body }).toMatchObject({ exitCode: 0, stderr: "", body: { job } });
      expect(stdout).not.toContain("horse");
    }
  });

  test("is read as UTF-8, also if a character is split between chunks", async () => {
    const expected = { ...job, environment: { WORD: "clé" } };
    const bytes = Buffer.from(JSON.stringify(expected));
    const inTheLetter = bytes.indexOf("é") + 1;
    const input = Readable.from([bytes.subarray(0, inTheLetter), bytes.subarray(inTheLetter)]);
    expect((await runOn([], create, { input })).body).toMatchObject({ job: expected });
  });

  test.each([
    ["is not valid JSON", '{"flavor": cpu}', "is not valid JSON"],
    ["is not valid UTF-8", Readable.from([Buffer.from('{"flavor": "cpu-basic\u00e9"}', "latin1")]), "not valid UTF-8"],
    ["is no object", "[]", "is not a valid job: job:"],
    ["lacks its flavor", "{}", "flavor: "],
    ["has a variable of one letter", '{"flavor": "cpu-basic", "environment": {"A": "1"}}', "environment.A: "],
  ])("is refused when it %s", async (_name, input, expected) => {
    const { exitCode, stderr, hub } = await runOn([], create, { input });
    expect({ exitCode, requests: hub.requests }).toEqual({ exitCode: 2, requests: [] });
    expect(stderr).toContain(expected);
    expect(stderr).toMatch(/^error: .*\n$/);
  });

  test("is sent with a flavor and a field that this release does not list, and a warning for each", async () => {
    const job = { flavor: "h9000", gpuType: "x", environment: {}, timeoutSeconds: null, attempts: 1 };
    const { exitCode, stderr, body } = await runOn([], create, { input: JSON.stringify(job) });
    expect({ exitCode, body }).toMatchObject({ exitCode: 0, body: { job } });
    expect(stderr).toMatch(/^warning: .*"h9000" of "job.flavor".*\nwarning: .*"job.gpuType".*\n$/);
  });
});

/** Returns a job without fields that have the Hub's default value. */
function withoutDefaults(job: object): object {
  const defaults: Record<string, string> = { environment: "{}", timeoutSeconds: "null", attempts: "1" };
  return Object.fromEntries(Object.entries(job).filter(([name, value]) => JSON.stringify(value) !== defaults[name]));
}

describe("hub-webhooks update", () => {
  test("changes the given fields, and keeps the others", async () => {
    const words = `update ${id} --url https://other.example`;
    const { exitCode, stdout, stderr, body } = await runOn([wireWebhook({ secret })], words);
    expect(exitCode).toBe(0);
    expect(body).toEqual({
      url: "https://other.example",
      watched: [{ type: "dataset", name: "me/data" }],
      domains: ["repo", "discussion"],
      secret,
    });
    expect(stdout).toContain("https://other.example");
    expect(stdout + stderr).not.toContain("horse");
  });

  test("replaces the lists that are given", async () => {
    const { body } = await runOn([wireWebhook()], `update ${id} --watch org:acme --domain repo`);
    expect(body).toMatchObject({ watched: [{ type: "org", name: "acme" }], domains: ["repo"] });
  });

  test("removes the secret, or reads a new one from standard input", async () => {
    const { exitCode, stdout, body } = await runOn([wireWebhook({ secret })], `update ${id} --no-secret`);
    expect({ exitCode, body }).toMatchObject({ exitCode: 0, body: { secret: "" } });
    expect(stdout).toContain("\tnot set\t");
    const set = await runOn([wireWebhook()], `update ${id} --secret-stdin`, { input: "battery staple\n" });
    expect(set.body).toMatchObject({ secret: "battery staple" });
  });

  const job = { environment: {}, flavor: "cpu-basic", timeoutSeconds: null, spaceId: "me/space", secrets: ["KEY"] };
  test.each([
    ["secret", { hasSecret: true }, /^error: .*\n.*--secret-stdin or --secret.*--no-secret\.\n$/],
    ["job", { url: undefined, job, secret }, /^error: .*\nSet the whole job again with --job FILE\.\n$/],
  ])(
    "requires a %s that the Hub does not return completely, and names the options",
    async (_what, fields, expected) => {
      const { exitCode, stderr, body } = await runOn([wireWebhook(fields)], `update ${id} --domain repo`);
      expect({ exitCode, body }).toEqual({ exitCode: 2, body: undefined });
      expect(stderr).toMatch(expected);
    },
  );

  test("replaces the job and its secrets, or a URL, with the content of the file", async () => {
    const before = {
      environment: { MODE: "old" },
      flavor: "cpu-basic",
      timeoutSeconds: 60,
      spaceId: "me/space",
      labels: { team: "a" },
      secrets: ["OLD", "KEPT"],
    };
    const job = { flavor: "t4-small", dockerImage: "python:3.12", secrets: { KEPT: "battery" } };
    for (const fields of [{ url: undefined, job: before }, {}]) {
      const input = JSON.stringify(job);
      const { exitCode, stderr, body } = await runOn([wireWebhook(fields)], `update ${id} --job -`, { input });
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      const { url, job: sent } = Object(body);
      expect({ url, job: withoutDefaults(sent) }).toEqual({ url: undefined, job });
    }
  });
});

test.each([
  ["enable", "suspended-after-failure", "enabled"],
  ["disable", false, "disabled"],
])("hub-webhooks %s updates the Hub and prints the new state", async (action, disabled, state) => {
  const { exitCode, stdout, stderr, hub } = await runOn([wireWebhook({ disabled })], [action, id]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(hub.requests).toMatchObject([{ method: "POST", path: `/api/settings/webhooks/${id}/${action}` }]);
  expect(stdout).toContain(`\t${state}\t`);
});

describe("hub-webhooks delete", () => {
  test.each([
    ["--yes", `id\tstate\n${id}\tdeleted\n`],
    ["-y", `id\tstate\n${id}\tdeleted\n`],
    ["-y --format json", `${JSON.stringify({ id, deleted: true }, null, 2)}\n`],
    ["-y --format quiet", `${id}\n`],
  ])("deletes without a prompt with %s", async (options, stdout) => {
    const { hub, ...result } = await runOn([wireWebhook()], `delete ${id} ${options}`);
    expect(result).toMatchObject({ exitCode: 0, stdout, stderr: "" });
    expect(hub.requests).toMatchObject([{ method: "DELETE", path: `/api/settings/webhooks/${id}` }]);
  });

  test.each([
    ["standard input", { isTerminal: true, input: "y\n" }],
    ["standard error", { input: Object.assign(new PassThrough(), { isTTY: true }) }],
  ])("requires --yes if %s is not a terminal, and sends no request", async (_name, options) => {
    const { exitCode, stdout, stderr, hub } = await runOn([wireWebhook()], `delete ${id}`, options);
    expect({ exitCode, stdout, requests: hub.requests }).toEqual({ exitCode: 2, stdout: "", requests: [] });
    expect(stderr).toMatch(/^error: .*--yes to confirm\.\n$/);
  });

  test.runIf(canMakeTerminal)("asks with the webhook's name on standard error, and deletes it after yes", async () => {
    const hub = await startStandInHub([wireWebhook()]);
    const command = startOnTerminal(`delete ${id} | sed 's/^/piped: /'`, hub);
    await command.says(/Permanently delete webhook .*dataset:me\/data to https:\/\/example\.com\/hook/s);
    expect(command.stdout).not.toContain("piped: ");
    expect(hub.webhooks).toHaveLength(1);
    command.stdin.write("y");
    await command.says(/piped: .*deleted/);
    expect(await command.ended).toMatchObject({ exitCode: 0 });
    expect(hub.webhooks).toEqual([]);
  });

  test.each([
    ["no", "n"],
    ["the default answer", keys.enter],
    ["Ctrl+C", keys.interrupt],
    ["Escape", keys.escape],
  ])("does not delete after %s", async (_name, key) => {
    const hub = await startStandInHub([wireWebhook()]);
    const result = await runWithPrompts(`delete ${id}`, [["Permanently delete webhook", key]], { hub });
    expect(result).toMatchObject({ exitCode: 1, stdout: "", stderr: expect.stringContaining("Nothing was changed.") });
    expect(hub.webhooks).toHaveLength(1);
  });
});

describe("hub-webhooks replay", () => {
  test.each([
    [200, 0],
    [204, 0],
    [299, 0],
    [199, 1],
    [302, 1],
    [500, 1],
  ])("prints the status %i and exits with %i", async (status, exitCode) => {
    const hub = await startStandInHub([wireWebhook()]);
    hub.replayStatus = status;
    const failure = `The server answered ${status}. Fix the problem shown in the server's log, then replay the delivery again.\n`;
    expect(await runCommand(`replay ${id} log-1 --format quiet`, { hub })).toEqual({
      ...{ exitCode, stdout: `${status}\n`, stderr: exitCode === 0 ? "" : failure },
    });
    expect(hub.requests).toMatchObject([{ method: "POST", path: `/api/settings/webhooks/${id}/replay/log-1` }]);
  });

  test.each([
    ["", `id\tlogId\tstatus\n${id}\tlog-1\t200\n`],
    [" --format table", `Webhook   ${id}\nDelivery  log-1\nStatus    200\n`],
    [" --format json", `${JSON.stringify({ id, logId: "log-1", status: 200 }, null, 2)}\n`],
  ])("says which delivery of which webhook: %s", async (format, stdout) => {
    expect(await runOn([wireWebhook()], `replay ${id} log-1${format}`)).toMatchObject({ stdout });
  });
});

/** Starts a local Hub that suspends webhooks after one failed attempt, and closes it after the test. */
async function startLocalHub(): Promise<LocalHub> {
  const hub = await LocalHub.launch({ attempts: 1, suspendAfter: 1, backoff: 1 });
  onTestFinished(() => hub.close());
  return hub;
}

/** Starts a receiver that responds with its current `status`. */
async function startReceiver(): Promise<{ url: string; status: number; secrets: unknown[] }> {
  const receiver: { url: string; status: number; secrets: unknown[] } = { url: "", status: 200, secrets: [] };
  const server = createServer((request, response) => {
    receiver.secrets.push(request.headers["x-webhook-secret"]);
    request.resume().on("end", () => response.writeHead(receiver.status).end());
  });
  receiver.url = `${(await listen(server)).url}/hook`;
  return receiver;
}

/** Creates a webhook with the command line and returns its ID. */
async function createWebhook(hub: LocalHub, ...argv: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await runCommand(["create", ...argv, "--format", "quiet"], { hub });
  expect({ exitCode, stderr }).toEqual({
    exitCode: 0,
    stderr: expect.stringMatching(/^(note: The webhook has no secret.*\n)?$/),
  });
  return stdout.trim();
}

async function showWebhook(hub: LocalHub, id: string): Promise<Record<string, unknown>> {
  const { stdout } = await runCommand(`info ${id} --format json`, { hub });
  return JSON.parse(stdout);
}

describe("The command line against a local Hub", () => {
  test("manages a webhook from its creation to its deletion", async () => {
    const hub = await startLocalHub();
    const receiver = await startReceiver();
    const id = await createWebhook(hub, "--url", receiver.url, "--watch", "dataset:me/data", "--secret", "horse");
    expect(await showWebhook(hub, id)).toMatchObject({ id, url: receiver.url, disabled: false, secretIsSet: true });

    await runCommand(`update ${id} --domain repo`, { hub });
    expect(await showWebhook(hub, id)).toMatchObject({ domains: ["repo"], secretIsSet: true });
    expect(await hub.push({ type: "dataset", name: "me/data" })).toMatchObject([{ webhookId: id, status: 200 }]);
    expect(receiver.secrets).toEqual(["horse"]);

    await runCommand(`update ${id} --no-secret`, { hub });
    expect(await showWebhook(hub, id)).toMatchObject({ secretIsSet: false, lastTriggerAt: expect.any(String) });

    await runCommand(`disable ${id}`, { hub });
    expect(await showWebhook(hub, id)).toMatchObject({ disabled: true });
    expect(await hub.push({ type: "dataset", name: "me/data" })).toEqual([]);

    await runCommand(`enable ${id}`, { hub });
    expect(await showWebhook(hub, id)).toMatchObject({ disabled: false });

    expect(await runCommand(`delete ${id} --yes`, { hub })).toMatchObject({ exitCode: 0 });
    expect(await runCommand(`info ${id}`, { hub })).toMatchObject({ exitCode: 1, stdout: "" });
  });
});
