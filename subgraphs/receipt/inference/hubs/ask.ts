import type { Dispatcher, Pool } from 'undici';
import { type HubCompletion, readCompletion } from './completion.ts';

export type HubFailure =
  | 'timeout'
  | 'unreachable'
  | 'cut_off'
  | 'too_large'
  | 'not_json'
  | 'not_a_completion'
  | 'not_a_chunk'
  | 'cancelled'
  | `status_${number}`;

export type Asked =
  | { readonly kind: 'answered'; readonly completion: HubCompletion }
  | { readonly kind: 'failed'; readonly reason: HubFailure };

/** One POST, bounded: the whole of it in time, what is read of the answer in bytes. */
export interface Question {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeout_ms: number;
  readonly answer_bytes_max: number;
}

/** Asks one hub once. Never throws: every way to fail has a name, and the next hub may be asked. */
export async function askHub(pool: Pool, question: Question): Promise<Asked> {
  const signal = AbortSignal.timeout(question.timeout_ms);
  const { path, headers, body } = question;
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
  try {
    const bytes = await readBounded(response.body, question.answer_bytes_max);
    if (bytes === null) return failed('too_large');
    const reading = readCompletion(bytes);
    return reading.kind === 'completion' ? { kind: 'answered', completion: reading.completion } : failed(reading.kind);
  } catch {
    return failed(signal.aborted ? 'timeout' : 'cut_off');
  }
}

function failed(reason: HubFailure): Asked {
  return { kind: 'failed', reason };
}

/** The whole body, or null as soon as it is more than that; leaving the loop destroys the stream. */
async function readBounded(body: AsyncIterable<Uint8Array>, bytes_max: number): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > bytes_max) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
