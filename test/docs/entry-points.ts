import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../e2e/root.ts";

/** What can be imported from this package under one name. */
export interface EntryPoint {
  /** As in `hub-webhooks/client`. */
  readonly specifier: string;
  /** The file in `src` that exports it. */
  readonly file: string;
}

/** The entry points in the order of `exports` in package.json. */
export function readEntryPoints(): EntryPoint[] {
  const { name, exports }: { name: string; exports: Record<string, unknown> } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  );
  return Object.keys(exports)
    .filter((subpath) => subpath !== "./package.json")
    .map((subpath) => {
      const place = subpath.slice(2);
      return {
        specifier: place === "" ? name : `${name}/${place}`,
        file: join(root, `src/${place || "index"}.ts`),
      };
    });
}

/** What an entry point exports, as its file lists it. */
export function readExports({ file }: EntryPoint): { name: string; isType: boolean }[] {
  const text = readFileSync(file, "utf8");
  const listed = [...text.matchAll(/^export (type )?\{([^}]*)\}/gm)].flatMap(([, type, names = ""]) =>
    [...names.matchAll(/(type )?(\w+)\s*(?:,|$)/g)].map(([, ownType, name = ""]) => ({
      name,
      isType: (type ?? ownType) !== undefined,
    })),
  );
  const declared = [...text.matchAll(/^export (?:async )?(interface|type|function|class|const) (\w+)/gm)];
  return [
    ...listed,
    ...declared.map(([, kind = "", name = ""]) => ({ name, isType: kind === "interface" || kind === "type" })),
  ];
}
