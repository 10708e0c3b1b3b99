import type { Fault } from "../fault.ts";

const model = "test/inbox/bucket/protocol-model.test.ts";
const movingLog = "test/inbox/bucket/moving-log.test.ts";
const snapshots = "test/inbox/bucket/snapshots.test.ts";
const replay = "test/inbox/bucket/log-replay.test.ts";
const schedule = "test/inbox/bucket/snapshot-schedule.test.ts";
const ownership = "test/inbox/bucket/ownership.test.ts";

export const faults: readonly Fault[] = [
  {
    name: "a timer of a closed inbox keeps the process running for the grace period",
    file: "src/inbox/bucket/open-bucket.ts",
    find: `        clearTimeout(timer);
`,
    replace: "",
    tests: ["test/inbox/bucket/closing.test.ts"],
  },
  {
    name: "an inbox that closes while the bucket is away waits for the bucket without a limit",
    file: "src/inbox/bucket/open-bucket.ts",
    find: `          gate.close();
          writer.close();`,
    replace: "          gate.close();",
    tests: ["test/inbox/bucket/closing.test.ts"],
  },
  {
    name: "a closed inbox waits for requests to yield",
    file: "src/inbox/bucket/open-bucket.ts",
    find: `          gate.close();
          writer.close();`,
    replace: "          writer.close();",
    tests: ["test/inbox/bucket/closing.test.ts"],
  },
  {
    name: "an inbox that was closed while it took over keeps the inbox in use",
    file: "src/inbox/bucket/bucket-inbox.ts",
    find: `        await owned.close(0);
        return undefined;`,
    replace: "        return undefined;",
    tests: ["test/inbox/bucket/closing.test.ts"],
  },
  {
    name: "a closed inbox leaves the timer that limits its close",
    file: "src/inbox/bucket/bucket-inbox.ts",
    find: `    late.abort();
`,
    replace: "",
    tests: ["test/inbox/bucket/closing.test.ts"],
  },
  {
    name: "a close waits without a limit for a request of the start",
    file: "src/inbox/bucket/bucket-inbox.ts",
    find: "await Promise.race([this.#running, this.#options.wait(maxStopMs, late.signal).catch(() => {})]);",
    replace: "await this.#running;",
    tests: ["test/inbox/bucket/closing.test.ts"],
  },
  {
    name: "a close during the start is reported as a failure",
    file: "src/inbox/bucket/bucket-inbox.ts",
    find: `      } catch (error) {
        if (signal.aborted) return undefined;
`,
    replace: `      } catch (error) {
`,
    tests: ["test/inbox/bucket/closing.test.ts"],
  },
  {
    name: "the signal of a start closes an inbox that is open",
    file: "src/inbox/bucket/open-bucket.ts",
    find: `    signal.removeEventListener("abort", stop);`,
    replace: "",
    tests: ["test/inbox/bucket/open-bucket.test.ts"],
  },
  {
    name: "a finished request to a bucket leaves its timer",
    file: "src/inbox/bucket/s3.ts",
    find: `  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }`,
    replace: "  [Symbol.dispose](): void {}",
    tests: ["test/inbox/bucket/s3-object-store.test.ts"],
  },
  {
    name: "a list whose next page is always the same never ends",
    file: "src/inbox/bucket/s3.ts",
    find: " || (page.next !== undefined && page.next === token)",
    replace: "",
    tests: ["test/inbox/bucket/s3-object-store.test.ts"],
  },
  {
    name: "a start that fails after its takeover keeps the inbox in use",
    file: "src/inbox/bucket/open-bucket.ts",
    find: `    await heartbeat?.stop();
    working?.close();`,
    replace: "    working?.close();",
    tests: ["test/inbox/bucket/damage.test.ts"],
  },
  {
    name: "a start that restores the inbox again leaves its first working file",
    file: "src/inbox/bucket/open-bucket.ts",
    find: `      working.close();
      folder[Symbol.dispose]();
      log.warn`,
    replace: `      working.close();
      log.warn`,
    tests: ["test/inbox/bucket/moving-log.test.ts"],
  },
  {
    name: "a transaction without changes loses the numbers of the fences",
    file: "src/inbox/bucket/working-database.ts",
    find: "      if (transaction?.stored) this.#fences = [];",
    replace: "      this.#fences = [];",
    tests: ["test/inbox/bucket/snapshots.test.ts"],
  },
  {
    name: "deliveries are not counted after changes of a failed commit were applied",
    file: "src/inbox/bucket/working-database.ts",
    find: `      if (!applyChanges(database, changes)) throw new Error("The changes of a record could not be applied.");
    }
    createTriggers();`,
    replace: `      if (!applyChanges(database, changes)) throw new Error("The changes of a record could not be applied.");
    }`,
    tests: ["test/inbox/bucket/log-replay.test.ts"],
  },
  {
    name: "a repair leaves the copy of an unreadable record",
    file: "src/inbox/bucket/working-database.ts",
    find: `    await store.delete(quarantineKey(number));
`,
    replace: "",
    tests: ["test/inbox/bucket/damage.test.ts"],
  },
  {
    name: "a process that only reads writes to the bucket",
    file: "src/inbox/bucket/log-replay.ts",
    find: " && !isReadOnly",
    replace: "",
    tests: ["test/inbox/bucket/bucket-reader.test.ts"],
  },
  {
    name: "a reader leaves its outdated copy on the disk",
    file: "src/inbox/bucket/bucket-reader.ts",
    find: `      removeCopy(outdated);
`,
    replace: "",
    tests: ["test/inbox/bucket/bucket-reader.test.ts"],
  },
  {
    name: "a closed reader leaves its copy on the disk",
    file: "src/inbox/bucket/bucket-reader.ts",
    find: `    removeCopy(this.#copy);
    return`,
    replace: "    return",
    tests: ["test/inbox/bucket/bucket-reader.test.ts"],
  },
  {
    name: "a reader is closed while it reads records",
    file: "src/inbox/bucket/bucket-reader.ts",
    find: `    await this.#refreshing?.catch(() => {});
`,
    replace: "",
    tests: ["test/inbox/bucket/bucket-reader.test.ts"],
  },
  {
    name: "a reader reads no more records after the bucket was away once",
    file: "src/inbox/bucket/bucket-reader.ts",
    find: `      this.#refreshing ??= this.#refresh().finally(() => {
        this.#refreshing = undefined;
      });`,
    replace: `      this.#refreshing ??= this.#refresh().then(() => {
        this.#refreshing = undefined;
      });`,
    tests: ["test/inbox/bucket/bucket-reader.test.ts"],
  },
  {
    name: "a thread is stopped before its heartbeat is stored",
    file: "src/inbox/bucket/heartbeat-sender-thread.ts",
    find: `  await sending;
`,
    replace: "",
    tests: ["test/inbox/bucket/heartbeat-sender.test.ts"],
  },
  {
    name: "a thread sends heartbeats for a process that counts as hung",
    file: "src/inbox/bucket/heartbeat-sender-thread.ts",
    find: " || blockedMs > maxBlockedMs",
    replace: "",
    tests: ["test/inbox/bucket/heartbeat-sender.test.ts"],
  },
  {
    name: "a command tries without a limit to open an inbox that it has taken over",
    file: "src/inbox/bucket/bucket-inbox.ts",
    find: "if (fencedBy === undefined ? !canRetry",
    replace: "if (isFirst ? !canRetry",
    tests: ["test/inbox/bucket/damage.test.ts"],
  },
  {
    name: "records that were deleted after a snapshot count as missing",
    file: "src/inbox/bucket/log-replay.ts",
    find: "isObsolete: () => this.#isOutdated(number),",
    replace: "",
    tests: [model, movingLog],
  },
  {
    name: "a process that took over at a deleted number does not look for later records",
    file: "src/inbox/bucket/log-replay.ts",
    find: "return later.length === 0 && next === undefined && !isOutdated;",
    replace: "return later.length + Number(next === undefined) + Number(isOutdated) >= 0;",
    tests: [model, movingLog],
  },
  {
    name: "a process that took over at a deleted number trusts the list of records",
    file: "src/inbox/bucket/log-replay.ts",
    find: "next === undefined && !isOutdated;",
    replace: "next === undefined;",
    tests: [model, movingLog],
  },
  {
    name: "a list that hides the newest records hides them from a start",
    file: "src/inbox/bucket/log-replay.ts",
    find: "if (newest === undefined) return last;",
    replace: "if (newest === undefined || listed >= 0) return last;",
    tests: [movingLog],
  },
  {
    name: "an unreadable record is no fence",
    file: "src/inbox/bucket/log-replay.ts",
    find: `    this.#fences.push(number);
    this.#unreadable`,
    replace: "    this.#unreadable",
    tests: [model, snapshots],
  },
  {
    name: "a takeover is no fence",
    file: "src/inbox/bucket/log-replay.ts",
    find: `if (record.kind === "takeover") this.#fences.push(number);`,
    replace: `if (record.kind === "takeover") return;`,
    tests: [model, snapshots],
  },
  {
    name: "one read decides whether an object is damaged",
    file: "src/inbox/bucket/object-store.ts",
    find: "const readPausesMs = [100, 300, 1_000, 2_500];",
    replace: "const readPausesMs: number[] = [];",
    tests: [model, movingLog],
  },
  {
    name: "a start without a readable snapshot applies the log from its first record",
    file: "src/inbox/bucket/log-replay.ts",
    find: "    this.#checkSnapshots();",
    replace: "",
    tests: [movingLog],
  },
  {
    name: "a list that hides the newest snapshots hides them from a start",
    file: "src/inbox/bucket/snapshots.ts",
    find: "const [listed, newest] = await Promise.all([store.list(snapshotPrefix), readNewest(store)]);",
    replace: "const [listed, newest] = [await store.list(snapshotPrefix), 0];",
    tests: [model, movingLog],
  },
  {
    name: "a process that was paused deletes records after its own snapshot",
    file: "src/inbox/bucket/snapshots.ts",
    find: "number <= Math.min(oldest, ownSnapshot)",
    replace: "number <= Math.max(oldest, ownSnapshot * 0)",
    tests: [model, snapshots],
  },
  {
    name: "records are deleted after the first snapshot",
    file: "src/inbox/bucket/snapshots.ts",
    find: "const keptSnapshots = 2;",
    replace: "const keptSnapshots = 1;",
    tests: [model, snapshots],
  },
  {
    name: "a snapshot whose parts are deleted while they are read counts as damaged",
    file: "src/inbox/bucket/snapshots.ts",
    find: `problem = part.state === "obsolete" ? "obsolete" : "damaged";`,
    replace: `problem = "damaged";`,
    tests: [movingLog],
  },
  {
    name: "a stored part of a snapshot is not verified",
    file: "src/inbox/bucket/snapshots.ts",
    find: `if ((await readPart(store, key, { sha256 })).state !== "readable")`,
    replace: `if (sha256 === "")`,
    tests: [snapshots],
  },
  {
    name: "an own record that is read back short is stored again",
    file: "src/inbox/bucket/log.ts",
    find: "if (found === undefined || result !== undefined) return result;",
    replace: `if (found === undefined || result !== undefined) return result;
    if (found.body.length < record.length) return "torn";`,
    tests: [model, movingLog],
  },
  {
    name: "a process that takes over skips an unreadable record",
    file: "src/inbox/bucket/log.ts",
    find: `if (result === "unreadable" && !this.#isOwner) throw inboxTakenOver();`,
    replace: "",
    tests: [movingLog],
  },
  {
    name: "a second failed commit loses the changes of the first one",
    file: "src/inbox/bucket/working-database.ts",
    find: "this.#missing = [...this.#missing, transaction.stored];",
    replace: "this.#missing = [transaction.stored];",
    tests: [replay],
  },
  {
    name: "records that are stored during a snapshot do not count for the next one",
    file: "src/inbox/bucket/snapshot-schedule.ts",
    find: "this.#records -= records;",
    replace: "this.#records = records * 0;",
    tests: [schedule],
  },
  {
    name: "a repair queues deliveries that the inbox contains",
    file: "src/inbox/bucket/working-database.ts",
    find: "if ((await inbox.get(delivery)) !== undefined) continue;",
    replace: "",
    tests: ["test/inbox/bucket/damage.test.ts"],
  },
  {
    name: "a part of an object counts as a damaged object although a list has another size",
    file: "src/inbox/bucket/object-store.ts",
    find: " && (bytes === undefined || bytes === body?.length)",
    replace: "",
    tests: [movingLog],
  },
  {
    name: "a garbage collection removes the deadline of a request to a bucket",
    file: "src/inbox/bucket/s3.ts",
    find: "directFetch(await this.#signer.sign(url, request), { signal: deadline.signal });",
    replace: "directFetch(await this.#signer.sign(url, { ...request, signal: deadline.signal }));",
    tests: ["test/inbox/bucket/s3-object-store.test.ts"],
  },
  {
    name: "a record without an answer is no outage",
    file: "src/inbox/bucket/log.ts",
    find: "return forMs < slowMs ? undefined",
    replace: "return forMs >= 0 ? undefined",
    tests: ["test/inbox/bucket/bucket-inbox.test.ts"],
  },
  {
    name: "a loaded owner ignores requests of new processes of its Space",
    file: "src/inbox/bucket/take-over.ts",
    find: "owner.spaceId !== undefined && isDue",
    replace: "owner.spaceId === owner.host && isDue",
    tests: [ownership],
  },
  {
    name: "an idle owner does not look for requests of new processes of its Space",
    file: "src/inbox/bucket/take-over.ts",
    find: "if (!signal.aborted && !writer.fencedBy) void this.enter(writer);",
    replace: "",
    tests: [ownership],
  },
  {
    name: "a new process requests the inbox of its Space only once",
    file: "src/inbox/bucket/take-over.ts",
    find: "const requestIntervalMs = 10_000;",
    replace: "const requestIntervalMs = 10_000_000;",
    tests: [ownership],
  },
  {
    name: "a new process requests the inbox from a loaded owner only after its first attempt",
    file: "src/inbox/bucket/take-over.ts",
    find: "if (replay.newestAgeMs < minIdleMs) request.send();",
    replace: "",
    tests: [ownership],
  },
  {
    name: "a new process requests the inbox from an idle owner",
    file: "src/inbox/bucket/take-over.ts",
    find: "if (replay.newestAgeMs < minIdleMs) request.send();",
    replace: "request.send();",
    tests: [ownership],
  },
  {
    name: "the records that a loaded owner stores while a long log is read delay the takeover",
    file: "src/inbox/bucket/take-over.ts",
    find: "    if (read > maxNewRecords && read < lastRead / 2) continue;\n",
    replace: "",
    tests: [ownership],
  },
  {
    name: "an owner that took over while the log was read is not checked",
    file: "src/inbox/bucket/take-over.ts",
    find: " || !isChecked",
    replace: "",
    tests: [movingLog],
  },
  {
    name: "a process takes over before the check of its store has ended",
    file: "src/inbox/bucket/take-over.ts",
    find: "    await options.storeChecked;\n",
    replace: "",
    tests: [ownership],
  },
  {
    name: "one short read hides the heartbeat of an owner",
    file: "src/inbox/bucket/ownership.ts",
    find: "readHeartbeat(store, key, { isObsolete: () => isDeleted(key) })",
    replace: "readHeartbeat(store, key, { isObsolete: async () => true })",
    tests: ["test/inbox/bucket/bucket-inbox.test.ts"],
  },
  {
    name: "an owner yields to a process of another Space",
    file: "src/inbox/bucket/take-over.ts",
    find: "if (request === undefined || !isSameSpace(request.owner, owner)) return;",
    replace: "if (request === undefined) return;",
    tests: [ownership],
  },
  {
    name: "an owner yields to a process that died long ago",
    file: "src/inbox/bucket/take-over.ts",
    find: " || found.ageMs > maxRequestAgeMs",
    replace: "",
    tests: [ownership],
  },
  {
    name: "an owner yields again and again to processes that die",
    file: "src/inbox/bucket/take-over.ts",
    find: "this.#ignoresUntil = monotonicNow() + pauseAfterYieldMs;",
    replace: "",
    tests: [ownership],
  },
  {
    name: "a process that was fenced takes over from a live process of its Space",
    file: "src/inbox/bucket/open-bucket.ts",
    find: "rules: { isForced: isFirst && options.takeOver, mayReplace: isFirst },",
    replace: "rules: { isForced: options.takeOver, mayReplace: true },",
    tests: [ownership],
  },
  {
    name: "a process that was fenced does not read the heartbeat of the new owner if a list omits it",
    file: "src/inbox/bucket/take-over.ts",
    find: "const known = [fencedBy, lastWriter].filter",
    replace: "const known = [undefined].filter",
    tests: [ownership],
  },
  {
    name: "a server waits for an owner that still runs",
    file: "src/inbox/bucket/bucket-inbox.ts",
    find: "canHeal(thrown) && !(isFirst && watch.hasRenewed(thrown))",
    replace: "canHeal(thrown)",
    tests: [ownership],
  },
  {
    name: "a refused request at the start ends the server",
    file: "src/inbox/bucket/bucket-inbox.ts",
    find: "return error.status !== 501;",
    replace: "return !error.isRefused;",
    tests: [ownership, "test/inbox/bucket/open-bucket.test.ts"],
  },
  {
    name: "one wrong response makes a store unsupported",
    file: "src/inbox/bucket/object-store.ts",
    find: "const maxViolations = 3;",
    replace: "const maxViolations = 1;",
    tests: ["test/inbox/bucket/store-check.test.ts"],
  },
  {
    name: "the inbox is released before the heartbeat in flight is stored",
    file: "src/inbox/bucket/ownership.ts",
    find: "const settled = Promise.all([this.#running, this.#sender?.stop()]).then(() => true);",
    replace: "const settled = Promise.resolve(true);",
    tests: [ownership],
  },
  {
    name: "the inbox is released before the last records are stored",
    file: "src/inbox/bucket/open-bucket.ts",
    find: "const result = await inbox.close(graceMs);",
    replace: "await taken?.heartbeat.stop();\n        const result = await inbox.close(graceMs);",
    tests: [ownership],
  },
  {
    name: "no thread sends heartbeats while the event loop is blocked",
    file: "src/inbox/bucket/heartbeat-sender-thread.ts",
    find: "blockedMs < intervalMs / 4",
    replace: "blockedMs >= 0",
    tests: ["test/inbox/bucket/heartbeat-sender.test.ts"],
  },
  {
    name: "a check of a bucket accepts two successful conditional writes for one key",
    file: "src/inbox/bucket/bucket-check.ts",
    find: "if (scope.doubled > 0)",
    replace: "if (scope.doubled < 0)",
    tests: ["test/cli/commands/inbox.test.ts"],
  },
  {
    name: "a check of a bucket accepts conditional writes that were rejected without a reason",
    file: "src/inbox/bucket/bucket-check.ts",
    find: 'if (result === "exists") this.rejected += 1;',
    replace: 'if (result === "exists") this.rejected += 0;',
    tests: ["test/cli/commands/inbox.test.ts"],
  },
  {
    name: "a check of a bucket accepts objects of unknown age, so that no lease would expire",
    file: "src/inbox/bucket/bucket-check.ts",
    find: "ageMs > 0 && ",
    replace: "",
    tests: ["test/cli/commands/inbox.test.ts"],
  },
  {
    name: "a failed check of a bucket exits with 0",
    file: "src/cli/commands/inbox.ts",
    find: 'if (report.verdict === "failed") invocation.exitCode = 1;',
    replace: "",
    tests: ["test/cli/commands/inbox.test.ts"],
  },
  {
    name: "an owner removes the fresh check objects and yield requests of processes that are starting",
    file: "src/inbox/bucket/ownership.ts",
    find: "if (stored && stored.ageMs >= minLeftoverAgeMs)",
    replace: "if (stored)",
    tests: ["test/inbox/bucket/bucket-inbox.test.ts"],
  },
  {
    name: "a Retry-After of any length pauses the log",
    file: "src/inbox/bucket/log.ts",
    find: "Math.max(ms, Math.min(requestedMs, maxPauseMs))",
    replace: "Math.max(ms, requestedMs)",
    tests: ["test/inbox/bucket/bucket-inbox.test.ts"],
  },
  {
    name: "deliveries that were refused keep counting as waiting bytes",
    file: "src/inbox/bucket/bucket-inbox.ts",
    find: "const accepted = inbox.accept(delivery).finally(() => {\n      this.#waitingBytes -= bytes;\n    });",
    replace:
      "const accepted = inbox.accept(delivery).then((stored) => {\n      this.#waitingBytes -= bytes;\n      return stored;\n    });",
    tests: ["test/inbox/bucket/bucket-inbox.test.ts"],
  },
  {
    name: "the replaced inbox is never closed after a reopening",
    file: "src/inbox/bucket/bucket-inbox.ts",
    find: "      if (replaced) this.#replaced = Promise.all([this.#replaced, replaced.close(0)]);\n",
    replace: "",
    tests: ["test/inbox/bucket/bucket-inbox.test.ts"],
  },
  {
    name: "a failed takeover leaves its heartbeat",
    file: "src/inbox/bucket/take-over.ts",
    find: "  } catch (error) {\n    await removeHeartbeat();\n    throw error;",
    replace: "  } catch (error) {\n    throw error;",
    tests: ["test/inbox/bucket/bucket-inbox.test.ts"],
  },
  {
    name: "a repair waits for one damaged record after the other",
    file: "src/inbox/bucket/working-database.ts",
    find: "const maxReads = 16;",
    replace: "const maxReads = 1;",
    tests: ["test/inbox/bucket/damage.test.ts"],
  },
  {
    name: "the size of the records before a snapshot counts for the next one",
    file: "src/inbox/bucket/snapshot-schedule.ts",
    find: "      this.#recordBytes -= recordBytes;\n",
    replace: "",
    tests: [schedule],
  },
  {
    name: "a snapshot that failed is retried with the next record",
    file: "src/inbox/bucket/snapshot-schedule.ts",
    find: " && monotonicNow() >= this.#retryAt",
    replace: "",
    tests: [schedule],
  },
  {
    name: "small records never lead to a snapshot",
    file: "src/inbox/bucket/snapshot-schedule.ts",
    find: " || this.#records >= maxRecords",
    replace: "",
    tests: [schedule],
  },
  {
    name: "a snapshot starts after the inbox was closed",
    file: "src/inbox/bucket/snapshot-schedule.ts",
    find: "    if (this.#closed.signal.aborted) return;\n    this.#running",
    replace: "    this.#running",
    tests: [schedule],
  },
  {
    name: "a gap that the log describes makes later unreadable records without changes gaps",
    file: "src/inbox/bucket/log-replay.ts",
    find: '    if (kind === "gap") this.#isIncomplete = false;\n',
    replace: "",
    tests: ["test/inbox/bucket/damage.test.ts"],
  },
  {
    name: "a start gives up because two owners in a row have each renewed their heartbeat once",
    file: "src/inbox/bucket/bucket-inbox.ts",
    find: "      this.#renewals = 0;\n      return false;",
    replace: "      return false;",
    tests: ["test/inbox/bucket/ownership.test.ts"],
  },
  {
    name: "a large object has no more time to arrive than a small one",
    file: "src/inbox/bucket/s3.ts",
    find: '  deadline.restart(method === "HEAD" || !Number.isSafeInteger(bytes) ? 0 : bytes);\n',
    replace: "",
    tests: ["test/inbox/bucket/s3-object-store.test.ts"],
  },
  {
    name: "a request to the bucket is repeated only after an hour if the store requests it",
    file: "src/inbox/bucket/s3.ts",
    find: "Math.max(pauseMs, Math.min(error.retryAfterMs ?? 0, maxRequestedPauseMs))",
    replace: "Math.max(pauseMs, error.retryAfterMs ?? 0)",
    tests: ["test/inbox/bucket/s3-object-store.test.ts"],
  },
];
