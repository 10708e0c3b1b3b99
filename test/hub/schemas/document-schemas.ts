import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { openApiDocument } from "../../../src/local-hub/openapi/openapi-document.ts";

const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addSchema({ $id: "hub:document", ...openApiDocument({ serverUrl: "http://localhost:5050" }) });

const compiled = new Map<string, ValidateFunction>();

/** Compiles a schema of the document with a validator that is independent of our schemas. */
export function documentSchema(pointer: string): ValidateFunction {
  const validate = compiled.get(pointer) ?? ajv.compile({ $ref: `hub:document#${encodeURI(pointer)}` });
  compiled.set(pointer, validate);
  return validate;
}
