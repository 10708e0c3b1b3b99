import * as z from "zod/mini";
import { describeIssue } from "../../core/describe.ts";
import { WebhookError } from "../../core/errors.ts";
import { repoRef } from "../../hub/schemas.ts";
import { fieldProblems } from "../../hub/validation/arguments.ts";
import { isEditPath } from "../../payload/samples.ts";

const edit = z
  .strictObject({
    path: z
      .string()
      .check(z.maxLength(1_000), z.refine(isEditPath, 'expected keys separated by dots, such as "repo.private"')),
    value: z.optional(z.unknown()),
    remove: z.optional(z.literal(true)),
  })
  .check(z.refine((given) => "value" in given !== (given.remove === true), 'give either a "value" or "remove": true'));

/** An event to trigger: the repository, the event, and other fields of the payload. */
export const eventRequest = z
  .looseObject({
    repo: z.looseObject({ ...repoRef.shape, private: z.optional(z.boolean()) }),
    event: z.looseObject({
      scope: z
        .string()
        .check(
          z.regex(/^(repo|discussion)(\.[\w-]+)*$/, 'expected a scope such as "repo.content" or "discussion.comment"'),
        ),
      action: z.string().check(z.minLength(1)),
    }),
    movedTo: z.optional(z.looseObject({ name: repoRef.shape.name })),
    discussion: z.optional(z.looseObject({ num: z.optional(z.number()) })),
    updatedConfig: z.optional(z.looseObject({ private: z.optional(z.boolean()) })),
    updatedRefs: z.optional(z.array(z.looseObject({ ref: z.string(), newSha: z.nullable(z.string()) }))),
    edits: z.optional(z.array(edit).check(z.maxLength(1_000))),
  })
  .check(
    z.refine(({ event, movedTo }) => event.scope !== "repo" || event.action !== "move" || movedTo !== undefined, {
      path: ["movedTo"],
      error: 'required for a move: { "name": "owner/name" }',
    }),
  );

/**
 * An event on a repository: `repo` with `type` and `name`, `event` with `scope` and `action`, and other fields of the payload. The
 * local Hub makes the change, such as a commit or a comment, and adds the fields that you omit. `edits` are applied to the payload last. They affect neither the repository nor the
 * choice of webhooks that fire.
 */
export type HubEvent = z.input<typeof eventRequest>;

/** A valid event. */
export type ParsedEvent = z.output<typeof eventRequest>;

/**
 * Validates an event.
 *
 * @throws `ARGUMENT_INVALID` with the invalid fields.
 */
export function parseEvent(event: unknown): ParsedEvent {
  const parsed = eventRequest.safeParse(event, { error: describeIssue });
  if (parsed.success) return parsed.data;
  const problems = fieldProblems(parsed.error, { name: "event" });
  const list = problems.map(({ field, problem }) => `${field}: ${problem}`).join("; ");
  throw new WebhookError(`Invalid event. Fix these fields: ${list}.`, { code: "ARGUMENT_INVALID" });
}
