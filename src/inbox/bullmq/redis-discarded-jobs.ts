import type { Redis } from "ioredis";
import type { DiscardedJobs } from "./queue-server.ts";

const discardedList = "waiting-children";

/** Keys: the lists of waiting, delayed, failed, and discarded jobs, and the job. Arguments: the job's ID and the time. */
const addScript = `
  local removed = redis.call("LREM", KEYS[1], 1, ARGV[1])
  if removed == 0 then removed = redis.call("ZREM", KEYS[2], ARGV[1]) end
  if removed == 0 then removed = redis.call("ZREM", KEYS[3], ARGV[1]) end
  if removed == 0 then return 0 end
  redis.call("ZADD", KEYS[4], ARGV[2], ARGV[1])
  redis.call("HSET", KEYS[5], "finishedOn", ARGV[2], "delay", 0)
  return 1
`;

/** Keys: the lists of discarded and failed jobs. Arguments: the job's ID. */
const markFailedScript = `
  local time = redis.call("ZSCORE", KEYS[1], ARGV[1])
  if time then
    redis.call("ZREM", KEYS[1], ARGV[1])
    redis.call("ZADD", KEYS[2], time, ARGV[1])
  end
`;

/** Moves jobs between the lists of BullMQ with scripts, because BullMQ has no method for it. */
export function redisDiscardedJobs(commands: Redis): DiscardedJobs {
  return {
    async add(queue, jobId, now) {
      const keys = ["wait", "delayed", "failed", discardedList, jobId].map((name) => queue.toKey(name));
      return Number(await commands.eval(addScript, keys.length, ...keys, jobId, now)) === 1;
    },
    async markFailed(queue, jobId) {
      const keys = [discardedList, "failed"].map((name) => queue.toKey(name));
      await commands.eval(markFailedScript, keys.length, ...keys, jobId);
    },
    list: (queue, from, until) => commands.zrevrange(queue.toKey(discardedList), from, until),
  };
}
