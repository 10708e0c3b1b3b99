import { readFileSync } from "node:fs";
import type { Face } from "../../reference/faces.ts";

/** What a face exports, as its file lists it. */
export function readExports({ file }: Face): { name: string; isType: boolean }[] {
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
