import { toShellWord } from "../../../core/text.ts";
import type { EndpointInfo } from "../../protocol/endpoints.ts";
import type { ConsolePlace } from "../../protocol/session.ts";

const exampleRepository = "dataset:me/data";

/**
 * Suggests a command that sends a first event: for a repository that an endpoint watches, and, if there is no local Hub,
 * directly to the endpoint.
 */
export function suggestTrigger(
  endpoints: readonly Pick<EndpointInfo, "url" | "repos" | "watch">[],
  place: ConsolePlace,
): string {
  const [endpoint] = endpoints;
  const repository = [...(endpoint?.watch ?? []), ...(endpoint?.repos ?? [])].find(isRepository) ?? exampleRepository;
  const command = `npx hub-webhooks trigger ${toShellWord(repository)}`;
  return place === "receiver" && endpoint ? `${command} --url ${toShellWord(endpoint.url)}` : command;
}

/** Whether a filter names one repository, and not several by a pattern. */
function isRepository(text: string): boolean {
  return /^(model|dataset|space|bucket|kernel):[\w.-]+\/[\w.-]+$/.test(text);
}
