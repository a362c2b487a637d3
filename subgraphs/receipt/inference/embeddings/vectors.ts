import { canonicalJson, canonicalNumbers } from '../../../../schema/canonical-json.ts';
import type { EmbeddingRequest } from '../../../../schema/requests/embedding.ts';

/* Converts vectors from either form of the API that a hub sends to the form that the caller requested. */

/** One item of a hub's answer. Some hubs omit the index of the first item, which is zero, or of all items. */
export interface HubEmbedding {
  readonly index?: number | null | undefined;
  /** Numbers of a vector, or base64 of its float32 bytes. Some hubs send numbers even if base64 was requested. */
  readonly embedding?: unknown;
}

export type EncodingFormat = EmbeddingRequest['encoding_format'];

/** Vectors that an answer must contain. */
export interface WantedVectors {
  /** Number of vectors: one for each input. */
  readonly count: number;
  readonly encoding_format: EncodingFormat;
  /** Number of dimensions. Null: the model's default. */
  readonly dimensions: number | null;
}

/**
 * Vectors as they are sent to the caller, each as canonical JSON, in the order of the inputs. Null if they do not match the request: one
 * vector for each input, all of one length, with finite numbers.
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

/** Vectors in the order of the inputs. Null if one is missing or occurs twice. */
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

/** Whether a value is a number in the range of float32. */
function isFloat32(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(Math.fround(value));
}

const written: Readonly<Record<EncodingFormat, (numbers: readonly number[]) => string>> = {
  float: canonicalNumbers,
  base64: numbers => canonicalJson(toBase64(numbers)),
};

const FLOAT32_BYTES = 4;

/** Base64 of the numbers as float32, little-endian: OpenAI's clients read this order on any machine. */
export function toBase64(numbers: readonly number[]): string {
  const bytes = Buffer.allocUnsafe(numbers.length * FLOAT32_BYTES);
  for (const [at, number] of numbers.entries()) bytes.writeFloatLE(number, at * FLOAT32_BYTES);
  return bytes.toString('base64');
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Numbers in the base64 of float32 bytes. Null if the text is not that. */
export function fromBase64(text: string): readonly number[] | null {
  if (text.length % 4 !== 0 || !BASE64.test(text)) return null;
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length % FLOAT32_BYTES !== 0) return null;
  return Array.from({ length: bytes.length / FLOAT32_BYTES }, (_, at) => bytes.readFloatLE(at * FLOAT32_BYTES));
}

/** Member `data` of an answer in canonical JSON, as it is sent. */
export function canonicalData(vectors: readonly string[]): string {
  const items = vectors.map((vector, index) => `${ITEM_BEGIN}${vector},"index":${index}${ITEM_END}`);
  return `[${items.join()}]`;
}
const ITEM_BEGIN = '{"embedding":';
const ITEM_END = ',"object":"embedding"}';

/** Minimum number of characters of a vector with that many numbers. It is exact for base64; for numbers it counts one digit for each. */
const vectorCharsMin: Readonly<Record<EncodingFormat, (dimensions: number) => number>> = {
  float: dimensions => '[]'.length + dimensions + (dimensions - 1),
  base64: dimensions => '""'.length + 4 * Math.ceil((dimensions * FLOAT32_BYTES) / 3),
};

/**
 * Minimum number of characters of `data`, as far as the request determines it. It is exact if the request is for base64 of a given length.
 */
export function dataCharsMin({ count, encoding_format, dimensions }: WantedVectors): number {
  const frame = canonicalData(Array.from({ length: count }, () => '')).length;
  return frame + count * vectorCharsMin[encoding_format](dimensions ?? 1);
}
