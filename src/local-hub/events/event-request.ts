import * as z from "zod";
import { WebhookError } from "../../core/errors.ts";
import { fieldProblems } from "../../hub/arguments.ts";
import { repoId } from "../../hub/schemas.ts";
import { isEditPath } from "../../payload/edit.ts";

const edit = z
  .strictObject({
    path: z.string().max(1_000).refine(isEditPath, 'expected keys with dots between them, as in "repo.private"'),
    value: z.unknown().optional(),
    remove: z.literal(true).optional(),
  })
  .refine((given) => "value" in given !== (given.remove === true), 'give either a "value" or "remove": true');

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
    edits: z.array(edit).max(1_000).optional(),
  })
  .refine(({ event, movedTo }) => event.scope !== "repo" || event.action !== "move" || movedTo !== undefined, {
    path: ["movedTo"],
    error: 'a move needs { "name": "owner/name" }',
  });

/**
 * Something that happens on a repository: its `repo {type, name}`, its `event {scope, action}`, and any further field
 * of the payload; what is left out is filled from what the local Hub knows. `edits` are applied to the payload last of
 * all, also to what the local Hub decides, and change nothing else: not what happens, and not who is told.
 */
export type HubEvent = z.input<typeof eventRequest>;

/** An event that was checked. */
export type CheckedEvent = z.output<typeof eventRequest>;

/**
 * Checks that an event can happen.
 *
 * @throws `ARGUMENT_INVALID`, naming the fields that are wrong.
 */
export function checkEvent(event: unknown): CheckedEvent {
  const checked = eventRequest.safeParse(event);
  if (checked.success) return checked.data;
  const problems = fieldProblems(checked.error, { name: "event" });
  const named = problems.map(({ field, problem }) => `${field}: ${problem}`).join("; ");
  throw new WebhookError(`This event cannot happen. Correct ${named}.`, { code: "ARGUMENT_INVALID" });
}
