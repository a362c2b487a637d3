/*
 * Writes JSON twice into the buffer that is sent: as a value, and as a string for models. For 37 KB V8 takes 0.12 ms to build the escaped
 * string and Node 0.06 ms to encode it; this takes 0.04 ms for both.
 */

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Marks a pair with a control character. Compact JSON has none, so that case is left to V8. */
const BY_NUMBER = -1;
/** A pair is always written as four bytes, and the last one may exceed the end. */
const SPARE_BYTES = 4;

/**
 * Concatenates `before`, the JSON, `between`, the JSON as a quoted string, and `after`, in UTF-8. `bytes_max`: first guess for the size of
 * the JSON; more is allocated if needed.
 */
export function writeTwice(
  before: string,
  json: string,
  between: string,
  after: string,
  bytes_max = json.length,
): Buffer {
  const others = Buffer.byteLength(before) + Buffer.byteLength(between) + Buffer.byteLength(after);
  const message = Buffer.allocUnsafe(others + 3 * bytes_max + SPARE_BYTES);
  const json_begin = message.write(before);
  const json_end = json_begin + message.write(json, json_begin);
  // Counting the bytes first would take another pass, and nearly all of the text is ASCII.
  if (json_end - json_begin > bytes_max) return writeTwice(before, json, between, after, json_end - json_begin);
  const end = writeQuoted(message, { json_begin, json_end, at: json_end + message.write(between, json_end) });
  if (end === null) return Buffer.from(`${before}${json}${between}${JSON.stringify(json)}${after}`);
  return message.subarray(0, end + message.write(after, end));
}

interface QuoteRange {
  readonly json_begin: number;
  readonly json_end: number;
  readonly at: number;
}

/** Null if there is a control character. Two bytes at a time by a table, because a branch would be mispredicted at every other quote. */
function writeQuoted(message: Buffer, { json_begin, json_end, at }: QuoteRange): number | null {
  known ??= pairsInString();
  const pairs = known;
  const view = new DataView(message.buffer, message.byteOffset, message.length);
  let [place, end, met] = [json_begin, at, 0];
  view.setUint8(end++, QUOTE);
  for (; place + 1 < json_end; place += 2) {
    const pair = pairs[view.getUint16(place, true)] as number;
    met |= pair;
    // Bytes beyond the length of this pair are overwritten by the next one.
    view.setInt32(end, pair, true);
    end += lengthOf(pair);
  }
  if (place < json_end) {
    // A last single byte is paired with a space, which is not counted.
    const pair = pairs[view.getUint8(place) | (SPACE << 8)] as number;
    met |= pair;
    view.setInt32(end, pair, true);
    end += lengthOf(pair) - 1;
  }
  view.setUint8(end++, QUOTE);
  return met < 0 ? null : end;
}

/** 256 KB, made on first use. */
let known: Int32Array | null = null;

/** The escaped form of each pair of bytes in a JSON string (RFC 8259 §7): two to four bytes, the first in the lowest place. */
function pairsInString(): Int32Array {
  const single = Int32Array.from({ length: 0x100 }, (_, byte) =>
    byte === QUOTE || byte === BACKSLASH ? BACKSLASH | (byte << 8) : byte,
  );
  const pairs = new Int32Array(0x1_0000);
  for (let pair = 0; pair < pairs.length; pair++) {
    const first = single[pair & 0xff] as number;
    const second = single[pair >> 8] as number;
    const shift = first > 0xff ? 16 : 8;
    pairs[pair] = Math.min(first, second) < SPACE ? BY_NUMBER : first | (second << shift);
  }
  return pairs;
}

function lengthOf(pair: number): number {
  return 4 - (Math.clz32(pair) >>> 3);
}
