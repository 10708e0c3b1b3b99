import * as z from "zod";
import { WebhookError } from "../../core/errors.ts";
import { fieldProblems } from "../../hub/arguments.ts";
import { repoId } from "../../hub/schemas.ts";
import { isEditPath } from "../../payload/edit.ts";

const edit = z
  .strictObject({
    path: z.string().max(1_000).refine(isEditPath, 'expected keys separated by dots, such as "repo.private"'),
    value: z.unknown().optional(),
    remove: z.literal(true).optional(),
  })
  .refine((given) => "value" in given !== (given.remove === true), 'give either a "value" or "remove": true');

/** An event to trigger: the repository, the event, and any further field of the payload. */
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
    error: 'required for a move: { "name": "owner/name" }',
  });

/**
 * An event on a repository: its `repo {type, name}`, its `event {scope, action}`, and any further field of the payload.
 * The local Hub fills in the fields that you leave out. `edits` are applied to the payload last, over everything else;
 * they change neither the repository nor which webhooks fire.
 */
export type HubEvent = z.input<typeof eventRequest>;

/** A valid event. */
export type ParsedEvent = z.output<typeof eventRequest>;

/**
 * Validates an event.
 *
 * @throws `ARGUMENT_INVALID`, naming the invalid fields.
 */
export function parseEvent(event: unknown): ParsedEvent {
  const parsed = eventRequest.safeParse(event);
  if (parsed.success) return parsed.data;
  const problems = fieldProblems(parsed.error, { name: "event" });
  const list = problems.map(({ field, problem }) => `${field}: ${problem}`).join("; ");
  throw new WebhookError(`Invalid event. Correct these fields: ${list}.`, { code: "ARGUMENT_INVALID" });
}
