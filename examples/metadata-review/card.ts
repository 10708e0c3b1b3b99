/** What a card of this type of repository is to say, and why. */
const wanted = {
  model: { license: "how it may be used", tags: "what to find it by", pipeline_tag: "which task it does" },
  dataset: { license: "how it may be used", tags: "what to find it by", task_categories: "which tasks it is for" },
};

/** What a review found: markdown, the same for the same card. */
export interface Review {
  isComplete: boolean;
  report: string;
}

/** Checks the front matter of a card, the README.md of a model or a dataset. */
export function reviewCard(type: "model" | "dataset", card: string): Review {
  const given = filledKeys(card);
  const missing = Object.entries(wanted[type]).filter(([key]) => !given.has(key));
  if (missing.length === 0) return { isComplete: true, report: "The metadata of the card is complete. Thank you!" };
  const lines = missing.map(([key, why]) => `- \`${key}\`: ${why}`);
  return { isComplete: false, report: ["The metadata of the card lacks:", "", ...lines].join("\n") };
}

/** The keys at the top level of the front matter that have a value. No whole YAML: enough to see what is there. */
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
