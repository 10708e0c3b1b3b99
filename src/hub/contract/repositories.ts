import { z } from "@hono/zod-openapi";
import { repoTypes } from "../../payload/schema.ts";
import { type Open, requestEnum } from "./open.ts";

/** The type of a repository. */
export const repoType = requestEnum(repoTypes);

/** A repository by name and type. */
export const repoId = z
  .strictObject({
    /** `<owner>/<repo_name>`. */
    name: z.string().regex(/^[^/]+\/[^/]+$/, 'expected "owner/name"'),
    type: repoType,
  })
  .openapi("RepoId");

/** A repository by name and type, as in `{ type: "dataset", name: "acme/data" }`. */
export type RepoId = {
  /** `<owner>/<repo_name>`. */
  name: string;
  type: Open<(typeof repoTypes)[number]>;
};

/** A repository of a type that this release lists. */
export type KnownRepoId = z.output<typeof repoId>;
