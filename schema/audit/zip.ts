/*
 * Zip archives with stored files: PKWARE APPNOTE 6.3.10, method 0, without encryption and Zip64. Any other archive is refused,
 * because programs could unpack it differently.
 */

export interface ZipFile {
  /** A path of letters, digits, dots, dashes, underscores and slashes. It never leads to a parent folder. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const [LOCAL_BYTES, CENTRAL_BYTES, END_BYTES] = [30, 46, 22];
const VERSION = 20;
/** 1980-01-01: the same files make the same archive. */
const DATE = 0x21;
const NAME = /^(?!\.{1,2}(\/|$))[\w.-]+(\/(?!\.{1,2}(\/|$))[\w.-]+)*$/;
const FILES_MAX = 1_000;

const crcs = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

/** CRC-32 (ISO 3309). */
function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crcs[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

/** Little-endian numbers of 2 and 4 bytes, by turns as `sizes` says. */
function header(signature: number, sizes: readonly (readonly [bytes: 2 | 4, value: number])[]): Uint8Array {
  const made = new DataView(new ArrayBuffer(4 + sizes.reduce((sum, [bytes]) => sum + bytes, 0)));
  made.setUint32(0, signature, true);
  let at = 4;
  for (const [bytes, value] of sizes) {
    if (bytes === 2) made.setUint16(at, value, true);
    else made.setUint32(at, value, true);
    at += bytes;
  }
  return new Uint8Array(made.buffer);
}

/** @throws RangeError for an invalid name or too many files */
export function zipOf(files: readonly ZipFile[]): Uint8Array {
  const wrong = files.find(({ name }) => !NAME.test(name));
  if (wrong !== undefined || files.length > FILES_MAX)
    throw new RangeError(`${wrong?.name ?? files.length} is not archived`);
  const [parts, central]: [Uint8Array[], Uint8Array[]] = [[], []];
  let offset = 0;
  for (const { name, bytes } of files) {
    const path = new TextEncoder().encode(name);
    const facts = [
      [2, 0],
      [2, DATE],
      [4, crc32(bytes)],
      [4, bytes.length],
      [4, bytes.length],
      [2, path.length],
      [2, 0],
    ] as const;
    parts.push(header(LOCAL, [[2, VERSION], [2, 0], [2, 0], ...facts]), path, bytes);
    central.push(
      header(CENTRAL, [
        [2, VERSION],
        [2, VERSION],
        [2, 0],
        [2, 0],
        ...facts,
        [2, 0],
        [2, 0],
        [2, 0],
        [4, 0],
        [4, offset],
      ]),
      path,
    );
    offset += LOCAL_BYTES + path.length + bytes.length;
  }
  const central_bytes = central.reduce((sum, { length }) => sum + length, 0);
  const counts = [
    [2, files.length],
    [2, files.length],
  ] as const;
  const end = header(END, [[2, 0], [2, 0], ...counts, [4, central_bytes], [4, offset], [2, 0]]);
  return joinBytes([...parts, ...central, end]);
}

function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Whether the bytes begin like an archive. */
export const isZip = (bytes: Uint8Array): boolean =>
  bytes.length >= END_BYTES && new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true) === LOCAL;

/** Files by name, with every byte of the archive accounted for. Null unless `zipOf` could have made it. */
export function filesInZip(bytes: Uint8Array): ReadonlyMap<string, Uint8Array> | null {
  if (!isZip(bytes)) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const end = bytes.length - END_BYTES;
  const [count, central] = [view.getUint16(end + 10, true), view.getUint32(end + 16, true)];
  if (view.getUint32(end, true) !== END || count > FILES_MAX || count === 0) return null;
  const files = new Map<string, Uint8Array>();
  let [at, offset] = [central, 0];
  for (let file = 0; file < count; file++) {
    if (at + CENTRAL_BYTES > end || view.getUint32(at, true) !== CENTRAL) return null;
    const [method, crc, size, stored] = [
      view.getUint16(at + 10, true),
      view.getUint32(at + 16, true),
      view.getUint32(at + 20, true),
      view.getUint32(at + 24, true),
    ];
    const [name_bytes, extra, comment] = [28, 30, 32].map(field => view.getUint16(at + field, true)) as [
      number,
      number,
      number,
    ];
    const begins = offset + LOCAL_BYTES + name_bytes;
    if (view.getUint32(at + 42, true) !== offset || begins + size > central || method !== 0 || size !== stored)
      return null;
    const path = bytes.subarray(at + CENTRAL_BYTES, at + CENTRAL_BYTES + name_bytes);
    const content = bytes.subarray(begins, begins + size);
    const name = String.fromCharCode(...path);
    const same = name === String.fromCharCode(...bytes.subarray(offset + LOCAL_BYTES, begins));
    if (extra + comment > 0 || !same || !NAME.test(name) || files.has(name) || crc32(content) !== crc) return null;
    files.set(name, content);
    at += CENTRAL_BYTES + name_bytes;
    offset = begins + size;
  }
  if (at !== end || offset !== central) return null;
  // Unchecked members (flags, sizes of local headers, times, counts at the end) would let other programs read something else.
  const made = zipOf([...files].map(([name, content]) => ({ name, bytes: content })));
  return made.length === bytes.length && made.every((byte, index) => byte === bytes[index]) ? files : null;
}
