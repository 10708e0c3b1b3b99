import { WebhookError } from "../core/errors.ts";

const defaultBodyLimit = 10 * 1024 * 1024;

/**
 * The largest body in bytes that the option asks for, by default 10 MiB.
 *
 * @throws `OPTION_INVALID`
 */
export function checkedBodyLimit(option: number = defaultBodyLimit): number {
  if (Number.isInteger(option) && option > 0) return option;
  throw new WebhookError(`Option "bodyLimit" is ${option}: give a whole number of bytes above zero.`, {
    code: "OPTION_INVALID",
  });
}
