import { Fragment } from "preact";
import { escapeHidden } from "../../../core/text.ts";

/** A URL or a path from outside. Long ones break after a slash rather than inside a word. */
export function UrlText({ value }: { value: string }) {
  return (
    <bdi>
      {escapeHidden(value)
        .split(/(?<=\/)(?!\/)/)
        .map((part, index) => (
          <Fragment key={index}>
            {index > 0 && <wbr />}
            {part}
          </Fragment>
        ))}
    </bdi>
  );
}
