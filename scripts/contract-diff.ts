/**
 * Compares the schemas of the client and the local Hub with an OpenAPI document of the Hub. Lists the differences that
 * `contract-diff/hub-changes.ts` does not explain: operations, parameters, and the fields, types, values and bounds of
 * requests and responses. Does not compare error responses, headers and descriptions.
 *
 *     npm run contract:diff -- PATH
 *
 * Exit code 0: no differences. 1: differences. 2: wrong usage or an unreadable document.
 */
import { readFileSync } from "node:fs";
import { asObject, type JsonObject } from "./contract-diff/schema-facts.ts";

const [path, ...rest] = process.argv.slice(2);
if (path === undefined || rest.length > 0) fail("Pass one file: npm run contract:diff -- PATH");
const document = readDocument(path);
// The local Hub loads only for a valid document, because it takes the most time.
const [{ openApiDocument }, { specifiedRoutes }, { publishedOn }, { formatDifference, reportOn }] = await Promise.all([
  import("../src/local-hub/openapi.ts"),
  import("../src/local-hub/routes/index.ts"),
  import("./contract-diff/hub-changes.ts"),
  import("./contract-diff/report.ts"),
]);
const contract = asObject(
  JSON.parse(JSON.stringify(openApiDocument({ serverUrl: "https://huggingface.co", routes: specifiedRoutes }))),
);
const { open, explained, others } = reportOn(contract, document);
for (const difference of open) console.log(formatDifference(difference));
console.error(
  `${open.length} unexplained differences; ${explained} are explained by hub-changes.ts (compared on ${publishedOn}). ${others} other operations of the document are not compared.`,
);
process.exitCode = open.length === 0 ? 0 : 1;

function readDocument(file: string): JsonObject {
  try {
    const read = asObject(JSON.parse(readFileSync(file, "utf8")));
    if (Object.keys(asObject(read.paths)).length > 0) return read;
  } catch (error) {
    fail(`"${file}" cannot be read as JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  fail(`"${file}" is not an OpenAPI document: it has no paths.`);
}

function fail(message: string): never {
  console.error(`error: ${message}`);
  process.exit(2);
}
