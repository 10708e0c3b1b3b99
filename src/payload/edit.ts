import { WebhookError } from "../core/errors.ts";

/** One change of a payload: a value that is put at a path, or what stands there taken away. */
export interface PayloadEdit {
  /** Keys with dots between them; numbers count the items of a list from 0: `updatedRefs.0.ref`. */
  path: string;
  /** Any JSON value. */
  value?: unknown;
  /** Takes away what stands there, in place of a `value`. */
  remove?: true | undefined;
}

/** Whether a text is a path of {@link PayloadEdit}: keys with dots between them, none of them empty. */
export function isEditPath(text: string): boolean {
  return text.split(".").every((key) => key !== "");
}

/**
 * Applies edits to a payload, one after another, and returns the payload that comes of it; the one that was given stays
 * as it is. Objects and lists on the way are made where there is nothing or `null`; a list may grow by one item at a
 * time. To take away what is not there changes nothing, and so does any path with `__proto__` in it.
 *
 * @throws `ARGUMENT_INVALID` when a path leads into a text, a number or a truth value, or beside the items of a list.
 * @example
 * ```ts
 * editPayload(payload, [{ path: "repo.private", value: true }, { path: "repo.tags", remove: true }]);
 * ```
 */
export function editPayload(payload: object, edits: readonly PayloadEdit[]): Record<string, unknown> {
  let edited: Record<string, unknown> = { ...payload };
  for (const edit of edits) {
    const keys = edit.path.split(".");
    if (!keys.includes("__proto__")) edited = changedObject(edited, { edit, keys, depth: 0 });
  }
  return edited;
}

/** An edit on its way down: `keys[depth]` is the next to be taken. */
interface Step {
  edit: PayloadEdit;
  keys: readonly string[];
  depth: number;
}

function changed(value: unknown, step: Step): unknown {
  const { edit, keys, depth } = step;
  if (depth === keys.length) return edit.value;
  if (Array.isArray(value)) return changedList(value, step);
  if (typeof value === "object" && value !== null) return changedObject({ ...value }, step);
  if (edit.remove) return value;
  if (value !== undefined && value !== null) throw wrongPath(step, `there is no object or list but a ${typeof value}`);
  return /^\d+$/.test(keys[depth] ?? "") ? changedList([], step) : changedObject({}, step);
}

function changedObject(object: Record<string, unknown>, step: Step): Record<string, unknown> {
  const key = step.keys[step.depth] ?? "";
  // What every object inherits, such as "constructor", is no field of it.
  const isThere = Object.hasOwn(object, key);
  if (!isThere && step.edit.remove) return object;
  if (isRemoved(step)) {
    const { [key]: _removed, ...rest } = object;
    return rest;
  }
  return { ...object, [key]: changed(isThere ? object[key] : undefined, deeper(step)) };
}

function changedList(list: readonly unknown[], step: Step): readonly unknown[] {
  const key = step.keys[step.depth] ?? "";
  const index = /^\d+$/.test(key) ? Number(key) : Number.POSITIVE_INFINITY;
  if (index < list.length) {
    return isRemoved(step)
      ? list.toSpliced(index, 1)
      : list.map((item, at) => (at === index ? changed(item, deeper(step)) : item));
  }
  if (step.edit.remove) return list;
  if (index > list.length) throw wrongPath(step, `there is a list, whose next item would be ${list.length}`);
  return [...list, changed(undefined, deeper(step))];
}

/** Whether this key is the last one of what is to be taken away. */
function isRemoved({ edit, keys, depth }: Step): boolean {
  return edit.remove === true && depth === keys.length - 1;
}

function deeper({ edit, keys, depth }: Step): Step {
  return { edit, keys, depth: depth + 1 };
}

function wrongPath({ edit, keys, depth }: Step, found: string): WebhookError {
  const place = keys.slice(0, depth).join(".");
  return new WebhookError(`The payload cannot be edited at "${edit.path}": at "${place}" ${found}.`, {
    code: "ARGUMENT_INVALID",
  });
}
