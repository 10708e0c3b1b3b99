import { WebhookError } from "../core/errors.ts";

/** One change to a payload, which sets or removes the value at a path. */
export interface PayloadEdit {
  /** Keys separated by dots, such as `updatedRefs.0.ref`. Numbers are list indexes, starting at 0. */
  path: string;
  /** Any JSON value. */
  value?: unknown;
  /** Removes the value at the path. */
  remove?: true | undefined;
}

/** Whether a text is a valid path of a {@link PayloadEdit}: nonempty keys separated by dots. */
export function isEditPath(text: string): boolean {
  return text.split(".").every((key) => key !== "");
}

/**
 * Applies edits to a copy of a payload, in order. Creates missing objects and lists on the path. Each edit can append
 * at most one item to a list. Ignores edits that remove a missing value, and paths that contain `__proto__`.
 *
 * @throws `ARGUMENT_INVALID` when a path continues below a string, number, or boolean, or skips items of a list.
 * @example
 * ```ts
 * editPayload(payload, [{ path: "repo.private", value: true }, { path: "repo.tags", remove: true }]);
 * ```
 */
export function editPayload(payload: object, edits: readonly PayloadEdit[]): Record<string, unknown> {
  let edited: Record<string, unknown> = { ...payload };
  for (const edit of edits) {
    const keys = edit.path.split(".");
    if (!keys.includes("__proto__")) edited = editObject(edited, { edit, keys, depth: 0 });
  }
  return edited;
}

/** The position of an edit in the payload. The next key is `keys[depth]`. */
interface Step {
  edit: PayloadEdit;
  keys: readonly string[];
  depth: number;
}

function editValue(value: unknown, step: Step): unknown {
  const { edit, keys, depth } = step;
  if (depth === keys.length) return edit.value;
  if (Array.isArray(value)) return editList(value, step);
  if (typeof value === "object" && value !== null) return editObject({ ...value }, step);
  if (edit.remove) return value;
  if (value !== undefined && value !== null) throw wrongPath(step, `is a ${typeof value}, not an object or a list`);
  return /^\d+$/.test(keys[depth] ?? "") ? editList([], step) : editObject({}, step);
}

function editObject(object: Record<string, unknown>, step: Step): Record<string, unknown> {
  const key = step.keys[step.depth] ?? "";
  // Inherited names such as "constructor" are not fields of the payload.
  const isThere = Object.hasOwn(object, key);
  if (!isThere && step.edit.remove) return object;
  if (isRemoval(step)) {
    const { [key]: _removed, ...rest } = object;
    return rest;
  }
  return { ...object, [key]: editValue(isThere ? object[key] : undefined, descend(step)) };
}

function editList(list: readonly unknown[], step: Step): readonly unknown[] {
  const key = step.keys[step.depth] ?? "";
  const index = /^\d+$/.test(key) ? Number(key) : Number.POSITIVE_INFINITY;
  if (index < list.length) {
    return isRemoval(step)
      ? list.toSpliced(index, 1)
      : list.map((item, at) => (at === index ? editValue(item, descend(step)) : item));
  }
  if (step.edit.remove) return list;
  if (index > list.length) throw wrongPath(step, `is a list whose next index is ${list.length}`);
  return [...list, editValue(undefined, descend(step))];
}

/** Whether the edit removes the key at the current depth. */
function isRemoval({ edit, keys, depth }: Step): boolean {
  return edit.remove === true && depth === keys.length - 1;
}

function descend({ edit, keys, depth }: Step): Step {
  return { edit, keys, depth: depth + 1 };
}

function wrongPath({ edit, keys, depth }: Step, found: string): WebhookError {
  const place = keys.slice(0, depth).join(".");
  return new WebhookError(`Cannot edit "${edit.path}": the value at "${place}" ${found}.`, {
    code: "ARGUMENT_INVALID",
  });
}

/**
 * Merges `changes` into a copy of `base`. Objects are merged key by key, and other values are replaced. A value of
 * `undefined` removes its key.
 */
export function deepMerge(base: object, changes: object): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, change] of Object.entries(changes)) {
    // Assigning this key would set the prototype.
    if (key === "__proto__") continue;
    if (change === undefined) delete merged[key];
    else merged[key] = isRecord(change) ? deepMerge(asRecord(merged[key]), change) : change;
  }
  return merged;
}

function asRecord(value: unknown): object {
  return isRecord(value) ? value : {};
}

function isRecord(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
