import { optionError } from "../core/option-error.ts";

const defaultBodyLimit = 10 * 1024 * 1024;

/**
 * The largest body in bytes that the option asks for, by default 10 MiB.
 *
 * @throws `OPTION_INVALID`
 */
export function checkedBodyLimit(option: number = defaultBodyLimit): number {
  if (Number.isInteger(option) && option > 0) return option;
  throw optionError({ option: "bodyLimit", value: option, expected: "a whole number of bytes above zero" });
}
