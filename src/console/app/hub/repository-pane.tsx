import { Fragment } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { RepositoryCommit, RepositoryFile } from "../../../hub/repositories/contents.ts";
import type { DiscussionDetails, DiscussionEvent, DiscussionSummary } from "../../../hub/repositories/discussions.ts";
import type { FileContent, RepositoryDetails } from "../../protocol/hub.ts";
import { apiUrl } from "../api.ts";
import { Facts, RawText, Section } from "../delivery/pane.tsx";
import { formatCount, formatPlural } from "../format.ts";
import { formatRoute, navigate, route } from "../state.ts";
import { Command, CopyButton, EmptyState, Icon, Moment, Select, Text } from "../ui.tsx";
import { ItemPane } from "./list-view.tsx";
import { Changes, formatBytes, Limited, linkTo, Origin, Pages, Rows, Tags, useLive } from "./repository-content.tsx";

/** The open repository with its files, commits, and discussions. The route contains the part that is open. */
export function RepositoryPane() {
  const { query } = route.value;
  const resource = useLive<RepositoryDetails>("repositories/one", { features: ["repositories", "webhooks"] });
  const { name = query.name } = resource.data ?? {};
  useEffect(() => {
    // A repository that was moved is still found by its previous name.
    if (name !== query.name) navigate(formatRoute("repositories/one", { ...query, name }), { replace: true });
  }, [name]);
  return (
    <ItemPane title="Repository" path="repositories" resource={resource}>
      {(repository) => (
        <>
          <Summary repository={repository} />
          <Parts repository={repository} />
        </>
      )}
    </ItemPane>
  );
}

function Summary({ repository: { type, name, isPrivate, lastModified, webhooks } }: { repository: RepositoryDetails }) {
  return (
    <div>
      <p class="delivery-title">
        <span class="tag">{type}</span>
        <strong class="hub-target">
          <Text value={name} />
        </strong>
        <CopyButton text={name} label="Copy name" />
        <a class="button" href={formatRoute("send", { repository: `${type}:${name}` })}>
          Send an event
        </a>
      </p>
      <Facts
        facts={{
          Visibility: isPrivate ? "private" : "public",
          "Last change": <Moment at={lastModified} />,
          Webhooks: (
            <span class="plain-list">
              {webhooks.length === 0 && <a href="#/webhooks">None watches this repository. Create one</a>}
              {webhooks.map((webhook) => (
                <a key={webhook.id} href={formatRoute("webhooks/one", { id: webhook.id })}>
                  <Text value={webhook.name} />
                </a>
              ))}
            </span>
          ),
        }}
      />
    </div>
  );
}

function Parts({ repository }: { repository: RepositoryDetails }) {
  const { part = "files", path, file, commit, num, ref } = route.value.query;
  const element = useRef<HTMLDivElement>(null);
  const place = [part, path, file, commit, num].join("\n");
  const lastPlace = useRef(place);
  useEffect(() => {
    if (lastPlace.current === place) return;
    lastPlace.current = place;
    element.current?.scrollIntoView({ block: "nearest" });
    // The link that was used is no longer on the page.
    if (document.activeElement === document.body) element.current?.focus({ preventScroll: true });
  }, [place]);
  return (
    <div ref={element} class="repository-part" tabIndex={-1}>
      <nav class="segments" aria-label="Parts of the repository">
        {["files", "commits", "discussions"].map((one) => (
          <a key={one} href={linkTo({ part: one, ref })} aria-current={one === part ? "page" : undefined}>
            {one.charAt(0).toUpperCase() + one.slice(1)}
            {one === "discussions" && ` ${formatCount(repository.discussions)}`}
          </a>
        ))}
      </nav>
      {part !== "discussions" && <Content repository={repository} />}
      {part === "discussions" && (num === undefined ? <Discussions /> : <Thread num={num} />)}
    </div>
  );
}

/** The files or the commits of a ref. */
function Content({ repository: { refs, pushCommand } }: { repository: RepositoryDetails }) {
  const { part, path = "", file, commit, ref } = route.value.query;
  if (part === "commits" && commit !== undefined) return <CommitView revision={commit} />;
  const names = refs.map(({ name }) => name);
  const rev = ref ?? names.find((name) => name === "refs/heads/main") ?? names[0];
  if (rev === undefined) {
    return (
      <EmptyState title="No commits">
        <p>Models, datasets, and Spaces have commits. Push with a client of the Hub, or send an event:</p>
        <Command text={pushCommand} />
      </EmptyState>
    );
  }
  return (
    <>
      <Select
        aria-label="Branch, tag, or pull request"
        value={rev}
        options={[...new Set([...names, rev])].map((name) => [name, name.replace(/^refs\/(heads\/)?/, "")])}
        onChange={(value) => navigate(linkTo({ part, ref: value, path, file }))}
      />
      {part === "commits" && <Commits rev={rev} />}
      {part !== "commits" && <Breadcrumbs rev={rev} path={file ?? path} />}
      {part !== "commits" &&
        (file === undefined ? <Folder rev={rev} path={path} /> : <FileView rev={rev} file={file} />)}
    </>
  );
}

function Breadcrumbs({ rev, path }: { rev: string; path: string }) {
  if (path === "") return null;
  const names = path.split("/");
  return (
    <nav class="hub-target" aria-label="Folders">
      <a href={linkTo({ ref: rev })}>Files</a>
      {names.map((name, index) => (
        <Fragment key={index}>
          {" / "}
          {index === names.length - 1 ? (
            <Text value={name} />
          ) : (
            <a href={linkTo({ ref: rev, path: names.slice(0, index + 1).join("/") })}>
              <Text value={name} />
            </a>
          )}
        </Fragment>
      ))}
    </nav>
  );
}

/** Encodes a ref and the path of a file. A ref is one segment of the URL. */
function encodePath(rev: string, path: string): string {
  return [rev, ...path.split("/").filter((name) => name !== "")].map(encodeURIComponent).join("/");
}

function Folder({ rev, path }: { rev: string; path: string }) {
  return (
    <Pages<readonly RepositoryFile[]> path={`tree/${encodePath(rev, path)}?limit=200`}>
      {(entries) => (
        <Rows
          empty="This folder is empty."
          rows={entries.map((entry) => ({
            href: linkTo({ ref: rev, [entry.type === "directory" ? "path" : "file"]: entry.path }),
            mark: entry.type === "directory" && <Icon name="folder" />,
            title: entry.path.slice(entry.path.lastIndexOf("/") + 1),
            tags: entry.lfs ? ["LFS"] : [],
            details: entry.type === "directory" ? "folder" : formatBytes(entry.size),
          }))}
        />
      )}
    </Pages>
  );
}

function FileView({ rev, file }: { rev: string; file: string }) {
  const { type, name } = route.value.query;
  const path = `resolve/${encodePath(rev, file)}`;
  return (
    <Pages<FileContent> path={path}>
      {({ size, isInLfs, text, isCut }) => (
        <>
          <div class="section-header">
            <p class="quiet">
              {`${formatBytes(size)}${isInLfs ? ", in LFS" : text === undefined ? ", binary" : ""}.`}
              {text === undefined && " Download the file to open it."}
              {isCut && " Shows the first 256 KiB. Download the file to read all of it."}
            </p>
            <a class="button" href={apiUrl("repositories/download", { type, name, path })} download>
              Download
            </a>
          </div>
          {text && (
            <div class="card">
              <RawText text={text} />
            </div>
          )}
        </>
      )}
    </Pages>
  );
}

function Commits({ rev }: { rev: string }) {
  return (
    <Pages<readonly RepositoryCommit[]> path={`commits/${encodeURIComponent(rev)}`}>
      {(commits) => (
        <Rows
          empty="No commits yet."
          rows={commits.map(({ id, title, authors, date }) => ({
            href: linkTo({ part: "commits", commit: id }),
            mark: <code>{id.slice(0, 7)}</code>,
            title,
            details: <Origin author={authors.map(({ user }) => user).join(", ")} at={date} />,
          }))}
        />
      )}
    </Pages>
  );
}

function CommitView({ revision }: { revision: string }) {
  return (
    <Changes revision={revision}>
      {({ sha, title, message, author, at }) => (
        <div>
          <h3>
            <Text value={title} />
          </h3>
          <p class="quiet copyable">
            <Origin author={author} at={at} />
            <code>{sha.slice(0, 7)}</code>
            <CopyButton text={sha} label="Copy ID" />
            <a href={linkTo({ ref: sha })}>Files</a>
          </p>
          <p class="plain-text">
            <Text value={message} />
          </p>
        </div>
      )}
    </Changes>
  );
}

function Discussions() {
  return (
    <Pages<{ discussions: readonly DiscussionSummary[] }> path="discussions">
      {({ discussions }) => (
        <Rows
          empty="No discussions or pull requests yet. They appear here when your bot opens one."
          rows={discussions.map(({ num, title, status, isPullRequest, pinned, author, createdAt, numComments }) => ({
            href: linkTo({ part: "discussions", num }),
            mark: <span class="quiet">#{num}</span>,
            title,
            tags: [status, ...(isPullRequest ? ["pull request"] : []), ...(pinned ? ["pinned"] : [])],
            details: (
              <>
                {formatPlural(numComments, "comment", "comments")}, <Origin author={nameOf(author)} at={createdAt} />
              </>
            ),
          }))}
        />
      )}
    </Pages>
  );
}

function nameOf(author: DiscussionEvent["author"]): string {
  return author?.name ?? "a deleted account";
}

function Thread({ num }: { num: string }) {
  return (
    <Pages<DiscussionDetails> path={`discussions/${encodeURIComponent(num)}`}>
      {({ title, status, isPullRequest, pinned, events, changes, filesWithConflicts: conflicts }) => (
        <>
          <div>
            <h3>
              #{num} <Text value={title} />
              <Tags tags={pinned ? [status, "pinned"] : [status]} />
            </h3>
            <Facts
              facts={{
                Ref: isPullRequest && <a href={linkTo({ ref: `refs/pr/${num}` })}>refs/pr/{num}</a>,
                Into: changes && <Text value={changes.base} />,
                Conflicts: Array.isArray(conflicts) && <Text value={conflicts.join(", ")} />,
                Merge: changes?.mergeCommitId !== undefined && <CommitLink sha={changes.mergeCommitId} />,
              }}
            />
          </div>
          <Limited items={events} max={100}>
            {(shown) => (
              <ol class="thread" aria-label="Comments and changes">
                {shown.map((event) => (
                  <li key={event.id} class={event.type === "comment" ? "card" : undefined}>
                    <ThreadEvent event={event} />
                  </li>
                ))}
              </ol>
            )}
          </Limited>
          {isPullRequest && (
            <Section title="Changes">
              <Changes revision={`refs/pr/${num}`} />
            </Section>
          )}
        </>
      )}
    </Pages>
  );
}

function CommitLink({ sha }: { sha: string }) {
  return (
    <a href={linkTo({ part: "commits", commit: sha })}>
      <code>{sha.slice(0, 7)}</code>
    </a>
  );
}

function ThreadEvent({ event }: { event: DiscussionEvent }) {
  const { edited = false, hidden = false } = event.type === "comment" ? event.data : {};
  return (
    <>
      <p class="quiet">
        <Origin author={nameOf(event.author)} at={event.createdAt} />
        <Tags tags={[...(edited ? ["edited"] : []), ...(hidden ? ["hidden"] : [])]} />{" "}
        {event.type === "commit" && <CommitLink sha={event.data.oid} />}
      </p>
      <p class="plain-text">
        <Text value={describeEvent(event)} />
      </p>
    </>
  );
}

/** The text of a comment, or what else happened. */
function describeEvent(event: DiscussionEvent): string {
  switch (event.type) {
    case "comment":
      return event.data.hidden
        ? `Hidden by ${event.data.hiddenBy ?? "a moderator"}. The text was deleted.`
        : event.data.latest.raw || "No text.";
    case "commit":
      return event.data.subject;
    case "status-change":
      return `Changed the status to ${event.data.status}.`;
    case "title-change":
      return `Changed the title from “${event.data.from}” to “${event.data.to}”.`;
    case "pinning-change":
      return event.data.pinned ? "Pinned the discussion." : "Unpinned the discussion.";
    case "ref-deleted":
      return "Deleted the ref.";
  }
}
