import { escapeHidden } from "../../../core/text.ts";

/** A text from outside, such as a repository's name. Bidirectional and control characters cannot disguise it. */
export function Text({ value }: { value: string }) {
  return <bdi>{escapeHidden(value)}</bdi>;
}
