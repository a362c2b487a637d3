import type { Json } from '../../../schema/canonical-json.ts';

export interface ChainRpcCall {
  readonly method: string;
  readonly params: readonly Json[];
}

interface RpcAnswer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

const TIMEOUT_MS = 10_000;

/** Sends several JSON-RPC calls in one HTTP request. Returns the results in the order of `calls`. @throws the first error */
export async function rpcBatch(url: string, calls: readonly ChainRpcCall[]): Promise<unknown[]> {
  const body = calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call }));
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  // A batch may be answered in any order (JSON-RPC 2.0, section 6).
  const answers = new Map(((await response.json()) as RpcAnswer[]).map(answer => [answer.id, answer]));
  return calls.map((call, id) => {
    const answer = answers.get(id);
    if (!answer || answer.error) throw new Error(`${call.method}: ${answer?.error?.message ?? 'no answer'}`);
    return answer.result;
  });
}

export async function rpc<T>(url: string, method: string, ...params: Json[]): Promise<T> {
  const [result] = await rpcBatch(url, [{ method, params }]);
  return result as T;
}
