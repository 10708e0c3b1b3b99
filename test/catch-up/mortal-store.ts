import type { ObjectStore } from "../../src/inbox/bucket/object-store.ts";

/** The store of a process. After the process has died, no request is sent, and no response arrives. */
export function createMortalStore(store: ObjectStore, isDead: () => boolean): ObjectStore {
  const never = new Promise<never>(() => {});
  const alive = async <Result>(request: () => Promise<Result>): Promise<Result> => {
    if (isDead()) return never;
    try {
      return await request();
    } finally {
      if (isDead()) await never;
    }
  };
  return {
    name: store.name,
    put: (...given) => alive(() => store.put(...given)),
    get: (...given) => alive(() => store.get(...given)),
    list: (...given) => alive(() => store.list(...given)),
    delete: (...given) => alive(() => store.delete(...given)),
    wait: (ms) => store.wait(ms),
  };
}
