import { crc32, deflateSync } from "node:zlib";
import type { Page } from "playwright-core";

const maxColors = 256;

/** An image with one byte per pixel. */
interface Indexed {
  width: number;
  height: number;
  /** The colors as `0xRRGGBB`. */
  palette: readonly number[];
  pixels: Uint8Array;
}

/**
 * Reduces a screenshot to its 256 most frequent colors, which takes less than half the bytes. Rare colors, such as those at the edges
 * of letters, become the nearest frequent one. `page`: any page, which decodes the image.
 */
export async function toPalettePng(page: Page, png: Buffer): Promise<Buffer> {
  const { width, height, base64 } = await page.evaluate(
    decodeInPage,
    `data:image/png;base64,${png.toString("base64")}`,
  );
  return encode(toIndexed({ width, height, rgba: Buffer.from(base64, "base64") }));
}

/** Runs in the page, so it cannot use anything outside. */
async function decodeInPage(source: string): Promise<{ width: number; height: number; base64: string }> {
  const image = new Image();
  image.src = source;
  await image.decode();
  const { width, height } = image;
  const context = new OffscreenCanvas(width, height).getContext("2d");
  if (!context) throw new Error("The page has no canvas.");
  context.drawImage(image, 0, 0);
  const bytes = new Uint8Array(context.getImageData(0, 0, width, height).data);
  const base64 = await new Promise<string>((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^.*?,/, ""));
    reader.readAsDataURL(new Blob([bytes]));
  });
  return { width, height, base64 };
}

function toIndexed({ width, height, rgba }: { width: number; height: number; rgba: Buffer }): Indexed {
  const colors = Array.from({ length: width * height }, (_, index) => rgba.readUInt32BE(4 * index) >>> 8);
  const counts = new Map<number, number>();
  for (const color of colors) counts.set(color, (counts.get(color) ?? 0) + 1);
  const palette = [...counts]
    .sort(([, one], [, other]) => other - one)
    .slice(0, maxColors)
    .map(([color]) => color);
  const indices = new Map(palette.map((color, index) => [color, index]));
  for (const color of counts.keys()) {
    if (!indices.has(color)) indices.set(color, nearest(color, palette));
  }
  return { width, height, palette, pixels: Uint8Array.from(colors, (color) => indices.get(color) ?? 0) };
}

/** Returns the index of the color with the smallest distance. */
function nearest(color: number, palette: readonly number[]): number {
  const distances = palette.map((known) => distance(color, known));
  return distances.indexOf(Math.min(...distances));
}

function distance(one: number, other: number): number {
  return [16, 8, 0].reduce((sum, shift) => sum + (((one >> shift) & 255) - ((other >> shift) & 255)) ** 2, 0);
}

function encode({ width, height, palette, pixels }: Indexed): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits per pixel, with a palette.
  header.set([8, 3, 0, 0, 0], 8);
  // Each line starts with a byte for its filter: none.
  const lines = Buffer.alloc((width + 1) * height);
  for (let line = 0; line < height; line += 1) {
    lines.set(pixels.subarray(line * width, (line + 1) * width), line * (width + 1) + 1);
  }
  const colors = Buffer.from(palette.flatMap((color) => [color >> 16, (color >> 8) & 255, color & 255]));
  return Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    chunk("IHDR", header),
    chunk("PLTE", colors),
    chunk("IDAT", deflateSync(lines, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(name: string, data: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(name, "latin1"), data]);
  const frame = Buffer.alloc(content.length + 8);
  frame.writeUInt32BE(data.length, 0);
  frame.set(content, 4);
  frame.writeUInt32BE(crc32(content), content.length + 4);
  return frame;
}
