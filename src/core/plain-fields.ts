import { describeError } from "./describe-error.ts";

const notSerializable = "[cannot be serialized]";

/** The fields as plain data, with a note in the place of each one that cannot be serialized. */
export function plainFields(fields: object): Record<string, unknown> {
  try {
    return Object.fromEntries(Object.keys(fields).map((name) => [name, plainField(fields, name)]));
  } catch {
    return { fields: notSerializable };
  }
}

function plainField(fields: object, name: string): unknown {
  try {
    const value: unknown = Reflect.get(fields, name);
    if (name === "err") return describeError(value);
    return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
  } catch {
    return notSerializable;
  }
}
