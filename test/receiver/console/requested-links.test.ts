import { expect, onTestFinished, test } from "vitest";
import { WebhooksServer, type WebhooksServerOptions } from "../../../src/index.ts";
import { ConsoleClient } from "../../support/console-client.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { secret, startedAt } from "./open-receiver-console.ts";

/** Opens a server that is not launched. */
function openMounted(options: WebhooksServerOptions = {}) {
  const clock = { now: startedAt };
  const logger = createMemoryLogger();
  const server = new WebhooksServer({ secret, logger, now: () => clock.now, ...options });
  server.webhook("inline", () => {});
  onTestFinished(() => server.close());
  const connect = (base = "http://localhost:3000") =>
    new ConsoleClient(async (path, init) => server.fetch(new Request(`${base}/_console/${path}`, init)));
  const links = () => logger.lines.map((line) => line.console).filter((link) => link !== undefined);
  return { server, clock, connect, links };
}

test("A server that was not launched logs a link that signs in when its sign-in page is opened", async () => {
  const { connect, links } = openMounted();
  const client = connect();
  expect(links()).toEqual([]);
  expect(await client.read("session")).toMatchObject({ signedIn: false, methods: { token: false, linkFrom: "log" } });
  const [, code = ""] = /^\/_console\/#\/sign-in\/(.+)$/.exec(`${links()[0]}`) ?? [];
  expect((await client.signIn({ code })).status).toBe(200);
  await client.read("session");
  expect(links()).toHaveLength(1);
});

test("It logs at most one link in ten minutes, also after its clock was set back", async () => {
  const { connect, links, clock } = openMounted();
  const open = async () => {
    await connect().read("session");
    return links().length;
  };
  expect([await open(), await open()]).toEqual([1, 1]);
  clock.now += 599_999;
  expect(await open()).toBe(1);
  clock.now += 1;
  expect(await open()).toBe(2);
  clock.now -= 3_600_000;
  expect([await open(), await open()]).toEqual([3, 3]);
});

test("A link never contains a host that the client chose", async () => {
  for (const base of ["https://attacker.example", "http://localhost:9999"]) {
    const { connect, links } = openMounted();
    await connect(base).read("session");
    expect(links()).toEqual([expect.stringMatching(/^\/_console\/#\/sign-in\//)]);
  }
});

test("No link is logged with a console token, or if a launch was not to announce anything", async () => {
  const withToken = openMounted({ consoleToken: "t0ken-of-the-owner" });
  await withToken.connect().read("session");
  expect(withToken.links()).toEqual([]);
  const silent = openMounted();
  const { url } = await silent.server.launch({ port: 0, host: "127.0.0.1", announce: false, handleSignals: false });
  await (await fetch(`${url}/_console/api/session`)).json();
  expect(silent.links()).toEqual([]);
});
