/** The number of IDs in one generation. */
const maxIds = 2_000;

interface Key {
  endpoint: string;
  id: string;
}

/**
 * The latest inline deliveries that failed, at most 4,000: the Hub sends these again. Keeping the IDs of all
 * deliveries would take 1 µs for each of them. There are two generations, so that no entry must be removed alone.
 */
export class FailedIds {
  #current = new Set<string>();
  #previous: ReadonlySet<string> = new Set<string>();

  add(key: Key): void {
    this.#current.add(textOf(key));
    if (this.#current.size < maxIds) return;
    this.#previous = this.#current;
    this.#current = new Set();
  }

  has(key: Key): boolean {
    if (this.#current.size + this.#previous.size === 0) return false;
    const text = textOf(key);
    return this.#current.has(text) || this.#previous.has(text);
  }
}

function textOf({ endpoint, id }: Key): string {
  return `${endpoint} ${id}`;
}
