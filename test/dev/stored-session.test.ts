import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { findSessionHub, findSessionSecret, StoredSession } from "../../src/dev/session-file.ts";
import { createFolder } from "../support/temporary-folder.ts";

const serverUrl = "http://127.0.0.1:7860";
const localHubUrl = "http://127.0.0.1:5900";
let temporary: string;

beforeEach(() => {
  temporary = createFolder();
  vi.stubEnv("TMPDIR", temporary);
});

function createSession() {
  const failures: unknown[] = [];
  const session = new StoredSession({ port: 7860, localHubUrl, onFailure: (error) => failures.push(error) });
  return { session, failures };
}

describe("A stored session", () => {
  test("is updated when the secret changes, and deleted when it closes", async () => {
    const { session, failures } = createSession();
    session.store("first-secret");
    expect([findSessionSecret(serverUrl), findSessionHub(process.cwd())]).toEqual(["first-secret", localHubUrl]);
    session.store("second-secret");
    expect(findSessionSecret(serverUrl)).toBe("second-secret");
    await session.close();
    expect(findSessionHub(process.cwd())).toBeUndefined();
    expect(failures).toEqual([]);
  });

  test("contains the local Hub of a server without a secret", () => {
    createSession().session.store(undefined);
    expect([findSessionSecret(serverUrl), findSessionHub(process.cwd())]).toEqual([undefined, localHubUrl]);
  });

  test("is not written again after it closes", async () => {
    const { session } = createSession();
    await session.close();
    session.store("late-secret");
    expect(findSessionSecret(serverUrl)).toBeUndefined();
  });

  test("reports the first failure only", () => {
    vi.stubEnv("TMPDIR", join(temporary, "file"));
    writeFileSync(join(temporary, "file"), "");
    const { session, failures } = createSession();
    session.store("first-secret");
    session.store("second-secret");
    expect(failures).toHaveLength(1);
  });
});
