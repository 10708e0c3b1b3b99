import type { WebhookError } from "../core/errors.ts";
import { optionError } from "../core/option-error.ts";
import type { ListOptions } from "./inbox.ts";

const defaultPage = 50;
const largestPage = 1_000;

/**
 * The size of a page.
 *
 * @throws `OPTION_INVALID`.
 */
export function pageSize({ limit = defaultPage }: ListOptions): number {
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= largestPage) return limit;
  throw listInvalid();
}

/** What is said of a list that nobody can be given. */
export function listInvalid(): WebhookError {
  return optionError(
    `Give "limit" from 1 to ${largestPage}, and as "cursor" the "next" of the page before, to list deliveries.`,
  );
}
