import { createHash } from 'node:crypto';
import { z } from 'zod';
import { toBase64 } from '../../../subgraphs/receipt/inference/embeddings/vectors.ts';
import type { MediaAnswer, MediaRequest } from './media-request.ts';

const text = z.string().min(1);
const tokens = z.array(z.int().min(0)).min(1);

const embeddingRequest = z.object({
  model: z.string(),
  input: z.union([text, z.array(text).min(1), tokens, z.array(tokens).min(1)]),
  encoding_format: z.enum(['float', 'base64']).default('float'),
  dimensions: z.int().min(1).max(4_096).default(64),
});

/** The same input gives the same vector, of length 1: float32 numbers, as they are of the hash of it. Throws where a request is none. */
export async function embedded({ bytes, hub }: MediaRequest): Promise<MediaAnswer> {
  const { model, input, encoding_format, dimensions } = embeddingRequest.parse(JSON.parse(bytes.toString('utf8')));
  const inputs: readonly (string | number[])[] = isOne(input) ? [input] : input;
  const data = inputs.map((one, index) => {
    const vector = vectorOf(JSON.stringify([hub, model, one]), dimensions);
    return { object: 'embedding', index, embedding: encoding_format === 'base64' ? toBase64(vector) : vector };
  });
  const prompt_tokens = inputs.reduce((sum, one) => sum + tokensIn(one), 0);
  return { model, body: { object: 'list', data, model, usage: { prompt_tokens, total_tokens: prompt_tokens } } };
}

/** A text, or the tokens of one. */
function isOne(input: z.output<typeof embeddingRequest>['input']): input is string | number[] {
  return typeof input === 'string' || typeof input[0] === 'number';
}

/** One token is one word, as in chats. */
function tokensIn(one: string | readonly number[]): number {
  return typeof one === 'string' ? one.split(/\s+/).filter(Boolean).length : one.length;
}

function vectorOf(seed: string, dimensions: number): number[] {
  const bytes = createHash('shake256', { outputLength: dimensions }).update(seed).digest();
  const numbers = [...bytes].map(byte => byte - 127.5);
  const length = Math.hypot(...numbers);
  return numbers.map(number => Math.fround(number / length));
}
