import { escapeHidden } from "../../../core/text.ts";
import type { DeliverySummary } from "../../protocol/deliveries.ts";
import { Icon } from "../components/icon.tsx";
import { isLoopbackUrl, isWebUrl } from "../components/web-url.ts";
import { formatRoute } from "../state/route.ts";
import { session } from "../state/session.ts";

/**
 * A small link to a repository: to the console's repositories if it has them, otherwise to the Hub. A Hub on this machine has
 * no pages, so there is no link to it.
 */
export function RepositoryLink({
  repository: { type, name, url },
}: {
  repository: NonNullable<DeliverySummary["repository"]>;
}) {
  if (session.value?.signedIn && session.value.features.includes("repositories")) {
    const label = `Open ${escapeHidden(name)} in Repositories`;
    return (
      <a
        class="repository-link"
        href={formatRoute("repositories/one", { type, name })}
        aria-label={label}
        title={label}
      >
        <Icon name="folder" />
      </a>
    );
  }
  if (url === undefined || !isWebUrl(url) || isLoopbackUrl(url)) return null;
  const label = `Open ${escapeHidden(name)} on the Hub`;
  return (
    <a class="repository-link" href={url} target="_blank" rel="noreferrer noopener" aria-label={label} title={label}>
      <Icon name="external" />
    </a>
  );
}
