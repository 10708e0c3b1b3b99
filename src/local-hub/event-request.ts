import * as z from "zod";
import { repoId } from "../hub/contract/repositories.ts";

/** What a local Hub is told to let happen: which repository, what, and any field of the payload. */
export const eventRequest = z
  .looseObject({
    repo: z.looseObject({ ...repoId.shape, private: z.boolean().optional() }),
    event: z.looseObject({
      scope: z
        .string()
        .regex(/^(repo|discussion)(\.[\w-]+)*$/, 'expected a scope such as "repo.content" or "discussion.comment"'),
      action: z.string().min(1),
    }),
    movedTo: z.looseObject({ name: repoId.shape.name }).optional(),
    discussion: z.looseObject({ num: z.number().optional() }).optional(),
    updatedConfig: z.looseObject({ private: z.boolean().optional() }).optional(),
    updatedRefs: z.array(z.looseObject({ ref: z.string(), newSha: z.string().nullable() })).optional(),
  })
  .refine(({ event, movedTo }) => event.scope !== "repo" || event.action !== "move" || movedTo !== undefined, {
    path: ["movedTo"],
    error: 'a move needs { "name": "owner/name" }',
  });

/**
 * Something that happens on a repository: its `repo {type, name}`, its `event {scope, action}`, and any further field
 * of the payload; what is left out is filled from what the local Hub knows.
 */
export type HubEvent = z.input<typeof eventRequest>;
