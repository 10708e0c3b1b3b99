import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { ChangedFile, RepositoryChanges, RepositoryPage } from "../../protocol/hub.ts";
import type { ConsoleFeature } from "../../protocol/session.ts";
import { PaneContent } from "../delivery/pane.tsx";
import { formatCount, formatPlural } from "../format.ts";
import { type Resource, useResource } from "../resource.ts";
import { formatRoute, route } from "../state.ts";
import { Button, Moment, Text } from "../ui.tsx";
import "./repository.css";

/** Returns the hash of a part of the open repository. */
export function linkTo(part: Readonly<Record<string, string | number | undefined>>): string {
  const { type, name, search } = route.value.query;
  return formatRoute("repositories/one", { type, name, ...part, search });
}

/** Reads the open repository, and again after changes. Something that no longer exists has no data. */
export function useLive<Answer>(
  path: string,
  { part, features = ["repositories"] }: { part?: string; features?: readonly ConsoleFeature[] } = {},
): Resource<Answer> {
  const { type, name } = route.value.query;
  const resource = useResource<Answer>(path, { query: { type, name, path: part }, features });
  return resource.failure?.status === 404 ? { ...resource, data: undefined } : resource;
}

/** A part of the open repository, page by page. `path` is that of `RepositoryRead`. */
export function Pages<Value>({ path, children }: { path: string; children: (value: Value) => ComponentChildren }) {
  const resource = useLive<RepositoryPage<Value>>("repositories/read", { part: path });
  const [isMoreShown, setMoreShown] = useState(false);
  const gone = (
    <>
      It may have been deleted. <a href={linkTo({})}>Open the files of the repository</a>
    </>
  );
  return (
    <PaneContent resource={resource} gone={gone}>
      {({ value, next }) => (
        <>
          {children(value)}
          {next !== undefined && !isMoreShown && <Button onClick={() => setMoreShown(true)}>Show more</Button>}
          {next !== undefined && isMoreShown && <Pages path={next} children={children} />}
        </>
      )}
    </PaneContent>
  );
}

/** The start of a list, until the user asks for all of it. */
export function Limited<Item>({
  items,
  max,
  children,
}: {
  items: readonly Item[];
  max: number;
  children: (shown: readonly Item[]) => ComponentChildren;
}) {
  const [isWhole, setWhole] = useState(false);
  const isCut = !isWhole && items.length > max;
  return (
    <>
      {children(isCut ? items.slice(0, max) : items)}
      {isCut && <Button onClick={() => setWhole(true)}>Show all {formatCount(items.length)}</Button>}
    </>
  );
}

interface Row {
  href: string;
  /** A short text before the title. */
  mark?: ComponentChildren;
  title: string;
  tags?: readonly string[];
  details: ComponentChildren;
}

/** A list whose rows are links. `empty` replaces a list without rows. */
export function Rows({ rows, empty }: { rows: readonly Row[]; empty: string }) {
  if (rows.length === 0) return <p class="quiet">{empty}</p>;
  return (
    <ol class="attempts">
      {rows.map(({ href, mark, title, tags = [], details }) => (
        <li key={href}>
          <a class="attempt-line" href={href}>
            {mark}
            <span class="attempt-event">
              <Text value={title} />
              <Tags tags={tags} />
            </span>
            <span class="quiet attempt-time">{details}</span>
          </a>
        </li>
      ))}
    </ol>
  );
}

export function Tags({ tags }: { tags: readonly string[] }) {
  return tags.map((tag) => (
    <>
      {" "}
      <span class="tag">{tag}</span>
    </>
  ));
}

/** Who wrote something, and when. */
export function Origin({ author, at }: { author: string; at: number | string }) {
  return (
    <span>
      <Text value={author} />, <Moment at={new Date(at).getTime()} />
    </span>
  );
}

const sizeUnits = ["bytes", "kB", "MB", "GB", "TB"];

/** Formats the size of a file: `812 bytes`, `12.3 kB`. */
export function formatBytes(size: number): string {
  if (size === 1) return "1 byte";
  const power = Math.min(sizeUnits.length - 1, Math.floor(Math.log10(Math.max(size, 1)) / 3));
  return `${formatCount(Math.round((size / 1_000 ** power) * 10) / 10)} ${sizeUnits[power]}`;
}

/** The files that a commit or a pull request changes. `children` shows the commit above them. */
export function Changes({
  revision,
  children,
}: {
  revision: string;
  children?: (commit: RepositoryChanges["commit"]) => ComponentChildren;
}) {
  return (
    <Pages<RepositoryChanges> path={`changes/${encodeURIComponent(revision)}`}>
      {({ commit, files, skip, total }) => (
        <>
          {skip === 0 && children?.(commit)}
          {skip === 0 && (
            <p class="quiet">
              {formatPlural(total, "file changed", "files changed")}
              {total === 0 && revision.startsWith("refs/pr/") && `. Push a commit to ${revision}.`}
            </p>
          )}
          {files.map((file) => (
            <FileDiff key={file.path} file={file} />
          ))}
        </>
      )}
    </Pages>
  );
}

const reasons = { binary: "Binary file", large: "Large file", LFS: "File in LFS", same: "No changed lines" };

function FileDiff({ file }: { file: ChangedFile }) {
  const { path, previousPath, change, sizes, reason = "same", patch, isCut, added, removed } = file;
  return (
    <details class="diff card" open>
      <summary>
        <span class="attempt-event">
          <Text value={previousPath === undefined ? path : `${previousPath} → ${path}`} />
          {change !== "changed" && <Tags tags={[change]} />}
        </span>
        {patch !== undefined && (
          <span>
            <span class="diff-added">+{formatCount(added)}</span> <span class="bad">−{formatCount(removed)}</span>
          </span>
        )}
      </summary>
      {patch === undefined ? (
        <p class="quiet">{`${reasons[reason]}, ${sizes.map(formatBytes).join(" → ")}`}</p>
      ) : (
        <Limited items={patch.replace(/\n$/, "").split("\n")} max={300}>
          {(lines) => (
            <pre>
              {lines.map((line, index) => (
                <span key={index} data-sign={line.slice(0, 1)}>
                  <Text value={line} />
                </span>
              ))}
            </pre>
          )}
        </Limited>
      )}
      {isCut && <p class="quiet">The rest is not shown. Open the file to read all of it.</p>}
    </details>
  );
}
