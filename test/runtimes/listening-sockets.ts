import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** The ports on which a process of this machine listens, as Linux lists them. */
export function listeningPorts(pid: number): readonly number[] {
  const inodes = new Set(
    readdirSync(`/proc/${pid}/fd`).map((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1];
      } catch {
        // Closed meanwhile.
        return undefined;
      }
    }),
  );
  const ports = ["tcp", "tcp6"].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, "utf8")
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode]) => state === "0A" && inodes.has(inode))
      .map(([, address = ""]) => Number.parseInt(address.split(":")[1] ?? "", 16)),
  );
  return [...new Set(ports)];
}
