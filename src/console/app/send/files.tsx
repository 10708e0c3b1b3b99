import { useState } from "preact/hooks";
import type { SentFiles } from "../../protocol/send.ts";
import { formatCount } from "../format.ts";
import { Button, Icon } from "../ui.tsx";
import type { Draft } from "./editing.ts";

/** The maximum size of the files together, in bytes. In Base64, they are a third larger, and a request has at most 11 MiB. */
const maxSentBytes = 7 * 1024 * 1024;

/** A changed file of the push: text, the bytes of a local file, or `null` to delete the file. */
export interface ChangedFile {
  id: number;
  path: string;
  content: string | { base64: string; size: number } | null;
}

/** Whether the local Hub can push files for an event: to a model, dataset, or Space. */
export function hasFiles({ scope, action, repository, pr }: Draft): boolean {
  const isChange = pr === undefined ? scope === "repo.content" && action === "update" : scope === "discussion";
  return isChange && /^(model|dataset|space):/.test(repository);
}

/** Returns the files of a request, or what is wrong with them. Both are missing if there are no files. */
export function readFiles(changes: readonly ChangedFile[]): { files?: SentFiles; problem?: string } {
  if (changes.length === 0) return {};
  const paths = changes.map(({ path }) => path.trim());
  const double = paths.find((path, index) => paths.indexOf(path) !== index);
  if (paths.includes("")) return { problem: "Write the path of each file, such as data/train.csv." };
  if (double !== undefined) return { problem: `Two files have the path ${double}. Remove one of them.` };
  const size = changes.reduce((sum, { content }) => sum + sizeOf(content), 0);
  if (size > maxSentBytes) {
    return {
      problem: `The files have ${formatCount(size)} bytes, and the console sends up to ${formatCount(maxSentBytes)}. Push them with hub-webhooks trigger --add PATH=FILE.`,
    };
  }
  const files = changes.map(({ content }, index) => {
    const isBinary = typeof content === "object" && content !== null;
    return [paths[index] ?? "", isBinary ? { base64: content.base64 } : content] as const;
  });
  return { files: Object.fromEntries(files) };
}

function sizeOf(content: ChangedFile["content"]): number {
  return typeof content === "string" ? new Blob([content]).size : (content?.size ?? 0);
}

interface FilesEditorProps {
  changes: readonly ChangedFile[];
  problem: string | undefined;
  draft: Draft;
  onChange: (change: (changes: readonly ChangedFile[]) => readonly ChangedFile[]) => void;
  onDraft: (changes: Partial<Draft>) => void;
}

/** Edits the files of a push, and whether they are in a new pull request. */
export function FilesEditor({ changes, problem, draft, onChange, onDraft }: FilesEditorProps) {
  const [isTarget, setTarget] = useState(false);
  const add = (content: ChangedFile["content"], path = "") =>
    onChange((known) => [...known, { id: (known.at(-1)?.id ?? 0) + 1, path, content }]);
  const addLocal = async (files: Iterable<File>) => {
    // A larger file is added without its content, because only its size matters for the message.
    for (const file of files)
      add({ base64: file.size > maxSentBytes ? "" : await toBase64(file), size: file.size }, file.name);
  };
  const update = (id: number, changed: Partial<ChangedFile>) =>
    onChange((known) => known.map((file) => (file.id === id ? { ...file, ...changed } : file)));
  const isPullRequest = draft.pr !== undefined;
  return (
    <section
      class="pane-section files"
      aria-labelledby="files-title"
      data-target={isTarget}
      onDragOver={(event) => {
        event.preventDefault();
        setTarget(true);
      }}
      onDragLeave={() => setTarget(false)}
      onDrop={(event) => {
        event.preventDefault();
        setTarget(false);
        void addLocal(event.dataTransfer?.files ?? []);
      }}
    >
      <h2 id="files-title">Files</h2>
      {changes.length > 0 && (
        <ul>
          {changes.map(({ id, path, content }) => (
            <li key={id}>
              <input
                class="input"
                aria-label="Path"
                placeholder="data/train.csv"
                spellcheck={false}
                value={path}
                onInput={({ currentTarget }) => update(id, { path: currentTarget.value })}
              />
              <span class="quiet">{describeContent(content)}</span>
              <Button
                kind="ghost"
                icon="close"
                label={`Remove ${path || "the file"}`}
                onClick={() => onChange((known) => known.filter((file) => file.id !== id))}
              />
              {typeof content === "string" && (
                <textarea
                  class="input"
                  aria-label={`Content of ${path || "the file"}`}
                  rows={4}
                  spellcheck={false}
                  value={content}
                  onInput={({ currentTarget }) => update(id, { content: currentTarget.value })}
                />
              )}
            </li>
          ))}
        </ul>
      )}
      {problem !== undefined && <p class="problem">{problem}</p>}
      {changes.length === 0 && (
        <p class="quiet">Without files, the local Hub changes data/latest.txt. You can also drop files here.</p>
      )}
      <div class="delivery-actions">
        <Button icon="plus" onClick={() => add("")}>
          Write a file
        </Button>
        <label class="button">
          <input
            type="file"
            class="visually-hidden"
            multiple
            onChange={({ currentTarget }) => {
              const chosen = [...(currentTarget.files ?? [])];
              currentTarget.value = "";
              void addLocal(chosen);
            }}
          />
          <Icon name="folder" />
          Choose files
        </label>
        <Button icon="discard" onClick={() => add(null)}>
          Delete a file
        </Button>
        <label class="check">
          <input
            type="checkbox"
            checked={isPullRequest}
            onChange={() =>
              onDraft(
                isPullRequest
                  ? { scope: "repo.content", action: "update", pr: undefined }
                  : { scope: "discussion", action: "create", pr: "true" },
              )
            }
          />
          <span>As a pull request</span>
        </label>
      </div>
    </section>
  );
}

function describeContent(content: ChangedFile["content"]): string {
  if (content === null) return "is deleted";
  return typeof content === "string" ? "" : `${formatCount(content.size)} bytes`;
}

async function toBase64(file: File): Promise<string> {
  let binary = "";
  for (const byte of new Uint8Array(await file.arrayBuffer())) binary += String.fromCharCode(byte);
  return btoa(binary);
}
