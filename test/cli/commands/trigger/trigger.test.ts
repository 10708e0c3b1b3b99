import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { HubClient } from "../../../../src/client.ts";
import { parsePayload } from "../../../../src/index.ts";
import { data, openLocalHub, secret } from "../../../local-hub/support/hub.ts";
import { openReceiver, openTarget } from "../../../local-hub/support/target.ts";
import { freePort } from "../../../support/free-port.ts";
import { listen } from "../../../support/listen.ts";
import { createFolder } from "../../../support/temporary-folder.ts";
import { runTrigger } from "../../run-command.ts";

const toData = "dataset:me/data";

describe("hub-webhooks trigger", () => {
  test("fires every watching webhook, and shows the status, duration and response of each", async () => {
    const hub = await openLocalHub();
    const receiver = await openReceiver((server) => {
      server.webhook("retrain", ({ repo, event }) => ({ of: repo.name, did: `${event.scope} ${event.action}` }));
    });
    const url = receiver.urlOf("retrain");
    await hub.create({ url, secret });
    await hub.create({ url, secret, watched: [{ type: "user", name: "me" }] });
    await hub.create({ url, secret, watched: [{ type: "model", name: "me/net" }] });
    const { exitCode, stdout, stderr } = await runTrigger(toData, { hub });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const [heading, ...rows] = stdout.trimEnd().split("\n");
    expect(heading).toBe("url\tstatus\tdurationMs\tattempts\tdeliveryId\tanswer");
    expect(rows).toHaveLength(2);
    for (const row of rows) {
      expect(row.split("\t")).toEqual([
        url,
        "200",
        expect.stringMatching(/^\d+$/),
        "1",
        expect.stringMatching(/^[0-9a-f]{24}$/),
        '{"of":"me/data","did":"repo.content update"}',
      ]);
    }
  });

  test("pushes and deletes files, and opens a pull request with files", async () => {
    const hub = await openLocalHub();
    const receiver = await openReceiver((server) => {
      server.webhook("retrain", ({ event, updatedRefs }) => `${event.scope} ${updatedRefs?.[0]?.ref ?? ""}`);
    });
    await hub.create({ url: receiver.urlOf("retrain"), secret, domains: ["repo", "discussion"] });
    const file = join(createFolder(), "bad=data.csv");
    writeFileSync(file, "no header\n");
    const read = async (path: string, revision: string) => {
      const url = `${hub.url}/datasets/me/data/resolve/${encodeURIComponent(revision)}/${path}`;
      const response = await fetch(url, { headers: { authorization: "Bearer hf_local" } });
      return response.ok ? await response.text() : response.status;
    };
    const pushed = await runTrigger([toData, "--add", `data/train.csv=${file}`, `old.csv=${file}`], { hub });
    expect(pushed).toMatchObject({
      exitCode: 0,
      stderr: "",
      stdout: expect.stringContaining("repo.content refs/heads/main"),
    });
    expect(await read("data/train.csv", "main")).toBe("no header\n");
    expect(await runTrigger([toData, "--delete", "old.csv"], { hub })).toMatchObject({ exitCode: 0 });
    expect(await read("old.csv", "main")).toBe(404);
    const opened = await runTrigger([toData, "--pr", "--add", `new.csv=${file}`], { hub });
    expect(opened).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/discussion .*repo\.content refs\/pr\/1/s),
    });
    expect([await read("new.csv", "refs/pr/1"), await read("new.csv", "main")]).toEqual(["no header\n", 404]);
    const again = await runTrigger([toData, "--ref", "refs/pr/1", "--add", `more.csv=${file}`], { hub });
    expect(again).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("repo.content refs/pr/1") });
    expect([await read("more.csv", "refs/pr/1"), await read("more.csv", "main")]).toEqual(["no header\n", 404]);
  });

  test.each([
    ["--add new.csv=FILE", "Change new.csv", "This pull request changes new.csv."],
    ["--add a.csv=FILE b.csv=FILE", "Change 2 files", "This pull request changes a.csv, b.csv."],
    ["", "Change a file", "This pull request changes a file."],
    ["--set discussion.title=Fix", "Fix", "This pull request changes a file."],
    ["--add a.csv=FILE --set comment.content=Ready", "Change a.csv", "Ready"],
  ])("--pr %s opens a pull request that names its change", async (words, title, description) => {
    const [hub, receiver] = [await openLocalHub(), await openReceiver((server) => server.webhook("retrain", () => {}))];
    await hub.create({ url: receiver.urlOf("retrain"), secret, domains: ["repo", "discussion"] });
    const file = join(createFolder(), "data.csv");
    writeFileSync(file, "no header\n");
    const given = words === "" ? [] : words.replaceAll("FILE", file).split(" ");
    expect(await runTrigger([toData, "--pr", ...given], { hub })).toMatchObject({ exitCode: 0, stderr: "" });
    const client = new HubClient({ hubUrl: hub.url, token: "hf_local" });
    const discussion = await client.repo({ type: "dataset", name: "me/data" }).discussion(1);
    const texts = discussion.events.flatMap((event) => (event.type === "comment" ? [event.data.latest.raw] : []));
    expect([discussion.title, ...texts]).toEqual([title, description]);
  });

  test.each([
    ["--add data.csv", "is not a path and a file"],
    ["--add data.csv=/none/data.csv", "cannot be read (ENOENT)"],
    ["--add ../data.csv=package.json", "segment"],
    ["--delete missing.csv", "cannot be deleted"],
    ["--pr --url http://127.0.0.1:1/", "Remove --url"],
    ["--pr --scope repo", "Remove --scope"],
    ["--pr --ref refs/pr/1", "Remove --ref"],
    ["--delete old.csv --set updatedRefs.0.ref=refs/pr/1", "Use --ref"],
    ["--delete data.csv --repeat 2", "--repeat"],
  ])("refuses files that cannot be pushed: %s", async (words, message) => {
    const hub = await openLocalHub();
    await hub.create({ url: (await openTarget()).url });
    const result = await runTrigger(`${toData} ${words}`, words.includes("--url") ? {} : { hub });
    expect(result).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringContaining(message) });
  });

  test("exits with 1 if a delivery fails, and shows the last answer", async () => {
    const hub = await openLocalHub();
    const [good, bad] = [
      await openTarget(200),
      await openTarget((_request, response) => response.writeHead(500).end("boom")),
    ];
    await hub.create({ url: good.url });
    await hub.create({ url: bad.url });
    await hub.create({ url: "http://127.0.0.1:1/" });
    const { exitCode, stdout } = await runTrigger(toData, { hub });
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(new RegExp(`^${good.url}\t200\t\\d+\t1\t`, "m"));
    expect(stdout).toMatch(new RegExp(`^${bad.url}\t500\t\\d+\t3\t\\w+\tboom$`, "m"));
    expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:1\/\t\t\d+\t3\t\w+\tconnect ECONNREFUSED/m);
  });

  test("prints deliveries and a summary as JSON, and only ids with --format quiet", async () => {
    const hub = await openLocalHub();
    const target = await openTarget();
    const { id } = await hub.create({ url: target.url });
    const json = await runTrigger(`${toData} --format json`, { hub });
    expect(JSON.parse(json.stdout)).toEqual({
      deliveries: [
        {
          ...{ url: target.url, webhookId: id, deliveryId: target.ids[0], logId: expect.any(String) },
          ...{ attempts: 1, status: 200, durationMs: expect.any(Number), answer: "", error: null },
        },
      ],
      notified: [],
      summary: {
        deliveries: 1,
        succeeded: 1,
        failed: 0,
        byStatus: { "200": 1 },
        durationMs: { p50: expect.any(Number), p95: expect.any(Number), max: expect.any(Number) },
        perSecond: expect.any(Number),
      },
    });
    const quiet = await runTrigger(`${toData} --format quiet`, { hub });
    expect(quiet).toEqual({ exitCode: 0, stdout: `${target.ids[1]}\n`, stderr: "" });
  });

  test("masks secrets, and escapes control characters in answers", async () => {
    const hub = await openLocalHub();
    const target = await openTarget((request, response) => {
      response.end(`\u001b[2J${request.headers["x-webhook-secret"]} ${request.url}\u009b\nnext\u202e`);
    });
    await hub.create({ url: `${target.url}?secret=${secret}`, secret });
    for (const format of ["table", "json", "quiet"]) {
      const { stdout, stderr } = await runTrigger(`${toData} --format ${format}`, { hub, isTerminal: true });
      expect(stdout + stderr).not.toContain(secret);
      expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001a\u001c-\u001f\u007f-\u009f\u202e]|\u001b\[2J|\nnext/);
    }
  });

  test("needs no token", async () => {
    const hub = await openLocalHub();
    const target = await openTarget();
    await hub.create({ url: target.url });
    expect(await runTrigger(`${toData} --hub-url ${hub.url}/`)).toMatchObject({ exitCode: 0 });
    expect(await runTrigger(toData, { env: { HF_ENDPOINT: hub.url } })).toMatchObject({ exitCode: 0 });
    expect(target.requests).toHaveLength(2);
  });

  test("explains what to do about a rejected secret", async () => {
    const hub = await openLocalHub();
    const receiver = await openReceiver((server) => void server.webhook("hook", () => "done"));
    const { id } = await hub.create({ url: receiver.urlOf("hook") });
    const { exitCode, stderr } = await runTrigger(toData, { hub });
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`npx hub-webhooks update ${id} --secret-stdin --hub-url ${hub.url} --token hf_local`);
  });
});

describe("A repository that no webhook watches", () => {
  test("exits with 1, and shows the watched repositories with commands that fire", async () => {
    const hub = await openLocalHub();
    const target = await openTarget();
    await hub.create({ url: target.url, watched: [{ type: "org", name: "acme" }], domains: ["discussion"] });
    const { exitCode, stdout, stderr } = await runTrigger("dataset:me/dta", { hub });
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(/^error: No enabled webhook at .* watches dataset:me\/dta, scope repo\.content\.\n/);
    const [, command = ""] = /npx hub-webhooks trigger (.*)$/m.exec(stderr) ?? [];
    expect(command).toContain("dataset:acme/data --scope discussion");
    expect(await runTrigger(command.split(" "))).toMatchObject({ exitCode: 0, stderr: "" });
    expect(target.requests).toHaveLength(1);
  });

  test("lists only a few of many repositories", async () => {
    const hub = await openLocalHub();
    for (let number = 1; number <= 7; number += 1) {
      await hub.create({ url: "http://127.0.0.1:1/", watched: [{ type: "model", name: `me/${number}` }] });
    }
    const { stderr } = await runTrigger(toData, { hub });
    expect(stderr.match(/ watches model:/g)).toHaveLength(5);
    expect(stderr).toContain("and 2 more");
  });

  test("explains how to create a webhook if none exists", async () => {
    const hub = await openLocalHub();
    const { exitCode, stderr } = await runTrigger(toData, { hub });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^error: .* has no webhooks yet/);
    expect(stderr).toMatch(/npx hub-webhooks create .* --watch dataset:me\/data --hub-url http/);
  });

  test("lists the users who are notified of a discussion", async () => {
    const hub = await openLocalHub();
    const words = ["dataset:acme/reviews", "--scope", "discussion"];
    const text = await runTrigger(words, { hub });
    expect(text).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining("Users notified on the local Hub: local-user."),
    });
    expect(text.stderr).not.toContain("error");
    const json = await runTrigger([...words, "--format", "json", "--repeat", "3"], { hub });
    expect(json.exitCode).toBe(0);
    expect(JSON.parse(json.stdout)).toMatchObject({ deliveries: [], notified: ["local-user"] });
    const { body } = await hub.request("GET /api/notifications?repoName=acme/reviews&readStatus=unread");
    expect(body).toMatchObject({ count: { view: expect.any(Number) } });
  });

  test("prints an empty list as JSON", async () => {
    const hub = await openLocalHub();
    const { exitCode, stdout } = await runTrigger(`${toData} --format json`, { hub });
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ deliveries: [], summary: { deliveries: 0, durationMs: { p50: null } } });
  });
});

describe("A webhook that watches and does not fire", () => {
  const closed = { url: "http://127.0.0.1:1/" };

  test("is listed with the command that enables it, with a token of its owner", async () => {
    const hub = await openLocalHub();
    const { id } = await hub.create(closed, { token: "hf_other" });
    await hub.request(`POST /api/settings/webhooks/${id}/disable`, { token: "hf_other" });
    const { exitCode, stderr } = await runTrigger(toData, { hub });
    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      `is disabled. To enable it, run: npx hub-webhooks enable ${id} --hub-url ${hub.url} --token hf_other`,
    );
  });

  test.each([
    ["suspended", { attempts: 1, suspendAfter: 1 }, "is suspended because its deliveries failed"],
    ["used up", { attempts: 1, triggersPerDay: 1 }, "has reached its daily limit of triggers"],
  ])("is reported with the reason: %s", async (_name, options, message) => {
    const hub = await openLocalHub(options);
    await hub.create(closed);
    await hub.trigger();
    const stderr = expect.stringContaining(message);
    expect(await runTrigger(toData, { hub })).toMatchObject({ exitCode: 1, stderr });
  });

  test("is listed in addition to one that fires if it is disabled, but not if it has another domain", async () => {
    const hub = await openLocalHub();
    const { url } = await openTarget();
    await hub.create({ url });
    const { id } = await hub.create({ url });
    await hub.setState(id, "disable");
    const other = await hub.create({ url, domains: ["discussion"] });
    const { exitCode, stderr } = await runTrigger(toData, { hub });
    expect(exitCode).toBe(0);
    expect(stderr).toContain(id);
    expect(stderr).not.toContain(other.id);
  });

  test("is listed with a scope of its domain", async () => {
    const hub = await openLocalHub();
    await hub.create({ ...closed, domains: ["discussion"] });
    const { stderr } = await runTrigger(toData, { hub });
    expect(stderr).toContain(`trigger dataset:me/data --scope discussion --hub-url ${hub.url}`);
  });

  test("is listed if its owner cannot read the repository", async () => {
    const hub = await openLocalHub();
    await hub.create(closed, { token: "hf_other" });
    const { stderr } = await runTrigger(`${toData} --file -`, { hub, input: '{"repo": {"private": true}}' });
    expect(stderr).toContain("other-user has no access to this private repository");
  });
});

describe("The Hub of trigger", () => {
  /** Answers the first request like a local Hub without webhooks, and other requests with a function. */
  const greet =
    (answer: RequestListener): RequestListener =>
    (request, response) => {
      if (request.method === "GET") response.end("[]");
      else answer(request, response);
    };
  const hangUp: RequestListener = (request) => request.socket.destroy();

  test.each([
    [
      "on this machine",
      { HF_ENDPOINT: "https://hub.example.com" },
      2,
      /^error: Only a local Hub.* is not on this mach/,
    ],
    [
      "running",
      async () => ({ HF_ENDPOINT: `http://localhost:${await freePort()}` }),
      1,
      /^error: No local Hub is running at .*"npx hub-webhooks dev server\.ts" or "npx hub-webhooks hub".*\n$/,
    ],
  ])("must be %s", async (_name, env, exitCode, stderr) => {
    const result = await runTrigger(toData, { env: typeof env === "function" ? await env() : env });
    expect(result).toMatchObject({ exitCode, stderr: expect.stringMatching(stderr) });
  });

  test.each<[name: string, answer: RequestListener, expected: RegExp]>([
    ["404", (_request, response) => response.writeHead(404).end("<html>"), /is not a local Hub\. .*\n$/],
    ["a page", (_request, response) => response.end("<html>"), /is not a local Hub\. .*\n$/],
    ["other JSON", (_request, response) => response.end('{"webhooks":[]}'), /is not a local Hub\. .*\n$/],
    ["nothing", hangUp, /is not a local Hub\. .*\n$/],
    ["nothing to the event", greet(hangUp), /^error: The local Hub at \S+ stopped/],
  ])("must be a local Hub: exit code 1 where something else answers with %s", async (_name, answer, expected) => {
    const { exitCode, stderr } = await runTrigger(toData, { hub: await listen(createServer(answer)) });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^error: The (server|local Hub) at http:\S+ /);
    expect(stderr).toMatch(expected);
  });

  test.each([
    [413, 2],
    [500, 1],
  ])("prints why it rejects an event with %i", async (status, expected) => {
    const reject = greet((_request, response) => response.writeHead(status).end('{"error":"Too large."}'));
    const { exitCode, stderr } = await runTrigger(toData, { hub: await listen(createServer(reject)) });
    expect({ exitCode, stderr }).toEqual({
      exitCode: expected,
      stderr: "error: The local Hub rejected the request: Too large.\n",
    });
  });

  test("does not redirect to another Hub", async () => {
    const { url } = await openLocalHub();
    const otherServer = createServer((request, response) => {
      response.writeHead(307, { location: `${url}${request.url}` }).end();
    });
    const { exitCode, stderr } = await runTrigger(toData, { hub: await listen(otherServer) });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^error: The server at http:\S+ is not a local Hub\. .*\n$/);
  });

  test.each([
    ["greeting", toData, () => {}],
    ["dry run", `${toData} --dry-run`, greet(() => {})],
    ["greeting of a dry run", `${toData} --dry-run`, () => {}],
  ])("is waited for ten seconds, and no longer: %s", async (_what, words, answer) => {
    const { timeout } = AbortSignal;
    const deadlines: number[] = [];
    vi.spyOn(AbortSignal, "timeout").mockImplementation((milliseconds) => {
      deadlines.push(milliseconds);
      return timeout(50);
    });
    onTestFinished(() => void vi.restoreAllMocks());
    const hub = await listen(createServer(answer));
    const stderr = expect.stringMatching(/^error: .*did not answer within 10 s/);
    expect(await runTrigger(words, { hub })).toMatchObject({ exitCode: 1, stdout: "", stderr });
    expect(deadlines.at(-1)).toBe(10_000);
  });
});

describe("A dry run", () => {
  test("shows the payload and its recipients, without sending it", async () => {
    const hub = await openLocalHub();
    const target = await openTarget();
    const { id } = await hub.create({ url: `${target.url}?secret=${secret}` });
    const { exitCode, stdout, stderr } = await runTrigger(`${toData} --dry-run --set note=\u202eyes`, { hub });
    expect(exitCode).toBe(0);
    expect(stdout).not.toContain("\u202e");
    expect(JSON.parse(stdout)).toMatchObject({ repo: data, webhook: { id }, note: "\u202eyes" });
    expect(stdout).toContain('\n  "repo": {\n');
    expect(stderr).toBe(`Would be sent to ${target.url}?secret=*** (webhook ${id}).\n`);
    expect(target.requests).toEqual([]);
    expect(await hub.entries(id)).toEqual([]);
  });

  test("exits with 1 if no webhook would fire, but shows the payload", async () => {
    const { exitCode, stdout, stderr } = await runTrigger(`${toData} --dry-run`, { hub: await openLocalHub() });
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ repo: data });
    expect(stderr).toContain("error: ");
  });

  test("shows the payload without a local Hub, and lists no destinations as JSON", async () => {
    const hubUrl = `http://127.0.0.1:${await freePort()}`;
    const words = `${toData} --dry-run --set note=yes --hub-url ${hubUrl}`;
    const { exitCode, stdout, stderr } = await runTrigger(words);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ repo: data, webhook: { id: expect.any(String) }, note: "yes" });
    expect(stderr).toBe(`note: No local Hub is running at ${hubUrl}, so the destinations are unknown.\n`);
    const json = JSON.parse((await runTrigger(`${words} --format json`)).stdout);
    expect(json).toMatchObject({ payload: { repo: data }, receivers: [], notFired: [] });
  });
});

describe("hub-webhooks trigger --url", () => {
  test("sends the Hub's headers with a new ID each time, and needs no Hub", async () => {
    const target = await openTarget();
    const words = `dataset:me/data --url ${target.url}`;
    expect(await runTrigger(words)).toMatchObject({ exitCode: 0, stderr: "" });
    const { stdout } = await runTrigger(`${words} --format quiet`, { env: { HF_ENDPOINT: "https://x.example" } });
    expect(target.requests).toHaveLength(2);
    for (const { line, headers, body } of target.requests) {
      expect(line).toBe("POST /hook");
      expect(headers).toMatchObject({ "content-type": "application/json", "webhook-id": expect.any(String) });
      expect(headers).not.toHaveProperty("x-webhook-secret");
      expect(parsePayload(JSON.parse(body)).repo.url.web).toBe("https://huggingface.co/datasets/me/data");
    }
    expect(new Set(target.ids).size).toBe(2);
    expect(stdout).toBe(`${target.ids[1]}\n`);
  });

  test.each([
    ["--secret", ["--secret", secret], {}, ""],
    ["--secret-stdin", ["--secret-stdin"], {}, `${secret}\n`],
    ["WEBHOOK_SECRET", [], { WEBHOOK_SECRET: secret }, ""],
    ["--secret before WEBHOOK_SECRET", ["--secret", secret], { WEBHOOK_SECRET: "another" }, ""],
  ])("uses the secret from %s, which a real receiver accepts", async (_name, argv, env, input) => {
    const receiver = await openReceiver((server) => void server.webhook("hook", () => `done with ${secret}`));
    const url = receiver.urlOf("hook");
    const { exitCode, stdout, stderr } = await runTrigger(["dataset:me/data", "--url", url, ...argv], { env, input });
    expect(stdout).toContain("done with ***");
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).not.toContain(secret);
  });

  test.each([
    [{}, 401, "requires a secret. Set WEBHOOK_SECRET"],
    [{ WEBHOOK_SECRET: "another" }, 403, "rejected the secret"],
    [{ WEBHOOK_SECRET: "" }, 401, "requires a secret"],
  ])("prints a remedy if the receiver refuses the delivery: %j", async (env, status, expected) => {
    const receiver = await openReceiver((server) => void server.webhook("hook", () => "done"));
    const { exitCode, stdout, stderr } = await runTrigger(`dataset:me/data --url ${receiver.urlOf("hook")}`, { env });
    expect(exitCode).toBe(1);
    expect(stdout).toContain(`\t${status}\t`);
    expect(stderr).toContain(expected);
  });

  test("closes its connections when it is done", async () => {
    const server = createServer({ keepAliveTimeout: 0 }, (_request, response) => response.end());
    const connected = once(server, "connection");
    const { url } = await listen(server);
    expect(await runTrigger(`dataset:me/data --url ${url}`)).toMatchObject({ exitCode: 0 });
    const [socket] = await connected;
    await expect.poll(() => socket.closed).toBe(true);
  });

  test("suggests checking the path after a 404", async () => {
    const target = await openTarget(404);
    const { stderr } = await runTrigger(`dataset:me/data --url ${target.url}`);
    expect(stderr).toContain("/webhooks/NAME");
  });

  test("fails after one attempt if nothing answers", async () => {
    const { exitCode, stdout, stderr } = await runTrigger("dataset:me/data --url http://127.0.0.1:1/");
    expect(exitCode).toBe(1);
    expect(stderr).toBe("No server listens at 127.0.0.1:1. Start the server, or fix --url.\n");
    expect(stdout).toMatch(/\t\t\d+\t1\t\w+\tconnect ECONNREFUSED/);
  });

  test("may use any address of this machine", async () => {
    const target = await openTarget();
    const url = target.url.replace("127.0.0.1", "0.0.0.0");
    expect(await runTrigger(`dataset:me/data --url ${url}`)).toMatchObject({ exitCode: 0 });
    expect(target.requests).toHaveLength(1);
  });

  test("may be on another machine, and is printed without its secrets", async () => {
    const url = `http://bot:${secret}@nobody.invalid/?secret=${secret}`;
    const { exitCode, stdout, stderr } = await runTrigger(`dataset:me/data --url ${url} --format json`);
    expect(exitCode).toBe(1);
    const error = expect.stringContaining("nobody.invalid");
    expect(JSON.parse(stdout).deliveries).toMatchObject([
      { url: "http://bot:***@nobody.invalid/?secret=***", status: null, error },
    ]);
    expect(stdout + stderr).not.toContain(secret);
  });

  test("shows the URL in a dry run", async () => {
    const target = await openTarget();
    const { exitCode, stderr } = await runTrigger(`model:me/net --url ${target.url}?token=x --dry-run`);
    expect(exitCode).toBe(0);
    expect(stderr).toBe(`Would be sent to ${target.url}?token=***.\n`);
    expect(target.requests).toEqual([]);
  });
});
