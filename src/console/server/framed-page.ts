import { tokens } from "../design/tokens.ts";
import { framedPageHeaders } from "./security-headers.ts";

/** The pages that may show this page in a frame: the Hub, which shows every Space in a frame. */
const hubFrames = "'self' https://huggingface.co https://*.huggingface.co https://*.hf.space";

const styles = `${tokens}
body {
  margin: 12vh auto 2rem;
  padding-inline: 1rem;
  max-width: 28rem;
  background: var(--ground);
  color: var(--quiet);
  font: 0.9375rem/1.5 var(--sans);
}
h1 { margin: 0; font-size: 1.25rem; line-height: 1.3; color: var(--ink); }
p { margin: 0.5rem 0 0; }
a {
  display: inline-block;
  margin-top: 0.75rem;
  padding: 0.5rem 1rem;
  border-radius: var(--radius);
  background: var(--accent);
  color: var(--on-accent);
  font-weight: 600;
  text-decoration: none;
}
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
`;

/** The page that a frame shows instead of the console. It contains no data. */
export function framedPage(): Response {
  const styleNonce = crypto.randomUUID();
  const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>hub-webhooks console</title>
    <style nonce="${styleNonce}">${styles}</style>
  </head>
  <body>
    <main>
      <h1>Open the console in its own tab</h1>
      <p>Browsers do not let a page in a frame keep you signed in.</p>
      <p><a href="" target="_blank" rel="noopener">Open the console</a></p>
    </main>
  </body>
</html>
`;
  return new Response(page, { headers: framedPageHeaders({ frameAncestors: hubFrames, styleNonce }) });
}
