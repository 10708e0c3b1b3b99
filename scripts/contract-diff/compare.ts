import { asObject, type Fact, type Facts, type JsonObject, readFacts } from "./schema-facts.ts";

/** One thing in which two documents differ. */
export interface Difference {
  /** Such as `GET /api/settings/webhooks`. */
  operation: string;
  /** The part of the operation: `request`, `answer`, `query.q`; empty for the operation itself. */
  part: string;
  /** The place in that part, as in `job.flavor`; empty for the whole. */
  place: string;
  kind: "only in the contract" | "only in the document" | "values" | "types" | "required" | "rules";
  /** The facts of the contract and of the document. */
  contract: string;
  document: string;
}

const methods = ["get", "post", "put", "patch", "delete"];

/** Every operation of a document, by method and path. */
export function operationsOf(document: JsonObject): ReadonlyMap<string, JsonObject> {
  const operations = Object.entries(asObject(document.paths)).flatMap(([path, item]) =>
    Object.entries(asObject(item))
      .filter(([method]) => methods.includes(method))
      .map(([method, operation]) => [`${method.toUpperCase()} ${path}`, asObject(operation)] as const),
  );
  return new Map(operations);
}

/** Everything in which a document differs from the contract, in the operations of the contract. */
export function compare(contract: JsonObject, document: JsonObject): Difference[] {
  const published = operationsOf(document);
  return [...operationsOf(contract)].flatMap(([operation, ours]) => {
    const theirs = published.get(operation);
    if (!theirs) {
      const missing = { part: "", place: "", kind: "only in the contract" as const, contract: "", document: "" };
      return [{ operation, ...missing }];
    }
    const [mine, other] = [partsOf(ours, contract), partsOf(theirs, document)];
    return [...new Set([...mine.keys(), ...other.keys()])].flatMap((part) =>
      compareFacts(mine.get(part) ?? new Map(), other.get(part) ?? new Map()).map((difference) => ({
        operation,
        part,
        ...difference,
      })),
    );
  });
}

/** The facts of an operation, by part: `request`, `answer`, `query.p`, `path.name`. */
export function partsOf(operation: JsonObject, document: JsonObject): ReadonlyMap<string, Facts> {
  const parameters = Array.isArray(operation.parameters) ? operation.parameters.map(asObject) : [];
  const answer = contentOf(asObject(asObject(operation.responses)["200"]));
  const parts: [string, unknown][] = [
    ...parameters
      .filter((parameter) => parameter.in !== "header")
      .map((parameter): [string, unknown] => [`${parameter.in}.${parameter.name}`, parameter.schema]),
    ["request", contentOf(asObject(operation.requestBody))],
    // An answer that is not documented and one that may be anything say the same.
    ["answer", Object.keys(asObject(answer)).length === 0 ? undefined : answer],
  ];
  return new Map(
    parts.flatMap(([part, schema]) => {
      if (schema === undefined) return [];
      return [[part, readFacts(schema, { document, isRequest: part === "request" })] as const];
    }),
  );
}

function contentOf({ content }: JsonObject): unknown {
  return asObject(asObject(content)["application/json"]).schema;
}

type PlaceDifference = Omit<Difference, "operation" | "part">;

function compareFacts(ours: Facts, theirs: Facts): PlaceDifference[] {
  const places = [...new Set([...ours.keys(), ...theirs.keys()])];
  const differences = places.flatMap((place) => compareFact(place, ours.get(place), theirs.get(place)));
  const missing = differences.filter(({ kind }) => kind.startsWith("only")).map(({ place }) => place);
  // What a missing field would contain is missing with it.
  return differences.filter(({ place }) => !missing.some((other) => isInside(place, other)));
}

function isInside(place: string, other: string): boolean {
  return place !== other && [".", "[", "<"].some((separator) => place.startsWith(`${other}${separator}`));
}

function compareFact(place: string, ours: Fact | undefined, theirs: Fact | undefined): PlaceDifference[] {
  if (!ours) return [{ place, kind: "only in the document", contract: "", document: shown(theirs) }];
  if (!theirs) return [{ place, kind: "only in the contract", contract: shown(ours), document: "" }];
  const compared = [
    { kind: "types" as const, contract: ours.types, document: theirs.types },
    { kind: "required" as const, contract: [String(ours.required)], document: [String(theirs.required)] },
    { kind: "values" as const, contract: ours.values ?? ["any"], document: theirs.values ?? ["any"] },
    { kind: "rules" as const, contract: ours.rules, document: theirs.rules },
  ];
  return compared.flatMap(({ kind, contract, document }) => {
    const mine = contract.filter((item) => !document.includes(item));
    const other = document.filter((item) => !contract.includes(item));
    if (mine.length === 0 && other.length === 0) return [];
    return [{ place, kind, contract: mine.join(", "), document: other.join(", ") }];
  });
}

function shown(fact: Fact | undefined): string {
  return fact ? fact.types.join(" or ") : "";
}
