/** Texts that both the type `Duration` and the parser accept, with their milliseconds. */
export const validDurations = [
  ["250ms", 250],
  ["25s", 25_000],
  ["10m", 600_000],
  ["100m", 6_000_000],
  ["1h", 3_600_000],
  ["1.5h", 5_400_000],
  ["14d", 1_209_600_000],
  ["24d", 2_073_600_000],
  ["0.1s", 100],
  ["0.05s", 50],
  ["1.0001s", 1_000],
  ["2147483647ms", 2_147_483_647],
] as const;

/** Texts that both the type `Duration` and the parser reject, with the reason. */
export const invalidDurations = [
  ["an empty text", ""],
  ["no unit", "25"],
  ["an unknown unit", "25w"],
  ["a space before the unit", "25 s"],
  ["a space after a fraction", "1.5 s"],
  ["a leading space", " 25s"],
  ["a trailing space", "25s "],
  ["a minus sign", "-5s"],
  ["a plus sign", "+5s"],
  ["two units", "1h30m"],
  ["no number", "s"],
  ["no whole number", ".5s"],
  ["no fraction", "5.s"],
  ["an exponent", "1e3s"],
  ["a hexadecimal number", "0x1fs"],
  ["leading zeros", "05s"],
  ["a capital unit", "25S"],
  ["zero", "0s"],
] as const;
