/** The metadata keys that a card must have, with their purpose. */
const requiredKeys = {
  model: { license: "the terms of use", tags: "keywords for the search", pipeline_tag: "the task of the model" },
  dataset: {
    license: "the terms of use",
    tags: "keywords for the search",
    task_categories: "the tasks that it is for",
  },
};

/** The result of a review. The report is Markdown, and always the same for the same card. */
export interface Review {
  isComplete: boolean;
  report: string;
}

/** Checks the front matter of a card, the README.md of a model or a dataset. */
export function reviewCard(type: "model" | "dataset", card: string): Review {
  const given = filledKeys(card);
  const missing = Object.entries(requiredKeys[type]).filter(([key]) => !given.has(key));
  if (missing.length === 0) return { isComplete: true, report: "The metadata of the card is complete. Thank you!" };
  const lines = missing.map(([key, why]) => `- \`${key}\`: ${why}`);
  return { isComplete: false, report: ["The metadata of the card lacks:", "", ...lines].join("\n") };
}

/** Returns the top-level keys of the front matter that have a value. Supports only the YAML that this needs. */
function filledKeys(card: string): ReadonlySet<string> {
  const [, block = ""] = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(card) ?? [];
  const filled = new Set<string>();
  let key = "";
  for (const line of block.split(/\r?\n/)) {
    const [, name, value = line] = /^([\w-]+):(.*)$/.exec(line) ?? [];
    key = name ?? key;
    const bare = value.replace(/(^|\s)#.*$/, "").replace(/[-\s[\]{}"',]/g, "");
    if (bare !== "" && bare !== "null" && bare !== "~") filled.add(key);
  }
  return filled;
}
