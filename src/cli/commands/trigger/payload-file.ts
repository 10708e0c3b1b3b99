import { deepMerge, isEditPath, type PayloadEdit } from "../../../payload/samples.ts";
import { schemaOf } from "../../../payload/schema.ts";
import { readJson } from "../../input.ts";
import type { Shell } from "../../shell.ts";
import { usageError } from "../../usage.ts";

/** A JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

/**
 * The maximum size of the file, in MiB. Hub payloads are smaller: even a bucket payload with 10,000 files has less than
 * 2 MiB.
 */
const maxMebibytes = 4;

/**
 * All fields of a payload except `event`, `repo`, and `webhook`. The Hub omits fields that do not apply to the event.
 */
const optionalFields = [
  "movedTo",
  "updatedRefs",
  "updatedFiles",
  "updatedFilesTruncated",
  "updatedConfig",
  "discussion",
  "comment",
];

/** The fields of `repo` that depend on its name. */
const identity = {
  type: undefined,
  name: undefined,
  id: undefined,
  owner: undefined,
  subdomain: undefined,
  url: undefined,
};

/**
 * Reads `--file`: fields of a payload, or a complete payload.
 *
 * @throws `ARGUMENT_INVALID` if the file is unreadable or does not contain a JSON object.
 */
export async function readPayloadFile({ file, shell }: { file: string; shell: Shell }): Promise<Fields> {
  const value = await readJson({ option: "--file", file, shell, maxMebibytes });
  if (isFields(value)) return value;
  throw usageError(
    `--file: The JSON in "${file}" is not an object. Use an object with payload fields, or a complete payload.`,
  );
}

/** Whether the fields form a complete payload. */
export function isCompletePayload(fields: Fields): boolean {
  return schemaOf(textAt(fields, "event", "scope"), textAt(fields, "repo", "type")).safeParse(fields).success;
}

/** Returns the string in a nested field, if there is one. */
export function textAt(fields: Fields, outer: string, inner: string): string | undefined {
  const within = Object.hasOwn(fields, outer) ? fields[outer] : undefined;
  const value = isFields(within) && Object.hasOwn(within, inner) ? within[inner] : undefined;
  return typeof value === "string" ? value : undefined;
}

/**
 * Removes the fields that depend on the name of the recorded repository. The rest can be sent for another repository.
 */
export function withoutIdentity(fields: Fields): Fields {
  return isFields(fields.repo) ? { ...fields, repo: deepMerge(fields.repo, identity) } : fields;
}

/** Returns the edits that turn any payload into the recorded payload, except for `webhook`. */
export function replacingEdits(payload: Fields): readonly PayloadEdit[] {
  return ["event", "repo", ...optionalFields].map((path) =>
    Object.hasOwn(payload, path) ? { path, value: payload[path] } : { path, remove: true },
  );
}

/**
 * Returns the edits that replace `webhook`, the field that a local Hub sets, with the values of a file. The recorded ID
 * is omitted if a webhook fires, because that webhook has its own ID.
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
