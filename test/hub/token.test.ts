import { mkdir, writeFile } from "node:fs/promises";
import os from "node:os";
import { dirname, join } from "node:path";
import { inspect } from "node:util";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { HubClient } from "../../src/client.ts";
import { createFolder } from "../support/temporary-folder.ts";
import { openClient, openHub, rejectionOf } from "./scripted-hub.ts";

let home: string;

/** Tests must not find the token of the developer who runs them. */
beforeEach(() => {
  home = createFolder();
  const cleared = ["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH", "HF_HOME", "XDG_CACHE_HOME", "HF_ENDPOINT"];
  for (const name of cleared) vi.stubEnv(name, undefined);
  vi.stubEnv("HOME", home);
});

async function write(path: string, text: string): Promise<string> {
  const file = join(home, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  return file;
}

/** Makes Node fail as for a user without `HOME` and without an entry in /etc/passwd. */
function stubMissingHome(): void {
  const stub = vi.spyOn(os, "homedir").mockImplementation(() => {
    throw Object.assign(new Error("uv_os_homedir returned ENOENT"), { code: "ERR_SYSTEM_ERROR" });
  });
  onTestFinished(() => stub.mockRestore());
}

/** Returns the token that the Hub receives. */
async function tokenSent(option?: string): Promise<string | undefined> {
  const hub = await openHub({ json: [] });
  await openClient(hub, { token: option }).webhooks.list();
  return hub.requests[0]?.headers.authorization?.replace(/^Bearer /, "");
}

async function refusal(option?: string): Promise<unknown> {
  const hub = await openHub({ json: [] });
  const error = await rejectionOf(openClient(hub, { token: option }).webhooks.list());
  expect(hub.calls).toEqual([]);
  return error;
}

describe("The token", () => {
  const file = "huggingface/token";
  /** Sets a variable to a path, and writes the token to this path or to a file below. */
  async function stubPath(variable: string, path: string, text: string, below = ""): Promise<void> {
    await write(join(path, below), text);
    vi.stubEnv(variable, join(home, path));
  }
  const places: readonly [string, string, () => Promise<unknown> | unknown][] = [
    ["in the option", "hf_option", () => {}],
    ["in HF_TOKEN", "hf_env", () => vi.stubEnv("HF_TOKEN", "hf_env")],
    ["in HUGGING_FACE_HUB_TOKEN", "hf_old", () => vi.stubEnv("HUGGING_FACE_HUB_TOKEN", "hf_old")],
    ["in the file at HF_TOKEN_PATH", "hf_path", () => stubPath("HF_TOKEN_PATH", "my-token", "hf_path\n")],
    ["in $HF_HOME/token", "hf_home", () => stubPath("HF_HOME", "hf", " hf_home \r\n", "token")],
    ["in $XDG_CACHE_HOME/huggingface/token", "hf_xdg", () => stubPath("XDG_CACHE_HOME", "xdg", "hf_xdg", file)],
    ["in ~/.cache/huggingface/token", "hf_cache", () => write(".cache/huggingface/token", "hf_cache\n")],
  ];

  test.each(places.map(([place, expected], index) => [place, expected, index] as const))(
    "is read %s, which overrides the later places",
    async (_place, expected, index) => {
      for (const [, , prepare] of places.slice(index)) await prepare();
      expect(await tokenSent(index === 0 ? expected : undefined)).toBe(expected);
    },
  );

  test("is not read from an empty option, variable or file", async () => {
    for (const name of ["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"]) vi.stubEnv(name, "");
    await write(".cache/huggingface/token", "hf_cache\n");
    expect(await tokenSent("")).toBe("hf_cache");
    vi.stubEnv("HF_TOKEN", " \n");
    expect(await tokenSent(" ")).toBe("hf_cache");
  });

  test("is read from $HF_HOME/token by a user without a home folder", async () => {
    stubMissingHome();
    vi.stubEnv("HF_HOME", home);
    await write("token", "hf_home");
    expect(await tokenSent()).toBe("hf_home");
  });

  test("is trimmed", async () => {
    expect(await tokenSent(" hf_option\n")).toBe("hf_option");
  });

  test("is read from a folder that starts with a tilde", async () => {
    await write("hf/token", "hf_tilde");
    vi.stubEnv("HF_HOME", "~/hf");
    expect(await tokenSent()).toBe("hf_tilde");
  });

  test("is not read again once a call has found it", async () => {
    const hub = await openHub({ json: [] });
    const client = openClient(hub, { token: undefined });
    expect(await rejectionOf(client.webhooks.list())).toMatchObject({ code: "HUB_TOKEN_MISSING" });
    vi.stubEnv("HF_TOKEN", "hf_first");
    await client.webhooks.list();
    vi.stubEnv("HF_TOKEN", "hf_second");
    await client.webhooks.list();
    expect(hub.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer hf_first", "Bearer hf_first"]);
  });
});

describe("Without a token, the client throws HUB_TOKEN_MISSING", () => {
  test.each<[string, () => Promise<unknown> | unknown]>([
    ["if no token is configured", () => {}],
    ["if the file is empty", () => write(".cache/huggingface/token", "\n")],
    ["if the file of HF_TOKEN_PATH is missing", () => vi.stubEnv("HF_TOKEN_PATH", join(home, "none"))],
    ["if the file cannot be read", () => vi.stubEnv("HF_TOKEN_PATH", home)],
    ["if a folder of the path is a file", async () => vi.stubEnv("HF_HOME", await write("file", ""))],
  ])("%s", async (_when, prepare) => {
    await prepare();
    expect(await refusal()).toMatchObject({ name: "HubError", code: "HUB_TOKEN_MISSING" });
  });

  test("if the user has no home folder, without an error of the system", async () => {
    stubMissingHome();
    const error = await refusal();
    expect(error).toMatchObject({ name: "HubError", code: "HUB_TOKEN_MISSING" });
    expect(inspect(error)).not.toContain("ERR_SYSTEM_ERROR");
  });
});

describe("A token with characters that are not valid in an HTTP header is HUB_TOKEN_INVALID, and is not quoted", () => {
  test.each(["hf_plan\nted", "hf_plan ted", "hf_plan\u0001ted", "hf_plan–ted", "hf_planted\u007fx"])(
    "%j",
    async (token) => {
      const fromOption = await refusal(token);
      vi.stubEnv("HF_TOKEN", token);
      const fromVariable = await refusal();
      vi.stubEnv("HF_TOKEN", "");
      vi.stubEnv("HF_TOKEN_PATH", await write("tokens", token));
      for (const error of [fromOption, fromVariable, await refusal()]) {
        expect(error).toMatchObject({ name: "HubError", code: "HUB_TOKEN_INVALID" });
        expect(inspect(error, { depth: 10 })).not.toContain("hf_plan");
      }
    },
  );
});

describe("The URL of the Hub", () => {
  test.each([
    [undefined, "https://huggingface.co"],
    ["", "https://huggingface.co"],
    ["http://localhost:5050", "http://localhost:5050"],
    ["https://hub.example/", "https://hub.example"],
    ["https://hub.example/prefix///", "https://hub.example/prefix"],
    [" https://HUB.example ", "https://hub.example"],
  ])("for HF_ENDPOINT=%j is %s", (address, hubUrl) => {
    expect(new HubClient({ hubUrl: address }).hubUrl).toBe(hubUrl);
    vi.stubEnv("HF_ENDPOINT", address);
    expect(new HubClient().hubUrl).toBe(hubUrl);
    expect(new HubClient({ hubUrl: "" }).hubUrl).toBe(hubUrl);
  });

  test("comes from the option, which overrides HF_ENDPOINT", () => {
    vi.stubEnv("HF_ENDPOINT", "no address");
    expect(new HubClient({ hubUrl: "https://hub.example" }).hubUrl).toBe("https://hub.example");
  });

  test.each([
    "hub.example",
    "ftp://hub.example",
    "file:///etc/passwd",
    "https://ada:planted@hub.example",
    "https://planted@hub.example",
    "https://:planted@hub.example",
    "https://hub.example?token=planted",
    "https://hub.example#planted",
  ])("throws without quoting an invalid HF_ENDPOINT: %s", (address) => {
    const make = (hubUrl?: string) => () => new HubClient({ hubUrl });
    vi.stubEnv("HF_ENDPOINT", address);
    for (const attempt of [make(address), make()]) {
      expect(attempt).toThrow(
        expect.objectContaining({ name: "HubError", code: "OPTION_INVALID", fields: ["hubUrl"] }),
      );
      expect(attempt).not.toThrow(/planted/);
    }
  });
});
