import { Agent, request } from 'undici';
import { decimalIn } from '../../../subgraphs/receipt/verify/note.ts';

/** What a witness answers to a checkpoint (https://c2sp.org/tlog-witness). None of it is believed yet. */
export type Submitted =
  /** Lines of signatures. */
  | { readonly kind: 'answered'; readonly lines: string }
  /** It goes on from another size. */
  | { readonly kind: 'conflict'; readonly size: number }
  /** It says that the checkpoint does not extend what it has cosigned. */
  | { readonly kind: 'refused' }
  /** It watches another log, or knows none of its keys. */
  | { readonly kind: 'unknown_log'; readonly status: number }
  | { readonly kind: 'away'; readonly why: string };

const CONNECT_MS = 3_000;
const ANSWER_MS = 5_000;
const ANSWER_BYTES_MAX = 64 * 1024;
/** A connection that nobody uses keeps no process from its end. */
const IDLE_MS = 4_000;

const dispatcher = new Agent({
  connect: { timeout: CONNECT_MS },
  keepAliveTimeout: IDLE_MS,
  maxResponseSize: ANSWER_BYTES_MAX,
});

export interface SubmittedHead {
  readonly old_size: number;
  /** That the tree of that size is the beginning of the checkpoint's. */
  readonly proof: readonly Buffer[];
  readonly note: string;
}

/** Submits a checkpoint to a witness, in bounded time and size. Redirects are not followed. Never throws. */
export async function submitHead(url: string, { old_size, proof, note }: SubmittedHead): Promise<Submitted> {
  const lines = [`old ${old_size}`, ...proof.map(hash => hash.toString('base64')), '', note];
  try {
    const { statusCode, headers, body } = await request(`${url}/add-checkpoint`, {
      method: 'POST',
      body: lines.join('\n'),
      dispatcher,
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    return answered(statusCode, String(headers['content-type'] ?? ''), await body.text());
  } catch (fault) {
    return { kind: 'away', why: fault instanceof Error ? fault.message : String(fault) };
  }
}

function answered(status: number, media: string, text: string): Submitted {
  if (status === 200) return { kind: 'answered', lines: text };
  if (status === 422) return { kind: 'refused' };
  if (status === 403 || status === 404) return { kind: 'unknown_log', status };
  const size = status === 409 && media.startsWith('text/x.tlog.size') ? decimalIn(text.replace(/\n$/, '')) : null;
  return size === null ? { kind: 'away', why: `it answered ${status}` } : { kind: 'conflict', size };
}
