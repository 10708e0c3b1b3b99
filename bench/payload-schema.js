// Plain JavaScript: see announce.js.
import * as z from "zod";

/** What somebody without this package would write down of a payload: a commit, and nothing else. */
export const payloadSchema = z.object({
  event: z.object({ action: z.enum(["create", "delete", "update", "move"]), scope: z.string() }),
  repo: z.object({
    type: z.enum(["model", "dataset", "space", "bucket", "kernel"]),
    name: z.string(),
    id: z.string(),
    private: z.boolean(),
    tags: z.array(z.string()).optional(),
    headSha: z.string().optional(),
    url: z.object({ web: z.string(), api: z.string().optional() }),
    owner: z.object({ id: z.string() }),
  }),
  updatedRefs: z.array(z.object({ ref: z.string(), oldSha: z.string().nullable(), newSha: z.string().nullable() })),
  webhook: z.object({ id: z.string(), version: z.number() }),
});
