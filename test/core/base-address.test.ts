import { expect, test } from "vitest";
import { readBaseAddress } from "../../src/core/base-address.ts";

test.each([
  ["https://bot.example.com", "https://bot.example.com"],
  ["http://127.0.0.1:7860/", "http://127.0.0.1:7860"],
  ["https://bot.example.com/hooks//", "https://bot.example.com/hooks"],
  ["HTTPS://BOT.example.com", "https://bot.example.com"],
])("%s is read as %s", (address, read) => {
  expect(readBaseAddress(address)).toBe(read);
});

test.each([
  "",
  "bot.example.com",
  "ftp://bot.example.com",
  "javascript:alert(1)",
  "https://me@bot.example.com",
  "https://:secret@bot.example.com",
  "https://bot.example.com?secret=x",
  "https://bot.example.com/#top",
])("%j is none", (address) => {
  expect(readBaseAddress(address)).toBeUndefined();
});
