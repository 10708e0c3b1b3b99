import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { parseBucketUrl, readBucketCredentials } from "../../../src/inbox/bucket/bucket-url.ts";
import { checkObjectStore, type ObjectStore, ObjectStoreError } from "../../../src/inbox/bucket/object-store.ts";
import { openS3ObjectStore } from "../../../src/inbox/bucket/s3.ts";
import { LocalHub } from "../../../src/local-hub.ts";
import { MemoryObjectStore } from "./memory-object-store.ts";

const withVariables = (variables: Readonly<Record<string, string>>) => (name: string) => variables[name];
const none = withVariables({});

describe("The URL of a bucket", () => {
  test.each([
    [
      "hf://buckets/me/inbox",
      {
        endpoint: "https://s3.hf.co/me",
        region: "us-east-1",
        bucket: "inbox",
        prefix: "",
        name: "hf://buckets/me/inbox",
      },
    ],
    [
      "hf://buckets/me/inbox/bots/production/",
      { endpoint: "https://s3.hf.co/me", prefix: "bots/production/", name: "hf://buckets/me/inbox/bots/production" },
    ],
    [
      "s3://inbox",
      { endpoint: "https://s3.us-east-1.amazonaws.com", region: "us-east-1", bucket: "inbox", prefix: "" },
    ],
    ["s3://inbox/a?region=eu-west-1", { endpoint: "https://s3.eu-west-1.amazonaws.com", region: "eu-west-1" }],
    [
      "s3://inbox/a/b?endpoint=https://s3.example.com/&region=auto",
      { endpoint: "https://s3.example.com", region: "auto", prefix: "a/b/", name: "s3://inbox/a/b" },
    ],
    ["s3://inbox?endpoint=http%3A%2F%2F127.0.0.1%3A9000", { endpoint: "http://127.0.0.1:9000", name: "s3://inbox" }],
  ])("%s selects the store", (url, location) => {
    expect(parseBucketUrl(url, none)).toMatchObject(location);
  });

  test("takes the endpoint and the region from the variables of AWS tools", () => {
    const variables = { AWS_ENDPOINT_URL: "https://one.example.com", AWS_DEFAULT_REGION: "eu-north-1" };
    expect(parseBucketUrl("s3://inbox", withVariables(variables))).toMatchObject({
      endpoint: "https://one.example.com",
      region: "eu-north-1",
    });
    const specific = { ...variables, AWS_ENDPOINT_URL_S3: "http://127.0.0.1:5050/s3/me", AWS_REGION: "eu-west-3" };
    expect(parseBucketUrl("s3://inbox", withVariables(specific))).toMatchObject({
      endpoint: "http://127.0.0.1:5050/s3/me",
      region: "eu-west-3",
    });
    // The region of the Hub's gateway does not depend on the variables.
    expect(parseBucketUrl("hf://buckets/me/inbox", withVariables(specific))).toMatchObject({
      endpoint: "http://127.0.0.1:5050/s3/me",
      region: "us-east-1",
    });
  });

  test.each([
    "hf://datasets/me/inbox",
    "hf://buckets/me",
    "hf://buckets/me/inbox?region=eu-west-1",
    "s3://",
    "s3:///inbox",
    "s3://inbox//a",
    "s3://inbox/../a",
    "s3://inbox/a\\b",
    "s3://inbox/a%2Fb",
    "s3://inbox/a#b",
    "s3://inbox?profile=x",
    "s3://key:pa55word@inbox/a",
    "s3://inbox?endpoint=https://key:pa55word@example.com",
    "s3://inbox?endpoint=example.com",
    "s3://inbox?region=a.example.com/b",
  ])("%s is invalid, and not in the message", (url) => {
    expect(() => parseBucketUrl(url, none)).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID", message: expect.not.stringContaining("pa55word") }),
    );
  });
});

describe("The access key of a bucket", () => {
  const variables = { AWS_ACCESS_KEY_ID: "HFAK1", AWS_SECRET_ACCESS_KEY: "secret" };

  test("comes from the variables of AWS tools", () => {
    expect(readBucketCredentials("s3://inbox", withVariables(variables))).toEqual({
      accessKeyId: "HFAK1",
      secretAccessKey: "secret",
    });
    expect(readBucketCredentials("s3://inbox", withVariables({ ...variables, AWS_SESSION_TOKEN: "t" }))).toMatchObject({
      sessionToken: "t",
    });
  });

  test.each(["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])("is missing without %s", (name) => {
    const read = withVariables({ ...variables, [name]: "" });
    expect(() => readBucketCredentials("hf://buckets/me/inbox", (wanted) => read(wanted) || undefined)).toThrow(
      expect.objectContaining({ code: "INBOX_UNUSABLE", message: expect.stringContaining("settings/tokens") }),
    );
  });

  test("is invalid with a line break, and not in the message", () => {
    const read = withVariables({ ...variables, AWS_SECRET_ACCESS_KEY: "pa55word\n" });
    expect(() => readBucketCredentials("s3://inbox", read)).toThrow(
      expect.objectContaining({
        code: "INBOX_UNUSABLE",
        message: expect.stringMatching(/^AWS_SECRET_ACCESS_KEY (?!.*pa55word)/),
      }),
    );
  });
});

/** A store that ignores the condition of some requests. */
class UnconditionalStore extends MemoryObjectStore {
  override put(key: string, body: Uint8Array): Promise<"stored" | "exists"> {
    return super.put(key, body);
  }
}

/** A store that rejects every conditional request, but stores the object of the last one. */
class WrongWinnerStore extends MemoryObjectStore {
  override async put(key: string, body: Uint8Array, options?: { ifAbsent?: boolean }): Promise<"stored" | "exists"> {
    const result = await super.put(key, body, options);
    if (result === "exists") await super.put(key, body);
    return result;
  }
}

describe("The check of a store", () => {
  test("passes if one of eight concurrent writes succeeds, and removes the object", async () => {
    const store = new MemoryObjectStore();
    await checkObjectStore(store);
    const keys = store.requests.filter(({ method }) => method === "put").map(({ key }) => key);
    expect(keys).toHaveLength(8);
    expect(new Set(keys)).toEqual(new Set([expect.stringMatching(/^check\/[0-9a-f-]{36}$/)]));
    expect(store.objects.size).toBe(0);
  });

  test.each([
    ["ignores the condition", new UnconditionalStore()],
    ["overwrites the object of the successful write", new WrongWinnerStore()],
  ])("fails if the store %s", async (_name, store) => {
    await expect(checkObjectStore(store)).rejects.toMatchObject({
      code: "INBOX_UNUSABLE",
      message: expect.stringContaining("If-None-Match"),
    });
    expect(store.objects.size).toBe(0);
  });

  test("passes if the answer to the successful write is lost", async () => {
    const store = new MemoryObjectStore();
    store.intercept = ({ method }) => (method === "put" && store.objects.size === 0 ? "lost answer" : undefined);
    await checkObjectStore(store);
  });

  test("passes if three reads in a row are damaged", async () => {
    const store = new MemoryObjectStore();
    const get = store.get.bind(store);
    let reads = 0;
    store.get = async (key) => {
      reads += 1;
      const found = await get(key);
      return found && reads <= 3 ? { ...found, body: found.body.subarray(1) } : found;
    };
    await checkObjectStore(store);
    expect([reads, store.requests.filter(({ method }) => method === "put").length]).toEqual([4, 8]);
  });

  test("passes if the store rejects some of the concurrent writes as conflicts", async () => {
    const store = new MemoryObjectStore();
    let puts = 0;
    store.intercept = ({ method }) => {
      if (method !== "put") return undefined;
      puts += 1;
      return puts > 1 && puts <= 8 ? "failed" : undefined;
    };
    await checkObjectStore(store);
    expect(puts).toBe(15);
  });

  test.each(["refused", "failed"] as const)(
    "fails with the error of an outage (%s), so that the caller can repeat the check",
    async (fault) => {
      const store = new MemoryObjectStore();
      store.intercept = () => fault;
      await expect(checkObjectStore(store)).rejects.toBeInstanceOf(ObjectStoreError);
    },
  );

  test("fails with the error of an outage if the store rejects all writes as duplicates", async () => {
    const store = new MemoryObjectStore();
    vi.spyOn(store, "put").mockResolvedValue("exists");
    await expect(checkObjectStore(store)).rejects.toBeInstanceOf(ObjectStoreError);
  });

  test("passes if a repetition shows no violation", async () => {
    const store = new MemoryObjectStore();
    vi.spyOn(store, "put").mockResolvedValueOnce("stored").mockResolvedValueOnce("stored");
    await checkObjectStore(store);
  });
});

describe("On the local Hub,", () => {
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
    return openS3ObjectStore({
      location,
      credentials: readBucketCredentials(location.name, (name) => variables[name]),
    });
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
      // The check does not wait for the removal of its object.
      await expect.poll(() => store.list("")).toEqual([]);
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
});
