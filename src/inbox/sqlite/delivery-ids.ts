import { isDamage } from "../../core/files.ts";
import type { DeliveryKey } from "../inbox.ts";
import type { Statements } from "./statements.ts";

/** The rows that are read at a time. */
const readRows = 1_000;
const initialSlots = 1_024;
/** With more entries per slot, a search compares many entries. */
const maxLoad = 0.7;

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
  /** The sequence up to which the table contains all deliveries. */
  #end = 0;
  /** The value of `#end` without the deliveries of the open transaction. */
  #committedEnd = 0;
  /** `current`: the table contains all deliveries until the transaction ends. */
  #transaction: "none" | "begun" | "current" = "none";

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** Called before each transaction. Reads all IDs at the first call, which takes 0.6 s for a million deliveries. */
  prepare(): void {
    if (this.#end === 0) this.#readAdded();
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
   * @throws the error of SQLite if a page of the index by sequence is damaged. The next transaction skips its deliveries.
   */
  find({ endpoint, id }: DeliveryKey, { keyOf }: Pick<Statements, "keyOf">): number | undefined {
    if (this.#transaction !== "current") this.#readAdded();
    const hash = hashOf(endpoint, id);
    const mask = this.#hashes.length - 1;
    for (let slot = hash & mask; this.#sequences[slot] !== 0; slot = (slot + 1) & mask) {
      if (this.#hashes[slot] !== hash) continue;
      const sequence = this.#sequences[slot] ?? 0;
      const key = keyOf().get(sequence);
      if (key?.id === id && key.endpoint === endpoint) return sequence;
    }
    return undefined;
  }

  /** Adds a delivery that was stored in the open transaction. */
  add(sequence: number, { endpoint, id }: DeliveryKey): void {
    // The next call of `find` reads the deliveries between the end and this one.
    if (sequence !== this.#end + 1) return;
    this.#put(hashOf(endpoint, id), sequence);
    this.#end = sequence;
  }

  /** Reads the IDs of the deliveries after the end. */
  #readAdded(): void {
    const last = Number(this.#statements.lastAdded().get()?.seq ?? 0);
    let limit = readRows;
    let damage: unknown;
    while (this.#end < last) {
      try {
        const rows = this.#statements.keysAfter().all(this.#end, limit);
        for (const { sequence, endpoint, id } of rows) {
          this.#put(hashOf(String(endpoint), String(id)), Number(sequence));
        }
        this.#end = rows.length < limit ? last : Number(rows.at(-1)?.sequence);
      } catch (error) {
        if (!isDamage(error)) throw error;
        damage = error;
        // Reads the rows before the damaged page, and then skips those on it.
        if (limit === 1) this.#end += 1;
        limit = 1;
      }
    }
    // The last delivery can be an earlier one after a transaction without `begin`.
    this.#end = last;
    if (this.#transaction === "none") return;
    this.#transaction = "current";
    this.#committedEnd = last;
    // SQLite would refuse the other writes of the transaction. The next one skips these deliveries.
    if (damage !== undefined) throw damage;
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

  /** Doubles the table, without the entries of deliveries that were removed since. */
  #grow(): void {
    const [hashes, sequences] = [this.#hashes, this.#sequences];
    const first = Number(this.#statements.firstSequence().get()?.sequence ?? 0);
    this.#hashes = new Uint32Array(2 * hashes.length);
    this.#sequences = new Float64Array(2 * sequences.length);
    this.#count = 0;
    for (const [slot, sequence] of sequences.entries()) {
      if (sequence >= first && sequence > 0) this.#put(hashes[slot] ?? 0, sequence);
    }
  }
}

/** FNV-1a with the final steps of MurmurHash3, which mix the lower bits. */
function hashOf(endpoint: string, id: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < endpoint.length; index += 1)
    hash = Math.imul(hash ^ endpoint.charCodeAt(index), 0x01000193);
  for (let index = 0; index < id.length; index += 1) hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
