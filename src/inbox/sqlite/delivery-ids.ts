import { setImmediate as nextTurn } from "node:timers/promises";
import { isDamage } from "../../core/files.ts";
import type { DeliveryKey } from "../inbox.ts";
import type { Row } from "./delivery-reader.ts";
import type { Statements } from "./statements.ts";

/** The rows that are read at a time, which takes about 20 ms. */
const maxRows = 10_000;
const initialSlots = 1_024;
/** With more entries per slot, a search compares many entries. */
const maxLoad = 0.7;
/** The entries of removed deliveries that are kept without freeing their memory. */
const keptEntries = 10_000;

/**
 * Finds deliveries by endpoint and ID. The hashes of all IDs are in memory, because an index of the file has IDs in random order: each new
 * delivery changed another page of it, which took half of the time of storing the delivery.
 *
 * The file decides which deliveries exist: each transaction first reads the IDs that other processes have added, and each delivery that is
 * found by its hash is compared with its row. An entry therefore needs no removal when its delivery is removed, or not committed.
 */
export class DeliveryIds {
  readonly #statements: Statements;
  /** A hash table with open addressing. An empty slot has the sequence 0. */
  #hashes = new Uint32Array(initialSlots);
  #sequences = new Float64Array(initialSlots);
  #count = 0;
  #isLoaded = false;
  #loading: Promise<void> | undefined;
  /** The sequence up to which the table contains all deliveries. */
  #end = 0;
  /** The value of `#end` without the deliveries of the open transaction. */
  #committedEnd = 0;
  /** `current`: the table contains all deliveries until the transaction ends. */
  #transaction: "none" | "begun" | "current" = "none";
  /** The number of rows to read at a time. Fewer after damage was found, to skip as few rows as possible. */
  #limit = maxRows;
  #damage: unknown;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** The last error that file damage caused. */
  get damage(): unknown {
    return this.#damage;
  }

  /**
   * Reads all IDs, in parts, so that the event loop is not blocked: a million take about a second. Until then, `find` searches the file,
   * which takes longer the more deliveries it contains.
   */
  load(): Promise<void> {
    this.#loading ??= this.#loadParts().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  async #loadParts(): Promise<void> {
    // Also before the first part, so that all deliveries that arrive before it is read wait, and keep their order.
    do await nextTurn();
    while (!this.#readNext());
    this.#isLoaded = true;
  }

  /** Called when a transaction has begun, after which no other process adds deliveries. */
  begin(): void {
    this.#transaction = "begun";
    this.#committedEnd = this.#end;
  }

  /** Called after a transaction. */
  end(result: "committed" | "rolled back"): void {
    this.#transaction = "none";
    if (result === "rolled back") this.#end = this.#committedEnd;
  }

  /**
   * Returns the sequence of a delivery that the connection of `statements` can read.
   *
   * @throws the error of SQLite if a page is damaged, after which SQLite refuses the other writes of a transaction. The next one skips the
   * page.
   */
  find(key: DeliveryKey, statements: Statements): number | undefined {
    // SQLite stores other characters instead of lone surrogates.
    const [endpoint, id] = [key.endpoint.toWellFormed(), key.id.toWellFormed()];
    if (!this.#isLoaded) {
      const sequence = statements.sequenceOf().get(endpoint, id)?.sequence;
      return sequence === undefined ? undefined : Number(sequence);
    }
    if (this.#transaction !== "current") this.#readAdded();
    const hash = hashOf(endpoint, id);
    const mask = this.#hashes.length - 1;
    for (let slot = hash & mask; this.#sequences[slot] !== 0; slot = (slot + 1) & mask) {
      if (this.#hashes[slot] !== hash) continue;
      const sequence = this.#sequences[slot] ?? 0;
      if (this.#isKeyOf(sequence, { endpoint, id }, statements)) return sequence;
    }
    return undefined;
  }

  /** Whether a delivery has this key. Its hash is that of the key, so a delivery that cannot be read almost certainly has it. */
  #isKeyOf(sequence: number, { endpoint, id }: DeliveryKey, { keyOf, row }: Statements): boolean {
    // After reading a damaged page, SQLite refuses the writes of the transaction.
    for (const read of this.#damage === undefined ? [keyOf, row] : [row, keyOf]) {
      try {
        const key = read().get(sequence);
        return key?.id === id && key.endpoint === endpoint;
      } catch (error) {
        if (!isDamage(error)) throw error;
        this.#damage = error;
      }
    }
    return true;
  }

  /** Adds a delivery that was stored in the open transaction. Call `find` before. */
  add(sequence: number, { endpoint, id }: DeliveryKey): void {
    if (!this.#isLoaded) return;
    this.#put(hashOf(endpoint.toWellFormed(), id.toWellFormed()), sequence);
    this.#end = sequence;
  }

  /** Frees the memory of removed deliveries if they are most of the entries. The IDs are then read again. */
  trim(stored: number): void {
    if (this.#transaction !== "none" || this.#loading || this.#count <= 2 * stored + keptEntries) return;
    this.#hashes = new Uint32Array(initialSlots);
    this.#sequences = new Float64Array(initialSlots);
    this.#count = 0;
    this.#end = 0;
    this.#isLoaded = false;
  }

  /** Reads the IDs of the deliveries after the end. */
  #readAdded(): void {
    const earlierDamage = this.#damage;
    while (!this.#readNext());
    if (this.#transaction === "none") return;
    this.#transaction = "current";
    this.#committedEnd = this.#end;
    if (this.#damage !== earlierDamage) throw this.#damage;
  }

  /** Reads some IDs after the end. Returns whether there are no others. */
  #readNext(): boolean {
    const last = Number(this.#statements.lastSequence().get()?.sequence ?? 0);
    if (this.#end < last) {
      const rows = this.#readRows();
      for (const { sequence, endpoint, id } of rows) this.#put(hashOf(String(endpoint), String(id)), Number(sequence));
      if (rows.length > 0) this.#end = Number(rows.at(-1)?.sequence);
    }
    // The last deliveries can be removed, or not be committed.
    if (this.#end > last) this.#end = last;
    return this.#end === last;
  }

  /** Reads rows after the end. Where the index is damaged, reads the table. Where both are, skips one sequence after another. */
  #readRows(): Row[] {
    const { keysAfter, keysInTableAfter } = this.#statements;
    for (const read of [keysAfter, keysInTableAfter]) {
      try {
        const rows = read().all(this.#end, this.#limit);
        this.#limit = Math.min(2 * this.#limit, maxRows);
        return rows;
      } catch (error) {
        if (!isDamage(error)) throw error;
        this.#damage = error;
      }
    }
    if (this.#limit === 1) this.#end += 1;
    this.#limit = 1;
    return [];
  }

  #put(hash: number, sequence: number): void {
    if (this.#count >= maxLoad * this.#hashes.length) this.#grow();
    const mask = this.#hashes.length - 1;
    let slot = hash & mask;
    for (; this.#sequences[slot] !== 0; slot = (slot + 1) & mask) {
      if (this.#sequences[slot] === sequence && this.#hashes[slot] === hash) return;
    }
    this.#hashes[slot] = hash;
    this.#sequences[slot] = sequence;
    this.#count += 1;
  }

  #grow(): void {
    const [hashes, sequences] = [this.#hashes, this.#sequences];
    this.#hashes = new Uint32Array(2 * hashes.length);
    this.#sequences = new Float64Array(2 * sequences.length);
    const mask = this.#hashes.length - 1;
    for (let from = 0; from < sequences.length; from += 1) {
      const sequence = sequences[from] ?? 0;
      if (sequence === 0) continue;
      const hash = hashes[from] ?? 0;
      let slot = hash & mask;
      while (this.#sequences[slot] !== 0) slot = (slot + 1) & mask;
      this.#hashes[slot] = hash;
      this.#sequences[slot] = sequence;
    }
  }
}

/** FNV-1a with the final steps of MurmurHash3, which mix the lower bits. */
function hashOf(endpoint: string, id: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < endpoint.length; index += 1) {
    hash = Math.imul(hash ^ endpoint.charCodeAt(index), 0x01000193);
  }
  for (let index = 0; index < id.length; index += 1) hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
