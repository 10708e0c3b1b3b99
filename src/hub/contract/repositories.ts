import { z } from "@hono/zod-openapi";
import { repoTypes } from "../../payload/schema.ts";

/** The type of a repository. */
export const repoType = z.enum(repoTypes);

/** A repository by name and type. */
export const repoId = z
  .strictObject({
    /** `<owner>/<repo_name>`. */
    name: z.string().regex(/^[^/]+\/[^/]+$/, 'expected "owner/name"'),
    type: repoType,
  })
  .openapi("RepoId");

/** A repository by name and type, as in `{ type: "dataset", name: "acme/data" }`. */
export type RepoId = z.output<typeof repoId>;
