/**
 * Compares the contract of the client and the local Hub with an OpenAPI document that the Hub has published, and lists
 * every difference that `src/hub/hub-changes.ts` does not explain: operations, parameters, and the fields,
 * types, values and bounds of requests and answers. Refusals, headers and descriptions are not compared.
 *
 *     npm run contract:diff -- PATH
 *
 * Exit code 0: none. 1: differences. 2: wrong usage, or no such document.
 */
import { readFileSync } from "node:fs";
import { publishedOn } from "../src/hub/hub-changes.ts";
import { openApiDocument } from "../src/local-hub/routes/openapi-document.ts";
import { formatDifference, reportOn } from "./contract-diff/report.ts";
import { asObject, type JsonObject } from "./contract-diff/schema-facts.ts";

const [path, ...rest] = process.argv.slice(2);
if (path === undefined || rest.length > 0) fail("Give one file: npm run contract:diff -- PATH");
const document = readDocument(path);
// As JSON, which is what the other one is.
const contract = asObject(JSON.parse(JSON.stringify(openApiDocument({ serverUrl: "https://huggingface.co" }))));
const { open, explained, others } = reportOn(contract, document);
for (const difference of open) console.log(formatDifference(difference));
console.error(
  `${open.length} unexplained differences; ${explained} are explained by hub-changes.ts (compared on ${publishedOn}). ${others} operations of the document are outside of the contract.`,
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
