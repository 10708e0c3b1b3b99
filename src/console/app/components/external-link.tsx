import type { ComponentChildren } from "preact";
import { isWebUrl } from "./web-url.ts";

/** A link to another site, in a new tab. Only for `http:` and `https:` URLs; otherwise only the content is shown. */
export function ExternalLink({ url, children }: { url: string | undefined; children: ComponentChildren }) {
  if (url === undefined || !isWebUrl(url)) return <>{children}</>;
  return (
    <a class="external" href={url} target="_blank" rel="noreferrer noopener">
      {children}
      <span class="visually-hidden"> (opens in a new tab)</span>
    </a>
  );
}
