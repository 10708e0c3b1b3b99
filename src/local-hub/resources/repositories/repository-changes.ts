import { HTTPException } from "hono/http-exception";
import type { KnownRepoRef } from "../../../hub/schemas.ts";
import { publishChange } from "../../events/publish-change.ts";
import type { ContentStore, FileChange } from "../../git/content-store.ts";
import type { HubContext } from "../../hub-context.ts";
import { hasContent, mainRef, newRepository, type StoredRepository } from "../../store/repository-store.ts";
import type { Store } from "../../store/store.ts";

export type RepositorySettings = Partial<Pick<StoredRepository, "private" | "gated" | "discussionsDisabled">>;

interface NewRepository extends KnownRepoRef {
  user: string;
  private?: boolean | undefined;
  sdk?: string | undefined;
  /** Files of the first commit, in addition to `.gitattributes`. */
  files?: readonly FileChange[] | undefined;
}

/**
 * Creates a repository. A model, a dataset, or a Space gets a first commit with `.gitattributes`. Fires `repo` create.
 *
 * @throws HTTPException 409 if a repository has the name. `ARGUMENT_INVALID` if the files are invalid.
 */
export function createRepository(
  context: HubContext,
  { type, name, user, private: isPrivate = false, sdk, files }: NewRepository,
): StoredRepository {
  const { store, createId, createSha, now } = context;
  const at = now();
  const repository = store.transaction(() => {
    checkFree(store, { type, name });
    const created: StoredRepository = {
      ...newRepository({ type, name, id: createId(), private: isPrivate, createdAt: at }),
      ...(sdk !== undefined && { sdk }),
      // The content of kernels is not stored, and buckets have no commits.
      ...(type === "kernel" && { headSha: createSha() }),
    };
    store.repositories.put(created);
    createInitialCommit(store.content, { repository: created, files, author: user, date: at });
    return reread(store, created);
  });
  publishChange(context, { scope: "repo", action: "create", user, before: undefined, after: repository });
  return repository;
}

/**
 * Gives a repository another name or owner. The previous name redirects to the repository. Fires `repo` move. Does nothing if the
 * repository already has the name.
 *
 * @throws HTTPException 409 if a repository has the new name.
 */
export function moveRepository(
  context: HubContext,
  { repository, name, user }: { repository: StoredRepository; name: string; user: string },
): StoredRepository {
  const { store } = context;
  if (name === repository.name) return repository;
  const moved = store.transaction(() => {
    checkFree(store, { ...repository, name });
    store.repositories.move(repository, name);
    return { ...repository, name };
  });
  const change = { scope: "repo", action: "move", user, before: repository, after: moved, movedTo: { name } };
  publishChange(context, change);
  return moved;
}

/** Deletes a repository with its content. Fires `repo` delete. */
export function deleteRepository(
  context: HubContext,
  { repository, user }: { repository: StoredRepository; user: string },
): void {
  const { store } = context;
  const { content, objects } = store;
  store.transaction(() => {
    const files = content.largeFiles(repository.id);
    const objectFiles = objects.deleteBucket(repository.id);
    store.repositories.delete(repository);
    content.deleteRepository(repository.id);
    store.discussions.deleteRepository(repository.id);
    store.afterCommit(() => {
      content.deleteUnusedFiles(files);
      objects.deleteFiles(objectFiles);
    });
  });
  publishChange(context, { scope: "repo", action: "delete", user, before: repository, after: undefined });
}

/** Fires `repo.config` update with the visibility, if it changed, or nothing if the repository already has the settings. */
export function updateRepositorySettings(
  context: HubContext,
  { repository, settings, user }: { repository: StoredRepository; settings: RepositorySettings; user: string },
): StoredRepository {
  const { store } = context;
  const { private: isPrivate = repository.private } = settings;
  const { gated = repository.gated, discussionsDisabled = repository.discussionsDisabled } = settings;
  const isVisibilityChanged = isPrivate !== repository.private;
  if (!isVisibilityChanged && gated === repository.gated && discussionsDisabled === repository.discussionsDisabled) {
    return repository;
  }
  const updated = { ...repository, private: isPrivate, gated, discussionsDisabled };
  store.repositories.put(updated);
  publishChange(context, {
    ...{ scope: "repo.config", action: "update", user, before: repository, after: updated },
    updatedConfig: isVisibilityChanged ? { private: isPrivate } : {},
  });
  return updated;
}

function checkFree(store: Store, { type, name, id }: KnownRepoRef & { id?: string }): void {
  const existing = store.repositories.get({ type, name });
  // A repository can change the case of its own name.
  if (!existing || existing.id === id) return;
  throw new HTTPException(409, { message: `A ${type} repository called ${name} already exists. Choose another name.` });
}

/** Returns a repository with its derived properties. */
export function reread(store: Store, repository: StoredRepository): StoredRepository {
  return (hasContent(repository.type) && store.repositories.get(repository)) || repository;
}

/** The patterns of files that the Hub stores in LFS, in new repositories of all types. */
const patterns = [
  ..."*.7z *.arrow *.bin *.bz2 *.ckpt *.ftz *.gz *.h5 *.joblib *.lfs.* *.lz4 *.mds *.mlmodel *.model *.msgpack".split(
    " ",
  ),
  ..."*.npy *.npz *.onnx *.ot *.parquet *.pb *.pickle *.pkl *.pt *.pth *.rar *.safetensors saved_model/**/*".split(" "),
  ..."*.tar.* *.tar *.tflite *.tgz *.wasm *.xz *.zip *.zst *tfevents*".split(" "),
];
/** The further patterns in new datasets: audio, images, and videos. */
const datasetPatterns = [
  ..."*.pcm *.sam *.raw *.aac *.flac *.mp3 *.ogg *.wav *.bmp *.gif *.png *.tiff *.jpg *.jpeg *.webp".split(" "),
  ..."*.mp4 *.webm".split(" "),
];

const encoder = new TextEncoder();

interface InitialCommit {
  repository: StoredRepository;
  /** In addition to `.gitattributes`. */
  files: readonly FileChange[] | undefined;
  author: string;
  date: number;
}

/** Does nothing for a type without content. @throws `ARGUMENT_INVALID` if the files are invalid. */
export function createInitialCommit(content: ContentStore, { repository, files = [], author, date }: InitialCommit) {
  if (!hasContent(repository.type)) return undefined;
  const commit = content.createCommit(repository.id, {
    parents: [],
    changes: [{ path: ".gitattributes", content: encoder.encode(gitAttributes(repository.type)) }, ...files],
    ...{ title: "initial commit", message: "", author, date },
  });
  content.setRefs(repository.id, [{ name: mainRef, oid: commit.oid }]);
  return commit;
}

function gitAttributes(type: string): string {
  const all = type === "dataset" ? [...patterns, ...datasetPatterns] : patterns;
  return all.map((pattern) => `${pattern} filter=lfs diff=lfs merge=lfs -text\n`).join("");
}
