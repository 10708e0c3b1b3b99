import { InvalidKey, kindOf } from "./kinds.ts";

/** Strings and values of a query parameter. */
export interface ParameterCases {
  /** Each valid string, with its value. */
  accepted: readonly { text: string; value: unknown }[];
  refused: readonly string[];
  /** Values that a caller of the client cannot pass. */
  refusedValues: readonly unknown[];
  /** Whether the parameter can be repeated. */
  isList: boolean;
}

const notDigits = [
  ...["", " ", "-1", "-0", "+100", "0100", "01", "100.0", "100.5", "100.", "1e3", "0x100", "100 ", " 100", "100\n"],
  ...["1_00", "1,000", "１００", "Infinity", "NaN", "null", "true", "x", "99999999999999999999"],
];

/** Returns the cases of a parameter of this kind. `some` before a kind: the parameter can be repeated. */
export function parameterCases(given: string): ParameterCases {
  const isList = given.startsWith("some ");
  const kind = given.replace("some ", "");
  const { accepted, refused } = kindOf(kind);
  if (kind.startsWith("integer")) {
    const [least = 0, most = Number.MAX_SAFE_INTEGER] = (kind.split(" ")[1] ?? "")
      .split("..")
      .filter(Boolean)
      .map(Number);
    return {
      accepted: [least, least + 1, 499, most - 1, most].map((value) => ({ text: String(value), value })),
      refused: [...(least > 0 ? [String(least - 1)] : []), String(BigInt(most) + 1n), ...notDigits],
      refusedValues: [least - 1, most + 1, 100.5, Number.NaN, Number.POSITIVE_INFINITY, "100", null, true, [100]],
      isList,
    };
  }
  if (kind === "boolean") {
    return {
      accepted: [true, false].map((value) => ({ text: String(value), value })),
      refused: ["", "1", "0", "yes", "on", "True", "TRUE", " true", "true\n", "null"],
      refusedValues: [null, 0, 1, "true", "false", []],
      isList,
    };
  }
  return {
    accepted: accepted.map((value) => ({ text: String(value), value })),
    refused: refused.filter((value) => typeof value === "string"),
    refusedValues: refused.filter((value) => !(value instanceof InvalidKey) && !(isList && Array.isArray(value))),
    isList,
  };
}

/** Parses a query string to the type in the document: a number or a boolean if it has this form. */
export function toDocumentValue(text: string): unknown {
  if (text === "true" || text === "false") return text === "true";
  return String(Number(text)) === text ? Number(text) : text;
}
