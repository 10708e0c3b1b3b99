import { deepMerge, isEditPath, type PayloadEdit } from "../../../payload/edit.ts";
import { schemaOf } from "../../../payload/schema.ts";
import { readJson } from "../../read-input.ts";
import type { Shell } from "../../shell.ts";
import { wrongUsage } from "../../wrong-usage.ts";

/** A JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

/** A payload of the Hub is far shorter, in megabytes: ten thousand files of a bucket need less than two. */
const longestFile = 4;

/** The fields of a payload beside `event`, `repo` and `webhook`: what is not in a recorded one was not sent. */
const furtherFields = [
  "movedTo",
  "updatedRefs",
  "updatedFiles",
  "updatedFilesTruncated",
  "updatedConfig",
  "discussion",
  "comment",
];

/** What of `repo` goes with its name. */
const identity = {
  type: undefined,
  name: undefined,
  id: undefined,
  owner: undefined,
  subdomain: undefined,
  url: undefined,
};

/**
 * Reads the file that `--file` names: fields of a payload, or a whole one.
 *
 * @throws `ARGUMENT_INVALID` when it cannot be read or is no JSON object.
 */
export async function readPayloadFile({ file, shell }: { file: string; shell: Shell }): Promise<Fields> {
  const advice = "give fields of a payload, or a whole one";
  const value = await readJson({ option: "--file", file, advice, shell, longest: longestFile });
  if (isFields(value)) return value;
  throw wrongUsage(`--file: it holds no JSON object: ${advice}.`);
}

/** Whether these fields are a whole payload, as it was delivered once. */
export function isWholePayload(fields: Fields): boolean {
  return schemaOf(textAt(fields, "event", "scope"), textAt(fields, "repo", "type")).safeParse(fields).success;
}

/** The text at a field of a field, if one is there. */
export function textAt(fields: Fields, outer: string, inner: string): string | undefined {
  const within = Object.hasOwn(fields, outer) ? fields[outer] : undefined;
  const value = isFields(within) && Object.hasOwn(within, inner) ? within[inner] : undefined;
  return typeof value === "string" ? value : undefined;
}

/** The fields for another repository: without what belongs to the one that they name. */
export function withoutIdentity(fields: Fields): Fields {
  return isFields(fields.repo) ? { ...fields, repo: deepMerge(fields.repo, identity) } : fields;
}

/** The edits that turn any payload into a recorded one, but for its `webhook`. */
export function wholeEdits(payload: Fields): readonly PayloadEdit[] {
  return ["event", "repo", ...furtherFields].map((path) =>
    Object.hasOwn(payload, path) ? { path, value: payload[path] } : { path, remove: true },
  );
}

/**
 * The edits for what a local Hub decides by itself and a file may say otherwise: `webhook`, without the id, since that
 * is of the webhook that fires; with the id where none fires.
 */
export function webhookEdits({ webhook }: Fields, { withId }: { withId: boolean }): readonly PayloadEdit[] {
  if (webhook === undefined) return [];
  if (!isFields(webhook)) return [{ path: "webhook", value: webhook }];
  return Object.entries(webhook)
    .filter(([key]) => (withId || key !== "id") && isEditPath(key))
    .map(([key, value]) => ({ path: `webhook.${key}`, value }));
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
