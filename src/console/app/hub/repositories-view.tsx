import { escapeHidden } from "../../../core/text.ts";
import type { RepositoryDetails, RepositoryInfo, RepositoryList } from "../../protocol/hub.ts";
import { Facts, Pane, PaneContent, Section } from "../delivery/pane.tsx";
import { formatCount, formatPlural } from "../format.ts";
import { useResource } from "../resource.ts";
import { formatRoute, route } from "../state.ts";
import { Command, CopyButton, EmptyState, Moment, Text } from "../ui.tsx";
import {
  applyFilter,
  closePane,
  type DataColumn,
  DataTable,
  ListPage,
  readFilter,
  Split,
  Unlisted,
} from "./list-page.tsx";

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
  const resource = useResource<RepositoryList>("repositories", { features: ["repositories"] });
  const { path, query } = route.value;
  const { type, name } = query;
  const isOpen = path === "repositories/one" && type !== undefined && name !== undefined;
  const search = readFilter();
  return (
    <Split
      isOpen={isOpen}
      list={
        <ListPage title="Repositories" filterLabel="Filter repositories" resource={resource}>
          {({ repositories, unlisted, pushCommand }) => (
            <>
              {repositories.length === 0 ? (
                <EmptyState title="No repositories yet">
                  <p>The first push creates a repository. Push with a client of the Hub, or with this command:</p>
                  <Command text={pushCommand} />
                </EmptyState>
              ) : (
                <DataTable
                  caption={formatPlural(repositories.length, "repository", "repositories")}
                  items={applyFilter(
                    repositories,
                    (one) => `${one.type}:${one.name} ${one.isPrivate ? "private" : "public"}`,
                  )}
                  columns={columns}
                  keyOf={keyOf}
                  hashOf={(one) => formatRoute("repositories/one", { type: one.type, name: one.name, search })}
                  openKey={isOpen ? keyOf({ type, name }) : undefined}
                />
              )}
              <Unlisted count={unlisted} noun={["repository", "repositories"]} />
            </>
          )}
        </ListPage>
      }
      pane={isOpen && <RepositoryPane key={keyOf({ type, name })} type={type} name={name} search={search} />}
    />
  );
}

function keyOf({ type, name }: { type: string; name: string }): string {
  return `${type}:${name}`;
}

/** One repository with its commits and discussions. */
function RepositoryPane({ type, name, search }: { type: string; name: string; search: string }) {
  const resource = useResource<RepositoryDetails>("repositories/one", {
    query: { type, name },
    features: ["repositories", "webhooks"],
  });
  return (
    <Pane title="Repository" onClose={() => closePane(formatRoute("repositories", { search }))}>
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
