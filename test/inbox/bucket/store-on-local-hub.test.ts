import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { parseBucketUrl, readBucketCredentials } from "../../../src/inbox/bucket/bucket-url.ts";
import type { ObjectStore } from "../../../src/inbox/bucket/object-store.ts";
import { checkObjectStore } from "../../../src/inbox/bucket/object-store.ts";
import { openS3ObjectStore } from "../../../src/inbox/bucket/s3.ts";
import { LocalHub } from "../../../src/local-hub.ts";

let hub: LocalHub;
beforeAll(async () => {
  hub = await LocalHub.launch();
});
afterAll(() => hub.close());
afterEach(() => hub.setBucketFaults([]));

/** Opens a bucket with the variables of a receiver. Each prefix is empty at first. */
function open({ prefix = crypto.randomUUID(), ...changes }: Record<string, string> = {}): Promise<ObjectStore> {
  const { INBOX_URL, ...keys } = hub.createBucket("me/inbox");
  const variables: Record<string, string> = { ...keys, ...changes };
  const location = parseBucketUrl(`${INBOX_URL}/${prefix}`, (name) => variables[name]);
  return openS3ObjectStore({ location, credentials: readBucketCredentials(location.name, (name) => variables[name]) });
}

const bytes = (text: string) => new TextEncoder().encode(text);

describe("A bucket of the local Hub", () => {
  test("stores, lists, returns, and deletes objects below a prefix", { tags: "slow" }, async () => {
    const [store, other] = [await open(), await open()];
    const large = new Uint8Array(3_000_000).map((_, index) => index % 251);
    await Promise.all([
      store.put("log/2", large),
      store.put("log/1", bytes("first")),
      other.put("log/3", bytes("other")),
    ]);
    expect(await store.list("log/")).toEqual([
      { key: "log/1", bytes: 5 },
      { key: "log/2", bytes: 3_000_000 },
    ]);
    expect(await store.list("log/", { after: "log/1" })).toEqual([{ key: "log/2", bytes: 3_000_000 }]);
    const found = await store.get("log/2");
    expect(Buffer.compare(found?.body ?? bytes(""), large)).toBe(0);
    expect(found?.ageMs).toBeLessThan(60_000);
    await store.delete("log/2");
    await store.delete("log/2");
    expect(await store.get("log/2")).toBeUndefined();
    expect(await store.get("log/3")).toBeUndefined();
  });

  test("passes the check, and fails it while conditions are ignored", { tags: "slow" }, async () => {
    const store = await open();
    await checkObjectStore(store);
    expect(await store.list("")).toEqual([]);
    hub.setBucketFaults([{ kind: "ignored-condition" }]);
    await expect(checkObjectStore(store)).rejects.toMatchObject({ code: "INBOX_UNUSABLE" });
  });

  test.each(["origin", "path"] as const)("returns an object after a redirect to another %s", async (to) => {
    const store = await open();
    await store.put("log/1", bytes("content"));
    hub.setBucketFaults([{ kind: "redirect", to }]);
    const found = await store.get("log/1");
    expect(new TextDecoder().decode(found?.body)).toBe("content");
    expect(found?.ageMs).toBeLessThan(60_000);
    expect(await store.get("log/2")).toBeUndefined();
  });

  test("refuses a wrong access key, and a bucket that does not exist", async () => {
    const wrong = await open({ AWS_SECRET_ACCESS_KEY: "wrong" });
    await expect(wrong.get("log/1")).rejects.toMatchObject({ isRefused: true, s3Code: "SignatureDoesNotMatch" });
    const missing = await open({ AWS_ENDPOINT_URL_S3: `${hub.url}/s3/nobody` });
    await expect(missing.get("log/1")).rejects.toMatchObject({ isRefused: true, s3Code: "NoSuchBucket" });
    await expect(checkObjectStore(missing)).rejects.toMatchObject({ isRefused: true });
  });
});
