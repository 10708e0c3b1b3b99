import type { SecretForm } from "./secret-forms.ts";

/** No form may be shorter. */
export const minFormLength = 8;

/** How many characters are looked up at once. */
const blockLength = 3;
const maxShift = minFormLength - blockLength + 1;
const tableSize = 2 ** 16;

const inBase64 = /[\w+/-]/;

interface Span {
  start: number;
  end: number;
}

/**
 * Finds any of many texts in one pass (Wu-Manber): a table gives, for three characters, how far the next form can be.
 * Unlike an alternation in a regular expression, a thousand secrets take no time to compile whenever one is added, and
 * most characters of a text are skipped.
 */
export class SecretMatcher {
  readonly #shifts = new Uint8Array(tableSize).fill(maxShift);
  readonly #byStart = new Map<string, SecretForm[]>();

  constructor(forms: Iterable<SecretForm>) {
    for (const form of forms) {
      for (let last = blockLength - 1; last < minFormLength; last += 1) {
        const block = blockAt(form.text, last);
        this.#shifts[block] = Math.min(this.#shifts[block] ?? 0, minFormLength - 1 - last);
      }
      const start = form.text.slice(0, minFormLength);
      const others = this.#byStart.get(start);
      if (others) others.push(form);
      else this.#byStart.set(start, [form]);
    }
    for (const sameStart of this.#byStart.values())
      sameStart.sort((left, right) => right.text.length - left.text.length);
  }

  /** The text with `replacement` in the place of every form. Forms that overlap are replaced as one. */
  replace(text: string, replacement: string): string {
    const spans = this.#spansIn(text);
    if (spans.length === 0) return text;
    let replaced = "";
    let end = 0;
    for (const span of spans) {
      replaced += text.slice(end, span.start) + replacement;
      end = span.end;
    }
    return replaced + text.slice(end);
  }

  #spansIn(text: string): Span[] {
    const spans: Span[] = [];
    for (let last = minFormLength - 1; last < text.length; ) {
      const shift = this.#shifts[blockAt(text, last)] ?? 0;
      const span = shift === 0 ? this.#spanAt(text, last - minFormLength + 1) : undefined;
      const before = spans.at(-1);
      if (span && before && span.start < before.end) before.end = Math.max(before.end, span.end);
      else if (span) spans.push(span);
      last += Math.max(shift, 1);
    }
    return spans;
  }

  /** Where the longest form that starts at `start` stands, with the characters at its edges that belong to it. */
  #spanAt(text: string, start: number): Span | undefined {
    const sameStart = this.#byStart.get(text.slice(start, start + minFormLength));
    const form = sameStart?.find((candidate) => text.startsWith(candidate.text, start));
    if (!form) return undefined;
    const end = start + form.text.length;
    const head = form.hasHead && inBase64.test(text.charAt(start - 1)) ? 1 : 0;
    const tail = form.hasTail ? (/^[\w+/-]?={0,2}/.exec(text.slice(end, end + 3))?.[0].length ?? 0) : 0;
    return { start: start - head, end: end + tail };
  }
}

function blockAt(text: string, last: number): number {
  const bits = (text.charCodeAt(last - 2) << 10) ^ (text.charCodeAt(last - 1) << 5) ^ text.charCodeAt(last);
  return bits & (tableSize - 1);
}
