import type { Commit } from "../../git/commit-store.ts";
import type { ContentStore, FileChange } from "../../git/content-store.ts";
import { hasContent, mainRef } from "../../repository-content.ts";
import type { StoredRepository } from "../../store/repository-store.ts";

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

/** The first commit of a new repository. */
interface InitialCommit {
  repository: StoredRepository;
  /** Files in addition to `.gitattributes`. */
  files?: readonly FileChange[];
  /** The name of the user. */
  author: string;
  /** Milliseconds since the epoch. */
  date: number;
}

/**
 * Creates the main branch of a new repository, with a first commit that contains `.gitattributes`, as on the Hub. Does nothing for
 * a type without content.
 *
 * @throws `ARGUMENT_INVALID` if the files are invalid.
 */
export function createInitialCommit(
  content: ContentStore,
  { repository, files = [], author, date }: InitialCommit,
): Commit | undefined {
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
