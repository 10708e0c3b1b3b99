import type { RepositoryInfo, RepositoryList } from "../../../protocol/hub.ts";
import { formatCount, formatPlural } from "../../format.ts";
import { useResource } from "../../state/resource.ts";
import { formatRoute, route } from "../../state/route.ts";
import { Command, EmptyState, Moment, Text } from "../../ui.tsx";
import { applyFilter, type DataColumn, DataTable, ListPage, readFilter, Split, Unlisted } from "../list-page.tsx";
import { RepositoryPane } from "./repository-pane.tsx";

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
