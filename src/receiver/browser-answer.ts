import { wantsHtml } from "../core/http-headers.ts";
import { errorOf } from "./answer.ts";

/** The request that is answered, as far as it matters to {@link pageForBrowsers}. */
export interface AnsweredRequest {
  method: string;
  accept: string | null | undefined;
  /** Address of a page to continue with. */
  home?: string | undefined;
}

/** Shows one of our errors to a person: a browser gets a page of the same status, and any other client the JSON. */
export async function pageForBrowsers(response: Response, request: AnsweredRequest): Promise<Response> {
  const error = errorOf(response);
  if (error === undefined || !wantsHtml(request)) return response;
  const { renderErrorPage } = await import("../console/error-page.ts");
  const { code, message } = error;
  const { status } = response;
  const page = renderErrorPage({ status, code, message, home: request.home });
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(page.headers)) headers.set(name, value);
  return new Response(page.html, { status, headers });
}
