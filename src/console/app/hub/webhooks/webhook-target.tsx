import type { WebhookInfo } from "../../../protocol/hub.ts";
import { Text } from "../../components/text.tsx";
import { UrlText } from "../../components/url-text.tsx";

/** The target of a webhook: a URL or a job. */
export function WebhookTarget({ target }: Pick<WebhookInfo, "target">) {
  if (target.kind === "url") return <UrlText value={target.url} />;
  return (
    <>
      <span class="tag">job</span> <Text value={target.kind === "job" ? target.description : target.id} />
    </>
  );
}

/** The text of a target, for filters and confirmations. */
export function targetText({ target }: Pick<WebhookInfo, "target">): string {
  if (target.kind === "url") return target.url;
  return target.kind === "job" ? target.description : target.id;
}
