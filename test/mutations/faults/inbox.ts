import type { Fault } from "../fault.ts";

export const faults: readonly Fault[] = [
  {
    name: "SQLite: an inbox that is closing claims deliveries",
    file: "src/inbox/sqlite/endpoint-worker.ts",
    find: "limit = this.#closing ? 0 : Math",
    replace: "limit = Math",
    tests: ["test/inbox/sqlite/sqlite-inbox.test.ts"],
  },
  {
    name: "SQLite: a handler starts although another process has taken the delivery over",
    file: "src/inbox/sqlite/endpoint-worker.ts",
    find: "if (signal.aborted) return;",
    replace: "",
    tests: ["test/inbox/sqlite/sqlite-inbox.test.ts"],
  },
  {
    name: "SQLite: a handler runs before the delivery is answered",
    file: "src/inbox/sqlite/endpoint-worker.ts",
    find: "const done = nextTurn()",
    replace: "const done = Promise.resolve()",
    tests: ["test/receiver/background/accepted-first.test.ts"],
  },
  {
    name: "a transaction starts before the deliveries have arrived that are on their way",
    file: "src/inbox/sqlite/group-commit.ts",
    find: "if (hasMore && performance.now() < gatherUntil)",
    replace: "if (false)",
    tests: ["test/inbox/sqlite/group-commit.test.ts"],
  },
  {
    name: "a transaction waits as long as deliveries arrive",
    file: "src/inbox/sqlite/group-commit.ts",
    find: "if (hasMore && performance.now() < gatherUntil)",
    replace: "if (hasMore)",
    tests: ["test/inbox/sqlite/group-commit.test.ts"],
  },
  {
    name: "SQLite: a claim does not see the deliveries that are accepted after it",
    file: "src/inbox/sqlite/endpoint-worker.ts",
    find: "groupCommit.write(claim, { isLast: true })",
    replace: "groupCommit.write(claim, { isLast: false })",
    tests: ["test/inbox/sqlite/budget.test.ts"],
  },
  {
    name: "SQLite: a transaction claims one delivery, although several can run",
    file: "src/inbox/sqlite/endpoint-worker.ts",
    find: "limit = this.#closing ? 0 : Math.max(0, queue.concurrency - this.#occupiedSlots);",
    replace: "limit = this.#closing ? 0 : 1;",
    tests: ["test/inbox/sqlite/budget.test.ts"],
  },
  {
    name: "SQLite: a delivery that was replayed while it was running is reported as dead",
    file: "src/inbox/sqlite/delivery-table.ts",
    find: `return isReplayed ? {`,
    replace: `return isQueued ? {`,
    tests: ["test/inbox/sqlite/contract.test.ts"],
  },
  {
    name: "BullMQ: a delivery that was replayed while it was running is reported as dead",
    file: "src/inbox/bullmq/queue-worker.ts",
    find: `outcome.onStored?.(isReplayed ?`,
    replace: `outcome.onStored?.(isInterrupted ?`,
    tests: ["test/inbox/bullmq/redis.test.ts"],
  },
  {
    name: "SQLite: deliveries are indexed at full speed while others are stored",
    file: "src/inbox/sqlite/background-maintenance-thread.ts",
    find: "hasGroup && isAlone ? indexPauseMs",
    replace: "hasGroup ? indexPauseMs",
    tests: ["test/inbox/sqlite/event-index.test.ts"],
  },
  {
    name: "SQLite: tasks that fail because the inbox was closed are logged",
    file: "src/inbox/sqlite/context.ts",
    find: "if (this.#isClosed || !this.#failures",
    replace: "if (!this.#failures",
    tests: ["test/inbox/sqlite/background-tasks.test.ts"],
  },
  {
    name: "SQLite: a search that fails ends the thread of the inbox",
    file: "src/inbox/sqlite/background-maintenance-thread.ts",
    find: `  try {
    return { found: openTable().reader.find(request.search) };
  } catch {
    // The event loop repeats the search, and reports its error.
    return {};
  }`,
    replace: "  return { found: openTable().reader.find(request.search) };",
    tests: ["test/inbox/sqlite/delivery-search.test.ts"],
  },
  {
    name: "SQLite: the end of an interrupted attempt is not reported",
    file: "src/inbox/sqlite/endpoint-worker.ts",
    find: "return this.#endInterrupted(row, outcome.onStored);",
    replace: "return this.#endInterrupted(row);",
    tests: ["test/inbox/sqlite/contract.test.ts"],
  },
  {
    name: "SQLite: the end of an attempt that is not stored is reported",
    file: "src/inbox/sqlite/endpoint-worker.ts",
    find: `if (ended.result !== "superseded") onStored?.(ended.next);`,
    replace: `onStored?.({ status: "dead" });`,
    tests: ["test/inbox/sqlite/sqlite-inbox.test.ts"],
  },
  {
    name: "SQLite: a shutdown waits for the pause before a failed write is retried",
    file: "src/inbox/sqlite/endpoint-worker.ts",
    find: "await wait(pollMs, undefined, { signal: this.#stopped.signal }).catch(() => {});",
    replace: "await wait(pollMs);",
    tests: ["test/inbox/sqlite/sqlite-inbox.test.ts"],
  },
  {
    name: "SQLite: a close fails because a claimed delivery cannot be queued again",
    file: "src/inbox/sqlite/endpoint-worker.ts",
    find: `        "A claimed delivery could not be requeued during the shutdown. The delivery will run after its lease has expired.",
      );`,
    replace: `        "A claimed delivery could not be requeued during the shutdown. The delivery will run after its lease has expired.",
      );
      throw error;`,
    tests: ["test/inbox/sqlite/sqlite-inbox.test.ts"],
  },
  {
    name: "SQLite: a process that must not write keeps the lock of the file",
    file: "src/inbox/sqlite/inbox-file.ts",
    find: `    } catch (error) {
      this.rollback();
      throw error;`,
    replace: `    } catch (error) {
      throw error;`,
    tests: ["test/inbox/sqlite/sqlite-inbox.test.ts"],
  },
  {
    name: "SQLite: deliveries of a resumed endpoint wait for the next poll",
    file: "src/inbox/sqlite/sqlite-inbox.ts",
    find: `    // Other processes find the deliveries with their next poll.
    this.#wake(endpoint);
`,
    replace: "",
    tests: ["test/inbox/sqlite/sqlite-inbox.test.ts"],
  },
  {
    name: "SQLite: suspects of a resumed endpoint wait for the next poll",
    file: "src/inbox/sqlite/sqlite-inbox.ts",
    find: `    this.#due.gate.poll();
  }

  async pausedEndpoints`,
    replace: `  }

  async pausedEndpoints`,
    tests: ["test/inbox/sqlite/sqlite-inbox.test.ts"],
  },
  {
    name: "SQLite: a replayed delivery waits for the next poll",
    file: "src/inbox/sqlite/sqlite-inbox.ts",
    find: `    if (!found) throw deliveryUnknown(key);
    this.#wake(key.endpoint);`,
    replace: "    if (!found) throw deliveryUnknown(key);",
    tests: ["test/inbox/sqlite/sqlite-inbox.test.ts"],
  },
  {
    name: "SQLite: a replay of dead deliveries continues while the inbox closes",
    file: "src/inbox/sqlite/sqlite-inbox.ts",
    find: "after !== undefined && this.#closed === undefined; ) {",
    replace: "after !== undefined; ) {",
    tests: ["test/inbox/sqlite/prune-inbox.test.ts"],
  },
  {
    name: "SQLite: a prune continues while the inbox closes",
    file: "src/inbox/sqlite/delivery-pruner.ts",
    find: `for (let isDone = false; !isDone && !tasks.isClosed; ) {
      const limits`,
    replace: `for (let isDone = false; !isDone; ) {
      const limits`,
    tests: ["test/inbox/sqlite/prune-inbox.test.ts"],
  },
  {
    name: "SQLite: many deliveries on damaged pages prevent the removal of others",
    file: "src/inbox/sqlite/delivery-pruner.ts",
    find: "const limit = maxRows + this.#damaged.size;",
    replace: "const limit = maxRows;",
    tests: ["test/inbox/sqlite/prune-inbox.test.ts"],
  },
  {
    name: "SQLite: the thread of a private file sends heartbeats",
    file: "src/inbox/sqlite/background-maintenance-thread.ts",
    find: "if (!isPrivate) {",
    replace: "if (file) {",
    tests: ["test/inbox/sqlite/background-maintenance.test.ts"],
  },
  {
    name: "BullMQ: the thread renews all leases that have ended",
    file: "src/inbox/bullmq/lease-renewer.ts",
    find: "this.#freeSlots.pop() ?? this.#slots++",
    replace: "this.#slots++",
    tests: ["test/inbox/bullmq/lease-renewer.test.ts"],
  },
  {
    name: "BullMQ: the end of an interrupted attempt is not reported",
    file: "src/inbox/bullmq/queue-worker.ts",
    find: `      run.outcome.onStored?.({ status: "queued", dueAt: this.#options.now(), counts: false });`,
    replace: "",
    tests: ["test/inbox/bullmq/held-leases.test.ts"],
  },
  {
    name: "BullMQ: a success after the lease was lost is not reported",
    file: "src/inbox/bullmq/queue-worker.ts",
    find: `      outcome.onStored?.({ status: outcome.status });
`,
    replace: "",
    tests: ["test/inbox/bullmq/held-leases.test.ts"],
  },
  {
    name: "BullMQ: a delivery is read with the attempts of another status",
    file: "src/inbox/bullmq/stored-queue.ts",
    find: "if (after === state || attempt === maxReads) return stored;",
    replace: "return stored;",
    tests: ["test/inbox/bullmq/stored-queue.test.ts"],
  },
  {
    name: "BullMQ: a dead delivery that is pruned while it is received again is lost",
    file: "src/inbox/bullmq/stored-queue.ts",
    find: `    if (!job) return this.#add(delivery, jobId, maxQueued);
`,
    replace: `    if (!job) return true;
`,
    tests: ["test/inbox/bullmq/stored-queue.test.ts"],
  },
  {
    name: "BullMQ: a delivery that was just queued again cannot be discarded",
    file: "src/inbox/bullmq/stored-queue.ts",
    find: `if (status === "running" || attempt === maxReads) throw`,
    replace: "if (attempt >= 1) throw",
    tests: ["test/inbox/bullmq/stored-queue.test.ts"],
  },
  {
    name: "BullMQ: an ignored delivery that was replayed while it ended still counts as ignored",
    file: "src/inbox/bullmq/stored-queue.ts",
    find: `        await this.#server.forgetIgnored(this.queue, [String(job.id)]);
`,
    replace: "",
    tests: ["test/inbox/bullmq/stored-queue.test.ts"],
  },
  {
    name: "SQLite: a step of a prune removes nothing if it takes long to find deliveries",
    file: "src/inbox/sqlite/delivery-pruner.ts",
    find: "if (count > 0 && performance",
    replace: "if (performance",
    tests: ["test/inbox/sqlite/prune-inbox.test.ts"],
  },
  {
    name: "SQLite: a process that lives through an outage of writes loses its deliveries when the outage ends",
    file: "src/inbox/sqlite/due-deliveries.ts",
    find: "        this.#monitor.reset();\n",
    replace: "",
    tests: ["test/inbox/sqlite/two-processes.test.ts"],
  },
  {
    name: "SQLite: a process writes to a file that a newer release has updated",
    file: "src/inbox/sqlite/inbox-file.ts",
    find: "      if (this.#path !== undefined) this.#checkRelease();\n",
    replace: "",
    tests: ["test/inbox/sqlite/sqlite-inbox.test.ts"],
  },
  {
    name: "SQLite: a thread sends heartbeats to a file that a newer release has updated",
    file: "src/inbox/sqlite/background-maintenance-thread.ts",
    find: "if (!isFromNewerRelease()) action();",
    replace: "action();",
    tests: ["test/inbox/sqlite/background-maintenance.test.ts"],
  },
  {
    name: "BullMQ: a clock that was set back is not noticed",
    file: "src/inbox/bullmq/health.ts",
    find: "last.server - this.#origins.server > maxSkewMs",
    replace: "false",
    tests: ["test/inbox/bullmq/clock-skew.test.ts"],
  },
  {
    name: "Redis: a retry waits an hour longer after the clock was set back by an hour",
    file: "src/inbox/bullmq/redis.ts",
    find: "    if (wrong.length === 0) continue;\n",
    replace: "    continue;\n",
    tests: ["test/inbox/bullmq/redis.test.ts"],
  },
  {
    name: "Redis: a lease is not renewed for an hour after the clock was set back by an hour",
    file: "src/inbox/bullmq/queue-worker.ts",
    find: "    if (held.size === 0) return;\n",
    replace: "    if (held.size === 0 || Date.now() < performance.timeOrigin) return;\n",
    tests: ["test/inbox/bullmq/redis.test.ts"],
  },
  {
    name: "BullMQ: an inbox server that was emptied is not noticed if another process has checked it since",
    file: "src/inbox/bullmq/health.ts",
    find: "last.identity === history.identity && ",
    replace: "",
    tests: ["test/inbox/bullmq/data-loss.test.ts"],
  },
  {
    name: "a delivery that starts while the inbox closes is not interrupted",
    file: "src/inbox/bullmq/handler-runs.ts",
    find: "    if (this.#isClosing) controller.abort(inboxClosing());\n",
    replace: "",
    tests: ["test/inbox/bullmq/handler-runs.test.ts"],
  },
  {
    name: "a search that reaches its time limit does not report that older deliveries are left",
    file: "src/inbox/sqlite/delivery-reader.ts",
    find: "      if (sequences.length === limit || isTimeOver) {",
    replace: "      if (isTimeOver) return { sequences };\n      if (sequences.length === limit) {",
    tests: ["test/inbox/sqlite/delivery-search.test.ts"],
  },
  {
    name: "SQLite: a search in the index skips a delivery at which only one filter has arrived",
    file: "src/inbox/sqlite/event-index.ts",
    find: "below = isMatch ? sequence : sequence + 1;",
    replace: "below = sequence;",
    tests: ["test/inbox/sqlite/event-index.test.ts"],
  },
  {
    name: "SQLite: the new body of a dead delivery that arrives again is not indexed",
    file: "src/inbox/sqlite/delivery-table.ts",
    find: "    if (known.body !== body) this.index.replace(sequence, body);\n",
    replace: "",
    tests: ["test/inbox/sqlite/event-index.test.ts"],
  },
  {
    name: "SQLite: a delivery whose body was removed after its group was read is indexed",
    file: "src/inbox/sqlite/statements.ts",
    find: "WHERE sequence = ?1 AND body IS NOT NULL\n       ON CONFLICT",
    replace: "WHERE sequence = ?1\n       ON CONFLICT",
    tests: ["test/inbox/sqlite/event-index.test.ts"],
  },
  {
    name: "SQLite: a search misses the last delivery that is indexed",
    file: "src/inbox/sqlite/delivery-reader.ts",
    find: "Math.min(before, indexEnd + 1)",
    replace: "Math.min(before, indexEnd)",
    tests: ["test/inbox/sqlite/event-index.test.ts"],
  },
  {
    name: "SQLite: a clock that is set back by less than the uptime delays retries",
    file: "src/inbox/sqlite/due-deliveries.ts",
    find: "    this.#lastPoll = now;\n    if (!wasSetBack) return;",
    replace: "    if (!wasSetBack) return;\n    this.#lastPoll = now;",
    tests: ["test/inbox/sqlite/sqlite-inbox.test.ts"],
  },
  {
    name: "BullMQ: the run of a delivery that the server lost is aborted",
    file: "src/inbox/bullmq/queue-worker.ts",
    find: '      if ((await backend.getState(jobId)) === "unknown") continue;\n',
    replace: "",
    tests: ["test/inbox/bullmq/redis.test.ts"],
  },
  {
    name: "BullMQ: the renewal of leases continues after a close",
    file: "src/inbox/bullmq/queue-worker.ts",
    find: `    clearTimeout(timer);
    clearInterval(this.#renewal);`,
    replace: "    clearTimeout(timer);",
    tests: ["test/inbox/bullmq/held-leases.test.ts"],
  },
  {
    name: "BullMQ: the run of a delivery that the server has lost is aborted",
    file: "src/inbox/bullmq/queue-worker.ts",
    find: `      if ((await backend.getState(jobId)) === "unknown") continue;
`,
    replace: "",
    tests: ["test/inbox/bullmq/held-leases.test.ts"],
  },
  {
    name: "BullMQ: a late refusal aborts a run that was claimed again",
    file: "src/inbox/bullmq/queue-worker.ts",
    find: `      if (this.#leases.get(jobId) !== held.get(jobId)) continue;
`,
    replace: "",
    tests: ["test/inbox/bullmq/held-leases.test.ts"],
  },
  {
    name: "BullMQ: the end of an earlier run ends the lease of the current one",
    file: "src/inbox/bullmq/queue-worker.ts",
    find: "      if (this.#leases.get(lease.jobId) === lease) this.#leases.delete(lease.jobId);",
    replace: "      this.#leases.delete(lease.jobId);",
    tests: ["test/inbox/bullmq/held-leases.test.ts"],
  },
  {
    name: "BullMQ: a delivery that is claimed during a close is run",
    file: "src/inbox/bullmq/queue-worker.ts",
    find: `    if (this.#closing.signal.aborted) return this.#release(job, token);
`,
    replace: "",
    tests: ["test/inbox/bullmq/held-leases.test.ts"],
  },
  {
    name: "a bucket owner takes its own new record for a takeover",
    file: "src/inbox/bucket/log.ts",
    find: "if (record && record.writer !== this.writerId) this.#recordTakeover(record);",
    replace: "if (record) this.#recordTakeover(record);",
    tests: ["test/inbox/bucket/log-replay.test.ts"],
  },
  {
    name: "BullMQ: deliveries that are added during a count of the queue are forgotten",
    file: "src/inbox/bullmq/stored-queue.ts",
    find: "    this.#addedSince = 0;\n    this.#counted = await this.#count();\n",
    replace: "    this.#counted = await this.#count();\n    this.#addedSince = 0;\n",
    tests: ["test/inbox/bullmq/backlog.test.ts"],
  },
  {
    name: "SQLite: a gate that was closed while a suspect ran alone opens again",
    file: "src/inbox/sqlite/claim-gate.ts",
    find: '    if (this.#state !== "alone") return;\n',
    replace: "",
    tests: ["test/inbox/sqlite/claim-gate.test.ts"],
  },
  {
    name: "SQLite: deliveries of a transaction that was rolled back are counted",
    file: "src/inbox/sqlite/inbox-file.ts",
    find: "    this.table.totals.discard();\n",
    replace: "",
    tests: ["test/inbox/sqlite/sqlite-inbox.test.ts"],
  },
  {
    name: "SQLite: deliveries of the same transaction do not count toward the limit of queued deliveries",
    file: "src/inbox/sqlite/delivery-table.ts",
    find: 'maxQueued - this.totals.added(endpoint, "queued")',
    replace: "maxQueued",
    tests: ["test/inbox/sqlite/sqlite-inbox.test.ts"],
  },
  {
    name: "SQLite: a delivery that was recovered after a crash still counts as running",
    file: "src/inbox/sqlite/leases.ts",
    find: '    this.#totals.move(String(row.endpoint), "running", isDead ? "dead" : "queued");\n',
    replace: "",
    tests: ["test/inbox/bucket/log-replay.test.ts"],
  },
  {
    name: "a delivery counts as damaged because another one in the same transaction is",
    file: "src/inbox/sqlite/group-commit.ts",
    find: "if (!this.#target.isTransaction || isDamage(error)) throw error;",
    replace: "if (!this.#target.isTransaction) throw error;",
    tests: ["test/inbox/sqlite/damaged-file.test.ts"],
  },
  {
    name: "a delivery on a damaged page is claimed every minute",
    file: "src/inbox/sqlite/delivery-table.ts",
    find: "2 * (this.#damaged.get(sequence)?.waitMs ?? damagedRetryMs / 2)",
    replace: "damagedRetryMs",
    tests: ["test/inbox/sqlite/damaged-file.test.ts"],
  },
  {
    name: "a delivery beside a damaged page is never claimed again",
    file: "src/inbox/sqlite/delivery-table.ts",
    find: "return damaged !== undefined && now < damaged.until && damaged.until - now <= damaged.waitMs;",
    replace: "return damaged !== undefined;",
    tests: ["test/inbox/sqlite/damaged-file.test.ts"],
  },
  {
    name: "a dead delivery that arrives again stays finished",
    file: "src/inbox/sqlite/statements.ts",
    find: "body = ?, headers = ?, due_at = ?, scheduled_at = ?, finished_at = NULL,\n",
    replace: "body = ?, headers = ?, due_at = ?, scheduled_at = ?,\n",
    tests: ["test/inbox/sqlite/contract.test.ts"],
  },
  {
    name: "Redis and PostgreSQL: leases are not renewed during the grace period of a shutdown",
    file: "src/inbox/bullmq/queue-worker.ts",
    find: "    const timer = setTimeout(() => this.#runs.giveUp(), graceMs);\n    await closed;\n    clearTimeout(timer);\n    clearInterval(this.#renewal);",
    replace:
      "    clearInterval(this.#renewal);\n    const timer = setTimeout(() => this.#runs.giveUp(), graceMs);\n    await closed;\n    clearTimeout(timer);",
    tests: ["test/inbox/bullmq/held-leases.test.ts"],
  },
];
