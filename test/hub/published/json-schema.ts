/** A JSON schema. */
export type Schema = { readonly [name: string]: unknown };

export const string: Schema = { type: "string" };
export const number: Schema = { type: "number" };
export const boolean: Schema = { type: "boolean" };
export const objectId: Schema = { type: "string", pattern: "^[0-9a-f]{24}$" };
export const objectIdInEitherCase: Schema = { type: "string", pattern: "^[0-9a-fA-F]{24}$" };
export const timestamp: Schema = { type: "string", format: "date-time", pattern: "Z$" };
export const uri: Schema = { type: "string", format: "uri" };
export const whole: Schema = { type: "integer", minimum: 0, maximum: 9007199254740991 };

export function list(items: Schema, bounds: Schema = {}): Schema {
  return { type: "array", items, ...bounds };
}

export function oneOf(...values: string[]): Schema {
  return { enum: values };
}

export function anyOf(...schemas: Schema[]): Schema {
  return { anyOf: schemas };
}

export function constant(value: unknown): Schema {
  return { const: value };
}

/**
 * Returns the schema of an object in a request: fields whose name ends with `?` are optional, and unknown fields are
 * ignored.
 */
export function taken(fields: Record<string, Schema>): Schema {
  const names = Object.keys(fields);
  const required = names.filter((name) => !name.endsWith("?"));
  const properties = Object.fromEntries(names.map((name) => [name.replace(/\?$/, ""), fields[name]]));
  return { type: "object", properties, ...(required.length > 0 && { required }) };
}

/** Returns the schema of an object in a response: unknown fields are not allowed. */
export function given(fields: Record<string, Schema>): Schema {
  return { ...taken(fields), additionalProperties: false };
}

/** Returns the schema of a map whose keys match a pattern. */
export function map(
  pattern: string,
  { value = string, maxLength }: { value?: Schema; maxLength?: number } = {},
): Schema {
  const names = { type: "string", pattern, ...(maxLength !== undefined && { maxLength }) };
  return { type: "object", propertyNames: names, additionalProperties: value };
}
