import { describe, expect, test, vi } from "vitest";
import { checkObjectStore, ObjectStoreError } from "../../../src/inbox/bucket/object-store.ts";
import { MemoryObjectStore } from "./memory-object-store.ts";

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
