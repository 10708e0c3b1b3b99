import { beforeEach, describe, expect, test, vi } from "vitest";
import { type LaunchOptions, WebhooksServer } from "../../../src/index.ts";
import { freePort } from "../../support/free-port.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

beforeEach(() => {
  const names = ["HOST", "PORT", "TUNNEL", "SPACE_ID", "SPACE_HOST", "WEBHOOK_SECRET", "PUBLIC_URL"];
  for (const name of names) vi.stubEnv(name, undefined);
});

function createReceiver() {
  const logger = createMemoryLogger();
  const server = new WebhooksServer({ logger });
  server.webhook("retrain", () => "done");
  const launch = (options: LaunchOptions) => server.launch({ port: 0, ...options });
  return { server, logger, launch };
}

describe("The public URL of a launch", () => {
  test("is in the log and on the landing page, without a trailing slash", async () => {
    const { server, logger, launch } = createReceiver();
    await using launched = server;
    const { url, publicUrl } = await launch({ publicUrl: "https://bot.example.com/behind/" });
    expect(launched.endpointNames).toEqual(["retrain"]);
    expect(publicUrl).toBe("https://bot.example.com/behind");
    expect(logger.text()).toContain("POST https://bot.example.com/behind/webhooks/retrain");
    expect(await (await fetch(url)).text()).toContain("https://bot.example.com/behind/webhooks/retrain");
  });

  test("is that of PUBLIC_URL by default, which overrides that of the Space", async () => {
    vi.stubEnv("PUBLIC_URL", "https://bot.example.com");
    vi.stubEnv("SPACE_ID", "acme/rain-bot");
    vi.stubEnv("SPACE_HOST", "acme-rain-bot.hf.space");
    const first = createReceiver();
    expect((await first.launch({})).publicUrl).toBe("https://bot.example.com");
    const second = createReceiver();
    expect((await second.launch({ publicUrl: "https://other.example.com" })).publicUrl).toBe(
      "https://other.example.com",
    );
  });

  test("may change if it is a function", async () => {
    const { server, launch } = createReceiver();
    await using _server = server;
    let address = "https://quiet-owl-12.loca.lt";
    const { url } = await launch({ publicUrl: () => address });
    expect(await (await fetch(url)).text()).toContain("https://quiet-owl-12.loca.lt/webhooks/retrain");
    address = "https://loud-owl-13.loca.lt";
    expect(await (await fetch(url)).text()).toContain("https://loud-owl-13.loca.lt/webhooks/retrain");
  });

  test("that a function cannot return yet fails the launch, after which the port is free", async () => {
    const { server, launch } = createReceiver();
    await using _server = server;
    const port = await freePort();
    const error = new Error("The tunnel is not open.");
    const publicUrl = vi.fn<() => string>().mockImplementationOnce(() => {
      throw error;
    });
    await expect(launch({ port, publicUrl })).rejects.toBe(error);
    publicUrl.mockReturnValue("https://bot.example.com");
    expect((await launch({ port, publicUrl })).publicUrl).toBe("https://bot.example.com");
  });

  test.for([
    "bot.example.com",
    "ftp://bot.example.com",
    "https://me:Planted-5ecret@bot.example.com",
    "https://bot.example.com/?token=Planted-5ecret",
    "https://bot.example.com/#top",
  ])("is refused as %s, which is not repeated", async (publicUrl) => {
    const { server, launch } = createReceiver();
    await using _server = server;
    const refused = await launch({ publicUrl }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "OPTION_INVALID" });
    expect(String(refused)).not.toContain("Planted-5ecret");
  });
});

describe("A launch with announce: false", () => {
  test("does not log the URLs and whether a secret is set", async () => {
    const quiet = createReceiver();
    await quiet.launch({ announce: false });
    expect(quiet.logger.lines.filter(({ level }) => level === "info")).toEqual([]);
    const loud = createReceiver();
    await loud.launch({});
    expect(loud.logger.text()).toContain("The server is ready");
  });

  test("logs warnings", async () => {
    const logger = createMemoryLogger();
    await using server = new WebhooksServer({ logger, secret: "two lines\n" });
    server.webhook("retrain", () => "done");
    await server.launch({ port: 0, announce: false });
    expect(logger.lines.map(({ level }) => level)).toEqual(["warn"]);
  });
});
