import { optionError } from "../../core/option-error.ts";
import type { FilterOptions } from "../../payload/filter.ts";
import { createPathFilter, type PathFilter } from "../../payload/path-filter.ts";

/** Conditions on which the handler runs. */
export interface EndpointConditions {
  /** Whether to ignore events that this server caused. */
  readonly ignoreSelf: boolean;
  readonly paths: PathFilter | undefined;
}

/**
 * Reads the conditions from the options of an endpoint. Returns `undefined` if there are none.
 *
 * @throws `OPTION_INVALID`
 */
export function conditionsOf(options: FilterOptions & { ignoreSelf?: boolean }): EndpointConditions | undefined {
  const { ignoreSelf = false } = options;
  if (typeof ignoreSelf !== "boolean") {
    throw optionError({ option: "ignoreSelf", value: ignoreSelf, expected: "true or false" });
  }
  const paths = createPathFilter(options);
  return ignoreSelf || paths ? { ignoreSelf, paths } : undefined;
}
