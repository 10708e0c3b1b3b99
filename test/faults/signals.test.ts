import { describe, expect, test } from "vitest";
import { type CommandProcess, startCommand } from "../cli/command-process.ts";
import { openHub } from "../hub/scripted-hub.ts";
import { pushed, secret } from "../local-hub/support/hub.ts";
import { openTarget, type TargetAnswer } from "../local-hub/support/target.ts";
import { type ServerFault, startLocaltunnelServer } from "../support/localtunnel-server.ts";
import { RawSocket, requestBytes } from "../support/raw-socket.ts";
import { holdsSecret } from "../support/secrets.ts";
import { startFaultyProcess } from "./faulty-process.ts";
import { packageEnvironment } from "./on-built-package.ts";
import { openReceiver, secret as receiverSecret } from "./receiver.ts";
import { countRows, inOwnProcess } from "./rows.ts";

/* Repeats tests of other files with complete programs, for faults whose other tests use only parts of a program. */

countRows("signals");

const token = "hf_PlantedToken4c1d";
const slowTest = { timeout: 60_000 };

function start(argv: readonly string[], environment: Readonly<Record<string, string>> = {}): CommandProcess {
  inOwnProcess();
  return startCommand(argv, { ...packageEnvironment, ...environment });
}

describe("Brute force with the system clock", () => {
  test("S6: is answered 429 with Retry-After, and the valid secret with 200", async () => {
    const receiver = await openReceiver();
    const socket = await receiver.connect();
    const guess = (presented: string) =>
      socket.send(receiver.delivery({ headers: { "X-Webhook-Secret": presented } })).answer();
    // One time window of the rate limit may end in the meantime.
    const answers = [];
    for (let guesses = 0; guesses < 210; guesses += 1) answers.push(await guess("guess"));
    const limited = answers.filter(({ status }) => status === 429);
    expect(limited.length).toBeGreaterThan(0);
    expect(Number(limited.at(-1)?.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([403, 429]));
    expect((await guess(receiverSecret)).status).toBe(200);
    await receiver.keepsSecret(...answers.slice(-1));
  });
});

describe("The tunnel of a receiver", () => {
  test.each<[string, ServerFault]>([
    ["down", "refuse"],
    ["silent", "silent"],
    ["answering 403", "forbidden"],
    ["answering 500", "broken"],
    ["answering HTML", "html"],
  ])("T1: with a server that is %s fails with one line within 15 s", slowTest, async (_what, mode) => {
    await using host = await startLocaltunnelServer({ mode });
    const startedAt = performance.now();
    const child = startFaultyProcess({ TUNNEL: "1", LOCALTUNNEL_HOST: host.url });
    expect(await child.exited).toEqual({ code: 1, signal: null });
    // Includes the time to start and stop the process. `tunnel.test.ts` tests the timeout itself.
    expect(performance.now() - startedAt).toBeLessThan(45_000);
    const complaints = child.lines.filter(({ level }) => level === "warn" || level === "error");
    expect(complaints).toMatchObject([{ level: "error", code: "TUNNEL_FAILED" }]);
    expect(holdsSecret([child.lines, child.errorOutput], receiverSecret)).toBe(false);
  });

  test("T2: that reconnects at another address is logged", slowTest, async () => {
    await using host = await startLocaltunnelServer();
    const child = startFaultyProcess({ TUNNEL: "1", LOCALTUNNEL_HOST: host.url });
    await child.says(/^The server is ready/);
    await host.crash();
    await child.says(/^The tunnel is down./);
    host.giveNamesAway();
    host.comeBack();
    expect(await child.says(/NEW URL/)).toMatchObject({ level: "warn", urlBefore: expect.any(String) });
    child.signal("SIGTERM");
    expect(await child.exited).toEqual({ code: 0, signal: null });
    expect(holdsSecret([child.lines, child.errorOutput], receiverSecret)).toBe(false);
  });
});

describe("The command line with a failing Hub", () => {
  test.each([
    { what: "401", status: 401, asked: 1, says: /HF_TOKEN|token/ },
    { what: "429", status: 429, asked: 4, says: /again/ },
    { what: "503", status: 503, asked: 4, says: /again/ },
  ])("T4: $what is reported with a remedy after the last attempt", slowTest, async ({ status, asked, says }) => {
    const error = { error: `${token} ${secret}` };
    const hub = await openHub({ status, headers: { "retry-after": "1" }, json: error });
    const { exitCode, stdout, stderr } = await start(["list", "--hub-url", hub.url], { HF_TOKEN: token }).ended;
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(says);
    expect(hub.calls).toHaveLength(asked);
    expect(holdsSecret([stdout, stderr], token)).toBe(false);
  });

  test("T5: a suspended webhook is shown with the command that enables it", slowTest, async () => {
    const id = "65b2f0a1c3d4e5f60718293a";
    const watched = [{ name: "acme/data", type: "dataset" }];
    const webhook = { id, url: "https://acme-bot.hf.space/webhooks/retrain", watched, domains: ["repo"] };
    const hub = await openHub({ json: [{ ...webhook, disabled: "suspended-after-failure" }] });
    const { exitCode, stdout, stderr } = await start(["list", "--hub-url", hub.url], { HF_TOKEN: token }).ended;
    expect(exitCode, stderr).toBe(0);
    expect(stdout).toContain("suspended");
    expect(stderr).toContain(`hub-webhooks enable ${id}`);
  });
});

describe("A local Hub", () => {
  const headers = { authorization: "Bearer hf_local", "content-type": "application/json" };

  /** Opens a local Hub with a webhook for the target. */
  async function openHubTo(...answers: readonly TargetAnswer[]) {
    const target = await openTarget(...answers);
    const command = start(["hub", "--port", "0", "--format", "json"]);
    await command.says("\n");
    const { url }: { url: string } = JSON.parse(command.stdout);
    const ask = (path: string, body: object) =>
      fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    const watched = [{ type: "dataset", name: "me/data" }];
    const lead = (to: string) => ask("/api/settings/webhooks", { url: to, watched, domains: ["repo"], secret });
    const happen = async () => (await ask("/_local/events?wait=true", pushed)).json();
    return { target, command, url, lead, happen };
  }

  test("L1: reads at most 64 kB of an endless answer", slowTest, async () => {
    let sent = 0;
    const { target, lead, happen } = await openHubTo((_request, response) => {
      response.writeHead(200);
      const drip = setInterval(() => {
        sent += 16_384;
        response.write("x".repeat(16_384));
      }, 1);
      response.on("close", () => clearInterval(drip)).on("error", () => {});
    });
    await lead(target.url);
    expect(await happen()).toMatchObject({ deliveries: [{ status: 200 }] });
    // Plus the bytes in the system's socket buffers.
    expect(sent).toBeLessThan(16 * 1024 * 1024);
  });

  test("L2: does not follow a redirect", slowTest, async () => {
    const elsewhere = await openTarget(200);
    const { target, lead, happen } = await openHubTo((_request, response) => {
      response.writeHead(307, { location: elsewhere.url }).end();
    });
    await lead(target.url);
    expect(await happen()).toMatchObject({ deliveries: [{ status: 307 }] });
    expect(elsewhere.requests).toEqual([]);
  });

  test("L3: delivers to this machine only", slowTest, async () => {
    const { command, lead, happen } = await openHubTo(200);
    await lead("http://10.0.0.1/");
    const error = expect.stringMatching(/is not this machine.*--allow-remote/);
    expect(await happen()).toMatchObject({ deliveries: [{ status: null, error }] });
    expect(holdsSecret([command.stdout, command.stderr], secret)).toBe(false);
  });

  test("L4: refuses another Host and requests that are not JSON", slowTest, async () => {
    const { url, target, lead, happen } = await openHubTo(200);
    await lead(target.url);
    const send = async (changed: Readonly<Record<string, string>>) => {
      const socket = await RawSocket.open(url);
      const of = {
        Host: "127.0.0.1",
        "Content-Type": "application/json",
        Authorization: "Bearer hf_local",
        ...changed,
      };
      const answer = await socket.send(requestBytes({ path: "/_local/reset", headers: of, body: "{}" })).answer();
      socket.close();
      return answer.status;
    };
    expect(await send({ Host: "evil.example" })).toBe(403);
    expect(await send({ "Content-Type": "text/plain" })).toBe(403);
    expect(await happen()).toMatchObject({ deliveries: [{ status: 200 }] });
  });
});
