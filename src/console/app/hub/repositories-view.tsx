import { escapeHidden } from "../../../core/text.ts";
import type { RepositoryDetails, RepositoryInfo, RepositoryList } from "../../protocol/hub.ts";
import { Facts, Section } from "../delivery/pane.tsx";
import { formatCount, formatPlural } from "../format.ts";
import { useResource } from "../resource.ts";
import { formatRoute } from "../state.ts";
import { Command, CopyButton, EmptyState, Moment, Text } from "../ui.tsx";
import { type DataColumn, ItemPane, ListView } from "./list-view.tsx";

const columns: readonly DataColumn<RepositoryInfo>[] = [
  { label: "Repository", cell: ({ name }) => <Text value={name} /> },
  { label: "Type", isShort: true, cell: ({ type }) => type },
  { label: "Visibility", from: 480, isShort: true, cell: ({ isPrivate }) => (isPrivate ? "private" : "public") },
  { label: "Head", from: 700, cell: ({ headSha }) => headSha && <code>{headSha.slice(0, 7)}</code> },
  { label: "Discussions", from: 700, isNumber: true, cell: ({ discussions }) => formatCount(discussions) },
  { label: "Last change", from: 480, isShort: true, cell: ({ lastModified }) => <Moment at={lastModified} /> },
];

/** The repositories of the local Hub. */
export function RepositoriesView() {
  return (
    <ListView
      noun={["repository", "repositories"]}
      resource={useResource<RepositoryList>("repositories", { features: ["repositories"] })}
      itemsOf={({ repositories }) => repositories}
      keys={["type", "name"]}
      columns={columns}
      textOf={({ type, name, isPrivate }) => `${type}:${name} ${isPrivate ? "private" : "public"}`}
      emptyState={({ pushCommand }) => (
        <EmptyState title="No repositories yet">
          <p>The first push creates a repository. Push with a client of the Hub, or with this command:</p>
          <Command text={pushCommand} />
        </EmptyState>
      )}
      pane={({ type = "", name = "" }) => <RepositoryPane key={`${type}:${name}`} type={type} name={name} />}
    />
  );
}

/** One repository with its commits and discussions. */
function RepositoryPane({ type, name }: { type: string; name: string }) {
  const resource = useResource<RepositoryDetails>("repositories/one", {
    query: { type, name },
    features: ["repositories", "webhooks"],
  });
  return (
    <ItemPane title="Repository" path="repositories" resource={resource}>
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
    </ItemPane>
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
