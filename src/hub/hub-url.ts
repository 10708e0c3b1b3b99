import { readEnvironment } from "../core/environment.ts";
import { HubError } from "../core/errors.ts";
import { readBaseUrl } from "../core/urls.ts";

const defaultHubUrl = "https://huggingface.co";

/**
 * Returns the Hub's base URL, without a trailing slash: the option, `HF_ENDPOINT`, or `https://huggingface.co`.
 *
 * @throws `OPTION_INVALID` if the URL is not an http or https URL, or if it contains a username, password, query, or fragment.
 */
export function findHubUrl(option: string | undefined): string {
  const url = option || (readEnvironment("HF_ENDPOINT") ?? defaultHubUrl);
  const read = typeof url === "string" ? readBaseUrl(url) : undefined;
  if (read !== undefined) return read;
  throw new HubError(
    `The URL of the Hub (--hub-url, "hubUrl" in code, or HF_ENDPOINT) is invalid. Use an http or https URL without a username, password, query, or fragment, such as ${defaultHubUrl}.`,
    { code: "OPTION_INVALID", fields: ["hubUrl"] },
  );
}
