import { Agent, request } from 'undici';
import { z } from 'zod';

/** Result of a query to a chain. `unreachable` means no usable response, so nothing is known. */
export type ChainAnswer<T> = { readonly kind: 'ok'; readonly value: T } | Unreachable;
export interface Unreachable {
  readonly kind: 'unreachable';
  readonly cause: unknown;
}
/** The node responded with an error. */
export interface NodeRefusal {
  readonly kind: 'refused';
  readonly code: number;
  readonly message: string;
}

/** JSON-RPC 2.0 over HTTP. Never throws. Concurrency: calls made in one turn of the event loop share a request. */
export interface Rpc {
  call<T>(method: string, params: readonly unknown[], shape: z.ZodType<T>): Promise<ChainAnswer<T> | NodeRefusal>;
  close(): Promise<void>;
}

interface Waiting {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly answer: (answer: ChainAnswer<unknown> | NodeRefusal) => void;
}

const TIMEOUT_MS = 5_000;

export interface RpcBounds {
  readonly connections: number;
  /** Maximum number of calls in one request. */
  readonly calls_per_request_max: number;
  /** Maximum size of a response, however many calls it answers. */
  readonly answer_bytes_max: number;
}
const rpcBounds: RpcBounds = { connections: 16, calls_per_request_max: 50, answer_bytes_max: 32 * 1024 * 1024 };

const answerShape = z.object({
  id: z.int(),
  // `result` is missing if there is an error (JSON-RPC 2.0 section 5). One refused call must not invalidate its batch.
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string() }).optional(),
});

export function openRpc(
  url: string,
  { connections, calls_per_request_max, answer_bytes_max }: RpcBounds = rpcBounds,
): Rpc {
  const dispatcher = new Agent({ maxResponseSize: answer_bytes_max, connections });
  let waiting: Waiting[] = [];

  const flush = () => {
    const all = waiting;
    waiting = [];
    for (let at = 0; at < all.length; at += calls_per_request_max) void send(all.slice(at, at + calls_per_request_max));
  };
  const send = async (batch: readonly Waiting[]) => {
    const answers = await post(url, dispatcher, batch);
    batch.forEach((waiter, index) => {
      waiter.answer(answers(index));
    });
  };
  return {
    call<T>(method: string, params: readonly unknown[], shape: z.ZodType<T>) {
      return new Promise<ChainAnswer<T> | NodeRefusal>(resolve => {
        if (waiting.length === 0) setImmediate(flush);
        waiting.push({ method, params, answer: answer => resolve(parseAnswer(answer, shape)) });
      });
    },
    close: () => dispatcher.close(),
  };
}

function parseAnswer<T>(answer: ChainAnswer<unknown> | NodeRefusal, shape: z.ZodType<T>): ChainAnswer<T> | NodeRefusal {
  if (answer.kind !== 'ok') return answer;
  const parsed = shape.safeParse(answer.value);
  return parsed.success ? { kind: 'ok', value: parsed.data } : { kind: 'unreachable', cause: parsed.error };
}

type Answers = (index: number) => ChainAnswer<unknown> | NodeRefusal;

async function post(url: string, dispatcher: Agent, batch: readonly Waiting[]): Promise<Answers> {
  const calls = batch.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }));
  try {
    const { statusCode, body } = await request(url, {
      method: 'POST',
      dispatcher,
      headers: { 'content-type': 'application/json' },
      // A single call is not sent as a batch, because not every node accepts batches.
      body: JSON.stringify(calls.length === 1 ? calls[0] : calls),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`the node responded with HTTP ${statusCode}: ${text.slice(0, 200)}`);
    const answers = z.array(answerShape).parse([JSON.parse(text)].flat());
    const byId = new Map(answers.map(answer => [answer.id, answer]));
    return index => {
      const answer = byId.get(index);
      if (!answer)
        return { kind: 'unreachable', cause: new Error('the response of the node lacks a call of the batch') };
      return answer.error ? { kind: 'refused', ...answer.error } : { kind: 'ok', value: answer.result };
    };
  } catch (cause) {
    return () => ({ kind: 'unreachable', cause });
  }
}

/**
 * Converts a node's error into `unreachable` for a read, because an error (a rate limit, a block not available yet) shows nothing
 * about the chain.
 */
export function refusedAsUnreachable<T>(answer: ChainAnswer<T> | NodeRefusal): ChainAnswer<T> {
  return answer.kind === 'refused' ? { kind: 'unreachable', cause: new Error(answer.message) } : answer;
}

export function map<A, B>(reached: ChainAnswer<A>, change: (value: A) => B): ChainAnswer<B> {
  return reached.kind === 'ok' ? { kind: 'ok', value: change(reached.value) } : reached;
}

/** All values, or the first failure. */
export function all<T>(each: readonly ChainAnswer<T>[]): ChainAnswer<T[]> {
  const value: T[] = [];
  for (const one of each) {
    if (one.kind !== 'ok') return one;
    value.push(one.value);
  }
  return { kind: 'ok', value };
}
