import { wantsHtml } from "../../core/http-headers.ts";
import { errorBehind } from "../../http/answer.ts";

/** Replaces the JSON of an error response with an HTML page if a browser sent the request. */
export async function showErrorPage(
  response: Response,
  request: {
    method: string;
    accept: string | null | undefined;
    /** The path of the landing page, to which the error page links. */
    home?: string | undefined;
  },
): Promise<Response> {
  const error = errorBehind(response);
  if (error === undefined || !wantsHtml(request)) return response;
  const { renderErrorPage } = await import("../../console/pages/error-page.ts");
  const { code, message } = error;
  const { status } = response;
  const page = renderErrorPage({ status, code, message, home: request.home });
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(page.headers)) headers.set(name, value);
  return new Response(page.html, { status, headers });
}
