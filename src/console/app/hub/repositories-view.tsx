import type { RepositoryInfo, RepositoryList } from "../../protocol/hub.ts";
import { formatCount } from "../format.ts";
import { useResource } from "../resource.ts";
import { Command, EmptyState, Moment, Text } from "../ui.tsx";
import { type DataColumn, ListView } from "./list-view.tsx";
import { RepositoryPane } from "./repository-pane.tsx";

const columns: readonly DataColumn<RepositoryInfo>[] = [
  { label: "Repository", cell: ({ name }) => <Text value={name} /> },
  { label: "Type", isShort: true, cell: ({ type }) => type },
  { label: "Visibility", from: 480, isShort: true, cell: ({ isPrivate }) => (isPrivate ? "private" : "public") },
  { label: "Head", from: 700, cell: ({ headSha }) => headSha && <code>{headSha.slice(0, 7)}</code> },
  { label: "Discussions", from: 700, isNumber: true, cell: ({ discussions }) => formatCount(discussions) },
  { label: "Last change", from: 480, isShort: true, cell: ({ lastModified }) => <Moment at={lastModified} /> },
];

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
      pane={({ type, name }) => <RepositoryPane key={`${type}:${name}`} />}
    />
  );
}
