import type { EventInfo } from "../../../protocol/hub.ts";
import { Text } from "../../components/text.tsx";
import { Moment } from "../../components/time.tsx";
import { UrlText } from "../../components/url-text.tsx";
import { useResource } from "../../state/resource.ts";
import { formatRoute } from "../../state/route.ts";
import { Facts } from "../facts.tsx";
import { Pane, PaneContent, Section } from "../split.tsx";
import { EventDeliveries } from "./event-deliveries.tsx";

/** One event with its deliveries and the webhooks that did not fire. */
export function EventPane({ id, search }: { id: string; search: string }) {
  const resource = useResource<EventInfo>("events/one", { query: { id }, features: ["events"] });
  return (
    <Pane title="Event" listHash={formatRoute("events", { search })}>
      <PaneContent resource={resource}>
        {(event) => {
          const { scope, action, repository, user, at, isPayloadOnly, skipped, unlisted } = event;
          const name = `${repository.type}:${repository.name}`;
          return (
            <>
              <div>
                <p class="delivery-title">
                  <strong>
                    <Text value={`${scope} ${action}`} />
                  </strong>
                </p>
                <Facts
                  facts={[
                    [
                      "Repository",
                      <a href={formatRoute("repositories/one", repository)}>
                        <Text value={name} />
                      </a>,
                    ],
                    ["By", <Text value={user} />],
                    ["Time", <Moment at={at} />],
                    ["Change", isPayloadOnly && "none: only the payload was sent"],
                  ]}
                />
              </div>
              <div class="delivery-actions">
                <a class="button" href={formatRoute("send", { scope, action, repository: name })}>
                  Send again
                </a>
              </div>
              <Section title="Deliveries">
                <EventDeliveries event={event} />
              </Section>
              {skipped.length > 0 && (
                <Section title="Skipped webhooks">
                  <ul class="attempts">
                    {skipped.map((webhook) => (
                      <li key={webhook.webhookId} class="attempt-line">
                        <a class="attempt-event" href={formatRoute("webhooks/one", { id: webhook.webhookId })}>
                          <UrlText value={webhook.name} />
                        </a>
                        <span class="quiet">{webhook.reason}</span>
                      </li>
                    ))}
                  </ul>
                </Section>
              )}
              {unlisted > 0 && <p class="quiet">{unlisted} more webhooks are not listed.</p>}
            </>
          );
        }}
      </PaneContent>
    </Pane>
  );
}
