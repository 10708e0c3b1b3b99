import * as z from "zod/mini";
import { readOwnField } from "../../core/describe.ts";
import { repoRef } from "../../hub/schemas.ts";
import { isEditPath, sampleTexts } from "../../payload/samples.ts";
import { deriveId, localUser } from "../accounts.ts";
import { parseGiven } from "../error-response.ts";
import { hasContent, mainRef, newRepository, type StoredRepository } from "../store/repository-store.ts";
import { eventPayload, findKnownScope, payloadSerializer, type RepositoryChange } from "./repository-change.ts";

const edit = z
  .strictObject({
    path: z
      .string()
      .check(z.maxLength(1_000), z.refine(isEditPath, 'expected keys separated by dots, such as "repo.private"')),
    value: z.optional(z.unknown()),
    remove: z.optional(z.literal(true)),
  })
  .check(z.refine((given) => "value" in given !== (given.remove === true), 'give either a "value" or "remove": true'));

const maxFiles = 1_000;

const changedFiles = z
  .record(z.string(), z.union([z.string(), z.strictObject({ base64: z.base64() }), z.null()]))
  .check(z.refine((files) => Object.keys(files).length <= maxFiles, `expected at most ${maxFiles} files`));

/** Whether an event can have `files`. Only a pull request can have none, because commits can follow. */
function changesFiles(given: {
  repo: { type: string };
  event: { scope: string; action: string };
  discussion?: unknown;
  files?: object | undefined;
}): boolean {
  const { scope, action } = given.event;
  const isPullRequest =
    scope === "discussion" && action === "create" && readOwnField(given.discussion, "isPullRequest") === true;
  const isFilled = Object.keys(given.files ?? {}).length > 0;
  const isPush = (scope === "repo.content" && action === "update") || (scope === "repo" && action === "create");
  return hasContent(given.repo.type) && (isPullRequest || (isPush && isFilled));
}

const fullRef = z.string().check(z.regex(/^refs\/./, 'expected a full name such as "refs/heads/main"'));

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
    movedTo: z.optional(z.looseObject({ name: z.string().check(z.regex(/^[^/]+\/[^/]+$/, 'expected "owner/name"')) })),
    discussion: z.optional(z.looseObject({ num: z.optional(z.number()) })),
    updatedConfig: z.optional(z.looseObject({ private: z.optional(z.boolean()) })),
    updatedRefs: z.optional(z.array(z.looseObject({ ref: fullRef, newSha: z.nullable(z.string()) }))),
    files: z.optional(changedFiles),
    silent: z.optional(z.boolean()),
    edits: z.optional(z.array(edit).check(z.maxLength(1_000))),
  })
  .check(
    z.refine((event) => event.files === undefined || changesFiles(event), {
      path: ["files"],
      error:
        "only a push to a model, dataset or Space (repo.content update), a new one (repo create), and a new pull request have files",
    }),
    z.refine(({ event, movedTo }) => event.scope !== "repo" || event.action !== "move" || movedTo !== undefined, {
      path: ["movedTo"],
      error: 'required for a move: { "name": "owner/name" }',
    }),
  );

/**
 * An event on a repository: `repo` with `type` and `name`, `event` with `scope` and `action`, and other fields of the payload. The
 * local Hub makes the change, such as a commit or a comment, and adds the fields that you omit. `files` are the files of a push, of a new
 * repository, or of a new pull request, by path: text, `{ base64 }`, or `null` to delete a file. In `updatedRefs`, an empty `newSha` stands for
 * the new commit, so that a push can go to another branch or to `refs/pr/N`. A `silent` event makes the change without deliveries, and a
 * silent `repo` create replaces a repository that has the name. `edits` are applied to the payload last. They affect neither the
 * repository nor the choice of webhooks that fire.
 */
export type HubEvent = z.input<typeof eventRequest>;

export type ParsedEvent = z.output<typeof eventRequest>;

/** @throws `ARGUMENT_INVALID` with the invalid fields. */
export function parseEvent(event: unknown): ParsedEvent {
  return parseGiven(eventRequest, event, "event");
}

const scenarioSchema = z.strictObject({
  description: z.optional(z.string()),
  events: z.array(eventRequest).check(z.minLength(1), z.maxLength(1_000)),
});

/** What happens on a local Hub, one event after the other: pushes, pull requests, comments, changes of repositories. */
export type Scenario = z.input<typeof scenarioSchema>;

/** @throws `ARGUMENT_INVALID` with the invalid fields. */
export function parseScenario(scenario: unknown): readonly ParsedEvent[] {
  return parseGiven(scenarioSchema, scenario, "scenario").events;
}

interface RecordOptions {
  event: ParsedEvent;
  repository: StoredRepository;
  newSha: string;
}

/** For events whose content the local Hub does not store. The commits and discussions of the change are invented. */
export function describeRecordedEvent(options: RecordOptions): RepositoryChange {
  const { event, repository } = options;
  const { scope, action } = event.event;
  const after = updateRepository(options);
  return {
    ...{ scope, action, user: localUser, before: repository },
    after: scope === "repo" && action === "delete" ? undefined : after,
    ...scopeFields(options, after),
    overrides: overridesOf(event),
    edits: event.edits,
  };
}

/** Adds the current commit to each ref of an event without `oldSha`, which payloads always contain. */
export function withOldShas(event: ParsedEvent, headOf: (ref: string) => string | undefined): ParsedEvent {
  const updatedRefs = event.updatedRefs?.map(({ ref, ...given }) => ({ ref, oldSha: headOf(ref) ?? null, ...given }));
  return { ...event, updatedRefs };
}

export function overridesOf(event: ParsedEvent): object {
  const { updatedRefs, ...fields } = event;
  const isGiven = updatedRefs?.every(({ newSha }) => newSha !== "");
  const omitted = { webhook: undefined, files: undefined, silent: undefined, edits: undefined };
  return { ...fields, ...(isGiven && { updatedRefs }), ...omitted };
}

function updateRepository({ event, repository, newSha }: RecordOptions): StoredRepository {
  const after = { ...repository };
  const { scope, action } = event.event;
  const knownScope = findKnownScope(scope);
  if (event.repo.private !== undefined) after.private = event.repo.private;
  // Compare the exact scope, because an unknown subscope of `repo` is an update.
  if (scope === "repo" && action === "move" && event.movedTo) after.name = event.movedTo.name;
  if (knownScope === "repo.content" && after.headSha !== undefined) {
    after.headSha = event.updatedRefs ? (findNewHead(event.updatedRefs) ?? after.headSha) : newSha;
  }
  if (knownScope === "repo.config") after.private = event.updatedConfig?.private ?? after.private;
  if (scope === "discussion" && action === "create") after.discussions += 1;
  return after;
}

export function findNewHead(updatedRefs: NonNullable<ParsedEvent["updatedRefs"]>): string | undefined {
  return updatedRefs.find(({ ref }) => ref === mainRef)?.newSha || undefined;
}

function scopeFields({ event, repository, newSha }: RecordOptions, after: StoredRepository): Partial<RepositoryChange> {
  const { scope, action } = event.event;
  const knownScope = findKnownScope(scope);
  switch (knownScope) {
    case "repo.content":
      return after.headSha === undefined
        ? {}
        : { updatedRefs: [{ ref: mainRef, oldSha: repository.headSha ?? null, newSha: after.headSha }] };
    case "repo.config":
      return { updatedConfig: event.updatedConfig };
    case "discussion":
    case "discussion.comment": {
      const num = event.discussion?.num ?? Math.max(1, after.discussions);
      // Only a new discussion includes its first comment.
      const hasComment = knownScope === "discussion.comment" || (scope === "discussion" && action === "create");
      return {
        discussion: {
          ...{ num, id: discussionId({ repositoryId: repository.id, num }), title: sampleTexts.title, status: "open" },
          ...{ isPullRequest: false, author: localUser },
        },
        ...(hasComment && {
          comment: { id: deriveId(newSha), author: localUser, content: sampleTexts.content, hidden: false },
        }),
      };
    }
    case "repo":
      return { movedTo: event.movedTo };
  }
}

/** The ID depends only on the repository and the number. */
export function discussionId({ repositoryId, num }: { repositoryId: string; num: number }): string {
  return deriveId(`${repositoryId}/${num}`);
}

/** Works without a local Hub. @throws `ARGUMENT_INVALID` if the event is nested too deeply, or the edits do not fit. */
export function serializeEvent(
  given: ParsedEvent,
  { hubUrl, createId, createSha }: { hubUrl: string; createId: () => string; createSha: () => string },
): (webhookId: string) => string {
  const { type, name, private: isPrivate = false } = given.repo;
  const repository: StoredRepository = {
    ...newRepository({ type, name, id: createId(), private: isPrivate, createdAt: 0 }),
    // Buckets have no commits.
    ...(type !== "bucket" && { headSha: createSha() }),
  };
  const event = withOldShas(given, (ref) => (ref === mainRef ? repository.headSha : undefined));
  const change = describeRecordedEvent({ event, repository, newSha: createSha() });
  return payloadSerializer(eventPayload(change, { hubUrl }), { edits: event.edits, createId });
}
