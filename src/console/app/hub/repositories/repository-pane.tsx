import { escapeHidden } from "../../../../core/text.ts";
import type { RepositoryDetails } from "../../../protocol/hub.ts";
import { formatPlural } from "../../format.ts";
import { useResource } from "../../state/resource.ts";
import { formatRoute } from "../../state/route.ts";
import { Command, CopyButton, Moment, Text } from "../../ui.tsx";
import { Facts, Pane, PaneContent, Section } from "../list-page.tsx";

/** One repository with its commits and discussions. */
export function RepositoryPane({ type, name, search }: { type: string; name: string; search: string }) {
  const resource = useResource<RepositoryDetails>("repositories/one", {
    query: { type, name },
    features: ["repositories", "webhooks"],
  });
  return (
    <Pane title="Repository" listHash={formatRoute("repositories", { search })}>
      <PaneContent resource={resource}>
        {(repository) => (
          <>
            <Summary repository={repository} />
            <div class="delivery-actions">
              <a class="button" href={formatRoute("send", { repository: `${type}:${name}` })}>
                Send an event
              </a>
            </div>
            <Commits repository={repository} />
            <Discussions repository={repository} />
            <Webhooks repository={repository} />
          </>
        )}
      </PaneContent>
    </Pane>
  );
}

function Summary({ repository }: { repository: RepositoryDetails }) {
  const { type, name, isPrivate, createdAt, lastModified, refs } = repository;
  return (
    <div>
      <p class="delivery-title">
        <span class="tag">{type}</span>
        <strong class="hub-target">
          <Text value={name} />
        </strong>
        <CopyButton text={name} label="Copy name" />
      </p>
      <Facts
        facts={[
          ["Visibility", isPrivate ? "private" : "public"],
          ["Created", <Moment at={createdAt} />],
          ["Last change", <Moment at={lastModified} />],
          [
            "Refs",
            refs.length > 0 && (
              <ul class="plain-list">
                {refs.map((ref) => (
                  <li key={ref.name}>
                    <code>
                      <Text value={ref.name} /> {ref.sha.slice(0, 7)}
                    </code>
                  </li>
                ))}
              </ul>
            ),
          ],
        ]}
      />
    </div>
  );
}

function Commits({ repository: { type, commits, hasMoreCommits, pushCommand } }: { repository: RepositoryDetails }) {
  return (
    <Section title="Commits">
      {commits.length === 0 && (
        <>
          <p class="quiet">{type === "bucket" ? "Buckets have no commits." : "No commits are stored."}</p>
          <Command text={pushCommand} />
        </>
      )}
      <ol class="attempts">
        {commits.map(({ sha, title, message, author, at }) => (
          <li key={sha} class="attempt-line">
            <code title={sha}>{sha.slice(0, 7)}</code>
            <span class="attempt-event" title={escapeHidden(message)}>
              <Text value={title} />
            </span>
            <span class="quiet attempt-time">
              <Text value={author} />, <Moment at={at} />
            </span>
          </li>
        ))}
      </ol>
      {hasMoreCommits && <p class="quiet">Older commits are not listed.</p>}
    </Section>
  );
}

function Discussions({ repository: { discussionList } }: { repository: RepositoryDetails }) {
  return (
    <Section title="Discussions">
      {discussionList.length === 0 && <p class="quiet">No discussions or pull requests yet.</p>}
      <ol class="attempts">
        {discussionList.map(({ num, title, status, isPullRequest, isPinned, author, at, comments }) => (
          <li key={num} class="attempt-line">
            <span class="quiet">#{num}</span>
            <span class="attempt-event">
              <Text value={title} /> {isPullRequest && <span class="tag">pull request</span>}{" "}
              {isPinned && <span class="tag">pinned</span>}
            </span>
            <span>{status}</span>
            <span class="quiet attempt-time">
              {formatPlural(comments, "comment", "comments")}, <Text value={author} />, <Moment at={at} />
            </span>
          </li>
        ))}
      </ol>
    </Section>
  );
}

function Webhooks({ repository: { webhooks } }: { repository: RepositoryDetails }) {
  return (
    <Section title="Webhooks">
      {webhooks.length === 0 ? (
        <p class="quiet">
          No webhook watches this repository. <a href="#/webhooks">Create one</a>.
        </p>
      ) : (
        <ul class="plain-list">
          {webhooks.map(({ id, name }) => (
            <li key={id}>
              <a href={formatRoute("webhooks/one", { id })}>
                <Text value={name} />
              </a>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
