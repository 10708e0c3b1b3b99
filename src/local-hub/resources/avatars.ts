import { html } from "hono/html";
import { accountId } from "../accounts.ts";

/** Prevents the image from loading resources or running scripts, even if it is opened as a document. */
const contentSecurityPolicy =
  "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox";

/**
 * Returns a response with the avatar of a user or an organization, or `undefined` if the file name does not end in `.svg`. The
 * avatar shows the initial of the name on a color that is derived from the name.
 *
 * @example
 * ```ts
 * app.get("/avatars/:file", (context) => avatarResponse(context.req.param("file")) ?? context.notFound());
 * ```
 */
export function avatarResponse(file: string): Response | undefined {
  const [, name] = /^(.+)\.svg$/s.exec(file) ?? [];
  if (name === undefined) return undefined;
  return new Response(draw(name), {
    headers: {
      "Content-Type": "image/svg+xml; charset=utf-8",
      "Content-Security-Policy": contentSecurityPolicy,
      "X-Content-Type-Options": "nosniff",
      "Cache-Control": "public, max-age=3600",
    },
  });
}

function draw(name: string): string {
  // XML cannot represent these characters.
  const title = name.toWellFormed().replace(/[\p{Cc}\uFFFE\uFFFF]/gu, "\uFFFD");
  const [initial = ""] = title.toUpperCase();
  const hue = Number.parseInt(accountId(name).slice(0, 6), 16) % 360;
  return `${html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img" aria-label="${title}">
  <rect width="64" height="64" fill="hsl(${hue}, 60%, 88%)"/>
  <text x="32" y="43" font-family="system-ui, sans-serif" font-size="32" font-weight="600" text-anchor="middle" fill="hsl(${hue}, 60%, 25%)">${initial}</text>
</svg>
`}`;
}

/** Returns the avatar URL of a user or an organization. */
export function getAvatarUrl(name: string, { hubUrl }: { hubUrl: string }): string {
  return `${hubUrl}/avatars/${encodeURIComponent(name)}.svg`;
}
