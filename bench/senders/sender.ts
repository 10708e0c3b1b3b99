/** The number of events to send to all webhooks. */
export interface SendQuestion {
  events: number;
}

/** The results for each quarter of the events. */
export interface SendAnswer {
  quarters: { milliseconds: number; heapUsed: number; rss: number }[];
  cpuMicroseconds: number;
}

/** The URL and number of the receiving webhooks. */
export const targets = {
  url: process.argv[2] ?? "",
  webhooks: Number(process.argv[3]),
};

/** Reports that this process is ready, and sends events on request. */
export function serve(send: () => Promise<void>): void {
  process.on("message", async ({ events }: SendQuestion) => {
    const cpuBefore = process.cpuUsage();
    const quarters: SendAnswer["quarters"] = [];
    for (let quarter = 1; quarter <= 4; quarter += 1) {
      const startedAt = performance.now();
      for (let event = 0; event < events / 4; event += 1) await send();
      const milliseconds = performance.now() - startedAt;
      globalThis.gc?.();
      const { heapUsed, rss } = process.memoryUsage();
      quarters.push({ milliseconds, heapUsed, rss });
    }
    const { user, system } = process.cpuUsage(cpuBefore);
    const answer: SendAnswer = { quarters, cpuMicroseconds: user + system };
    process.send?.(answer);
  });
  process.on("disconnect", () => process.exit());
  process.send?.("ready");
}
