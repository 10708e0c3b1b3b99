import { framedPageHeaders } from "./security-headers.ts";

/** The pages that may show this page in a frame: the Hub, which shows every Space in a frame. */
const hubFrames = "'self' https://huggingface.co https://*.huggingface.co https://*.hf.space";

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>hub-webhooks console</title>
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

/** The page that a frame shows instead of the console. It contains no data. */
export function framedPage(): Response {
  return new Response(page, { headers: framedPageHeaders(hubFrames) });
}
