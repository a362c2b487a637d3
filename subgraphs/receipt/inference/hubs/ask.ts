import type { Dispatcher, Pool } from 'undici';
import type { Modality } from '../catalogue.ts';
import { isJson } from './json.ts';
import type { Question } from './question.ts';

/** An answer that is something else than what was asked for. */
const notAsked = {
  text: 'not_a_completion',
  image: 'not_an_image',
  audio: 'not_a_transcript',
} as const satisfies Record<Modality, string>;

export type HubFailure =
  | 'timeout'
  /** Too many wait for it already: it was not asked. */
  | 'busy'
  | 'unreachable'
  | 'cut_off'
  | 'too_large'
  | 'not_json'
  | (typeof notAsked)[Modality]
  | 'not_a_chunk'
  | 'cancelled'
  | `status_${number}`;

export type Asked<T> =
  | { readonly kind: 'answered'; readonly value: T }
  | { readonly kind: 'failed'; readonly reason: HubFailure };

/** One POST, bounded: the whole of it in time, what is read of the answer in bytes. */
export interface Post {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  readonly timeout_ms: number;
  readonly answer_bytes_max: number;
}

/** Asks one hub once. Never throws: every way to fail has a name, and the next hub may be asked. */
export async function askHub<T extends object>(
  pool: Pool,
  post: Post,
  { modality, read }: Pick<Question<T>, 'modality' | 'read'>,
): Promise<Asked<T>> {
  const signal = AbortSignal.timeout(post.timeout_ms);
  const { path, headers, body } = post;
  let response: Dispatcher.ResponseData;
  try {
    response = await pool.request({ method: 'POST', path, headers, body, signal });
  } catch {
    return failed(signal.aborted ? 'timeout' : 'unreachable');
  }
  // A stream that is destroyed unread says so by an error event, which would end the process.
  response.body.on('error', () => {});
  if (response.statusCode !== 200) {
    response.body.destroy();
    return failed(`status_${response.statusCode}`);
  }
  let bytes: Buffer | null;
  try {
    bytes = await readBounded(response.body, post.answer_bytes_max);
  } catch {
    return failed(signal.aborted ? 'timeout' : 'cut_off');
  }
  if (bytes === null) return failed('too_large');
  const value = read(bytes);
  if (value === null) return failed(isJson(bytes) ? notAsked[modality] : 'not_json');
  return { kind: 'answered', value };
}

function failed(reason: HubFailure): { readonly kind: 'failed'; readonly reason: HubFailure } {
  return { kind: 'failed', reason };
}

/** The whole body, or null as soon as it is more than that; leaving the loop destroys the stream. */
export async function readBounded(body: AsyncIterable<Uint8Array>, bytes_max: number): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > bytes_max) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
