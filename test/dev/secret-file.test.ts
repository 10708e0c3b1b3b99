import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { readSecretFile, writeSecretFile } from "../../src/dev/secret-file.ts";
import { createFolder } from "../support/temporary-folder.ts";

const secret = "Planted-5ecret-of-the-session";
const url = "http://127.0.0.1:7860/webhooks/retrain";
let temporary: string;

beforeEach(() => {
  temporary = createFolder();
  vi.stubEnv("TMPDIR", temporary);
});

const folder = () => join(temporary, readdirSync(temporary)[0] ?? "");

describe("The stored secret of a session", () => {
  test("is found by the local port of its session until it is deleted", () => {
    const remove = writeSecretFile({ port: 7860, secret });
    for (const host of ["127.0.0.1", "localhost", "[::1]"]) {
      expect(readSecretFile(`http://${host}:7860/webhooks/retrain`)).toBe(secret);
    }
    for (const other of ["http://127.0.0.1:7861", "http://bot.example:7860", "https://127.0.0.1:7860", "no url"]) {
      expect(readSecretFile(other)).toBeUndefined();
    }
    remove();
    expect(readSecretFile(url)).toBeUndefined();
  });

  test("is only readable by its owner, even if the file existed before", () => {
    writeSecretFile({ port: 7860, secret: "of before" });
    chmodSync(join(folder(), "dev-7860.json"), 0o666);
    writeSecretFile({ port: 7860, secret });
    expect(statSync(folder()).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder(), "dev-7860.json")).mode & 0o777).toBe(0o600);
    expect(readSecretFile(url)).toBe(secret);
  });

  test("is not read for a killed session, nor from an invalid file", () => {
    writeSecretFile({ port: 7860, secret });
    for (const text of [JSON.stringify({ pid: 2 ** 30, secret }), JSON.stringify({ secret }), "{"]) {
      writeFileSync(join(folder(), "dev-7860.json"), text);
      expect(readSecretFile(url)).toBeUndefined();
    }
  });

  test.each([
    { what: "others may read", spoil: (path: string) => chmodSync(path, 0o755) },
    {
      what: "is a symbolic link",
      spoil: (path: string) => {
        rmSync(path, { recursive: true });
        mkdirSync(join(temporary, "z-elsewhere"), { mode: 0o700 });
        symlinkSync(join(temporary, "z-elsewhere"), path);
      },
    },
  ])("is neither written to nor read from a folder that $what", ({ spoil }) => {
    writeSecretFile({ port: 7860, secret })();
    const path = folder();
    spoil(path);
    expect(() => writeSecretFile({ port: 7860, secret })).toThrow(/belongs to another user/);
    expect(existsSync(join(path, "dev-7860.json"))).toBe(false);
    writeFileSync(join(path, "dev-7860.json"), JSON.stringify({ pid: process.pid, secret }));
    expect(readSecretFile(url)).toBeUndefined();
  });
});
