import { createHash } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';
import { z } from 'zod';
import { toBase64 } from '../../../subgraphs/receipt/inference/embeddings/vectors.ts';

/** A request for an image, for embeddings or for a transcription, as it was received. */
interface MediaRequest {
  readonly hub: string;
  readonly content_type: string;
  readonly bytes: Buffer<ArrayBuffer>;
  /** Time in unix seconds. */
  readonly created: number;
  /** Base URL of the hub, from which its images are served. */
  readonly base_url: string;
}

export interface MediaAnswer {
  readonly model: string;
  readonly body: object;
}

const text = z.string().min(1);
const tokens = z.array(z.int().min(0)).min(1);

const embeddingRequest = z.object({
  model: z.string(),
  input: z.union([text, z.array(text).min(1), tokens, z.array(tokens).min(1)]),
  encoding_format: z.enum(['float', 'base64']).default('float'),
  dimensions: z.int().min(1).max(4_096).default(64),
});

/**
 * Makes a unit vector of float32 numbers from the hash of each input, so that the same input gets the same vector. @throws if the
 * request is invalid
 */
async function answerEmbeddings({ bytes, hub }: MediaRequest): Promise<MediaAnswer> {
  const { model, input, encoding_format, dimensions } = embeddingRequest.parse(JSON.parse(bytes.toString('utf8')));
  const inputs: readonly (string | number[])[] = isOne(input) ? [input] : input;
  const data = inputs.map((one, index) => {
    const vector = vectorOf(JSON.stringify([hub, model, one]), dimensions);
    return { object: 'embedding', index, embedding: encoding_format === 'base64' ? toBase64(vector) : vector };
  });
  const prompt_tokens = inputs.reduce((sum, one) => sum + tokensIn(one), 0);
  return { model, body: { object: 'list', data, model, usage: { prompt_tokens, total_tokens: prompt_tokens } } };
}

/** Whether the input is a single text, or the tokens of one. */
function isOne(input: z.output<typeof embeddingRequest>['input']): input is string | number[] {
  return typeof input === 'string' || typeof input[0] === 'number';
}

/** Number of tokens. One token is one word, as in chats. */
function tokensIn(one: string | readonly number[]): number {
  return typeof one === 'string' ? one.split(/\s+/).filter(Boolean).length : one.length;
}

function vectorOf(seed: string, dimensions: number): number[] {
  const bytes = createHash('shake256', { outputLength: dimensions }).update(seed).digest();
  const numbers = [...bytes].map(byte => byte - 127.5);
  const length = Math.hypot(...numbers);
  return numbers.map(number => Math.fround(number / length));
}

/** Functions that respond to media requests, by path. They throw if the request is invalid. */
export const mediaAnswers: Readonly<Record<string, (request: MediaRequest) => Promise<MediaAnswer>>> = {
  '/v1/images/generations': answerImages,
  '/v1/audio/transcriptions': transcribe,
  '/v1/embeddings': answerEmbeddings,
};

const imageRequest = z.object({
  model: z.string(),
  prompt: z.string(),
  n: z.literal(1).default(1),
  size: z.string().default('auto'),
  response_format: z.enum(['url', 'b64_json']).default('b64_json'),
});

/** Makes an image of one color from the hash of the prompt, so that the same prompt gets the same image. */
async function answerImages({ bytes, created, base_url, hub }: MediaRequest): Promise<MediaAnswer> {
  const { model, prompt, size, response_format } = imageRequest.parse(JSON.parse(bytes.toString('utf8')));
  const colour = createHash('sha256').update(prompt).digest('hex').slice(0, 6);
  const revised_prompt = `#${colour}, which is all that ${model} on ${hub} sees in it (${size})`;
  const image =
    response_format === 'url'
      ? { url: `${base_url}/images/${colour}.png` }
      : { b64_json: pictureOf(colour).toString('base64') };
  return { model, body: { created, data: [{ ...image, revised_prompt }], usage: { total_tokens: 1 } } };
}

/** The image at a URL from a response; null for any other path. */
export function pictureAt(path: string): Buffer | null {
  const colour = path.match(/^\/v1\/images\/([0-9a-f]{6})\.png$/)?.[1];
  return colour ? pictureOf(colour) : null;
}

const SIDE = 64;

/** An image as PNG, with 8 bits per channel, RGB. */
function pictureOf(colour: string): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(SIDE, 0);
  header.writeUInt32BE(SIDE, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const row = Buffer.concat([Buffer.from([0]), Buffer.from(colour.repeat(SIDE), 'hex')]);
  const pixels = deflateSync(Buffer.concat(Array.from({ length: SIDE }, () => row)));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]);
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type), data]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(data.length, 0);
  ends.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([ends.subarray(0, 4), named, ends.subarray(4)]);
}

/** The transcription, which states the number of bytes and their hash. */
async function transcribe({ hub, content_type, bytes }: MediaRequest): Promise<MediaAnswer> {
  const form = await new Response(bytes, { headers: { 'content-type': content_type } }).formData();
  const file = form.get('file');
  const model = form.get('model');
  if (!(file instanceof File) || typeof model !== 'string') throw new Error('no file, or no model');
  const sha256 = createHash('sha256')
    .update(Buffer.from(await file.arrayBuffer()))
    .digest('hex');
  const text = `This is ${model} on ${hub}, which heard ${file.size} bytes of ${file.name}: ${sha256}.`;
  if (form.get('response_format') !== 'verbose_json') return { model, body: { text, usage: { type: 'duration' } } };
  const duration = 1.5;
  const segment = { id: 0, seek: 0, start: 0, end: duration, text, tokens: [1, 2], temperature: 0, avg_logprob: -0.25 };
  const segments = [{ ...segment, compression_ratio: 1.25, no_speech_prob: 0.01, transient: false }];
  return { model, body: { task: 'transcribe', language: 'english', duration, text, segments } };
}
