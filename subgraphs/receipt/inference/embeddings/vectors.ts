import { canonicalJson, canonicalNumbers } from '../../../../schema/canonical-json.ts';
import type { EmbeddingRequest } from '../../../../schema/requests/embedding.ts';

/* Vectors as hubs send them and as they are sent on: both of the API's forms, from either to either. */

/** One item of a hub's answer. Some leave out the index of the first, which is zero, or of all. */
export interface HubEmbedding {
  readonly index?: number | null | undefined;
  /** The numbers of a vector, or the base64 of its float32 bytes: some hubs send numbers in any case. */
  readonly embedding?: unknown;
}

export type EncodingFormat = EmbeddingRequest['encoding_format'];

/** What an answer must contain. */
export interface WantedVectors {
  /** One for each input. */
  readonly count: number;
  readonly encoding_format: EncodingFormat;
  /** Null: as long as the model makes them. */
  readonly dimensions: number | null;
}

/**
 * Each vector as it is sent, as canonical JSON, in the order of the inputs. Null if they do not match the request: one
 * per input, all of one length, finite numbers.
 */
export function vectorsIn(
  data: readonly HubEmbedding[],
  { count, encoding_format, dimensions }: WantedVectors,
): readonly string[] | null {
  const placed = inOrder(data, count);
  if (placed === null) return null;
  const texts: string[] = [];
  let length = dimensions;
  for (const given of placed) {
    const numbers = numbersOf(given);
    if (numbers === null || numbers.length !== (length ?? numbers.length)) return null;
    length = numbers.length;
    texts.push(written[encoding_format](numbers));
  }
  return texts;
}

/** Null if one is missing, or occurs twice. */
function inOrder(data: readonly HubEmbedding[], count: number): readonly unknown[] | null {
  if (data.length !== count) return null;
  const by_index = new Map(data.map(({ index, embedding }, place) => [index ?? place, embedding]));
  const placed = Array.from({ length: count }, (_, index) => by_index.get(index));
  return by_index.size === count && placed.every(given => given !== undefined) ? placed : null;
}

function numbersOf(given: unknown): readonly number[] | null {
  const numbers = typeof given === 'string' ? fromBase64(given) : given;
  return Array.isArray(numbers) && numbers.length > 0 && numbers.every(isFloat32) ? numbers : null;
}

/** Whether it is a number that a float32 can be near to. */
function isFloat32(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(Math.fround(value));
}

const written: Readonly<Record<EncodingFormat, (numbers: readonly number[]) => string>> = {
  float: canonicalNumbers,
  base64: numbers => canonicalJson(toBase64(numbers)),
};

const FLOAT32_BYTES = 4;

/** Little-endian, as OpenAI's clients read it on any machine that they run on. */
export function toBase64(numbers: readonly number[]): string {
  const bytes = Buffer.allocUnsafe(numbers.length * FLOAT32_BYTES);
  for (const [at, number] of numbers.entries()) bytes.writeFloatLE(number, at * FLOAT32_BYTES);
  return bytes.toString('base64');
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Null if the text is not float32 numbers. */
export function fromBase64(text: string): readonly number[] | null {
  if (text.length % 4 !== 0 || !BASE64.test(text)) return null;
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length % FLOAT32_BYTES !== 0) return null;
  return Array.from({ length: bytes.length / FLOAT32_BYTES }, (_, at) => bytes.readFloatLE(at * FLOAT32_BYTES));
}

/** `data` as it is sent, in its canonical form. */
export function canonicalData(vectors: readonly string[]): string {
  const items = vectors.map((vector, index) => `${ITEM_BEGIN}${vector},"index":${index}${ITEM_END}`);
  return `[${items.join()}]`;
}
const ITEM_BEGIN = '{"embedding":';
const ITEM_END = ',"object":"embedding"}';

/** The minimum number of characters of a vector with that many numbers: exact in base64; in numbers, a digit for each. */
const vectorCharsMin: Readonly<Record<EncodingFormat, (dimensions: number) => number>> = {
  float: dimensions => '[]'.length + dimensions + (dimensions - 1),
  base64: dimensions => '""'.length + 4 * Math.ceil((dimensions * FLOAT32_BYTES) / 3),
};

/**
 * The minimum number of characters of `data`, as far as the request determines it: the exact number if it requests base64 of a given
 * length.
 */
export function dataCharsMin({ count, encoding_format, dimensions }: WantedVectors): number {
  const frame = canonicalData(Array.from({ length: count }, () => '')).length;
  return frame + count * vectorCharsMin[encoding_format](dimensions ?? 1);
}
