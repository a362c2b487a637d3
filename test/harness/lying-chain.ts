import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Json, JsonObject } from '../../schema/canonical-json.ts';
import { atEnd } from './release.ts';

interface Call extends JsonObject {
  readonly id: number;
  readonly method: string;
  readonly params: readonly Json[];
}

/** Returns an answer in place of the true one. Undefined leaves the call without an answer. */
export type Lie = (truth: Json, params: readonly Json[]) => Json | undefined;
export type Lies = Readonly<Record<string, Lie>>;

/** How the node treats requests as a whole. */
export type RpcBehaviour =
  | { readonly kind: 'plain' }
  /** Accepts requests of these methods and never answers. Default: all methods. */
  | { readonly kind: 'hang'; readonly methods?: readonly string[] }
  /** Sends more data than any client should read. */
  | { readonly kind: 'huge'; readonly methods: readonly string[] }
  | { readonly kind: 'no_json'; readonly methods: readonly string[] }
  /** Searches logs of at most that many blocks in one call, as hosted nodes do. */
  | { readonly kind: 'narrow'; readonly blocks_max: number }
  | { readonly kind: 'cut' };

export type LyingChain = Awaited<ReturnType<typeof startLyingChain>>;

const HUGE_BYTES = 64 * 1024 * 1024;

/** A proxy in front of a chain's RPC that can give false answers. */
export async function startLyingChain(rpc_url: string) {
  let lies: Lies = {};
  let manner: RpcBehaviour = { kind: 'plain' };
  let waiting: { readonly method: string; readonly begin: () => void } | null = null;
  const server = createServer(async (incoming, response) => {
    const asked = (await json(incoming)) as Call | Call[];
    const calls = [asked].flat();
    const touches = (methods: readonly string[] | undefined) =>
      methods === undefined || calls.some(({ method }) => methods.includes(method));
    if (manner.kind === 'cut') return void response.destroy();
    if (manner.kind === 'hang' && touches(manner.methods)) return;
    if (manner.kind === 'huge' && touches(manner.methods)) return pour(response);
    if (manner.kind === 'no_json' && touches(manner.methods)) return void response.end('<html>busy</html>');
    if (waiting && touches([waiting.method])) {
      response.once('finish', waiting.begin);
      waiting = null;
    }
    const body = JSON.stringify(asked);
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(rpc_url, { method: 'POST', headers, body }).catch(() => null);
    if (answer === null) return void response.destroy();
    const truths = [(await answer.json()) as JsonObject | JsonObject[]].flat();
    const told = truths.flatMap(truth => {
      const call = calls.find(({ id }) => id === truth.id);
      const lie = call && truth.error === undefined ? lies[call.method] : undefined;
      if (call && isTooWide(call, manner)) return [{ jsonrpc: '2.0', id: call.id, error: TOO_WIDE }];
      if (!call || !lie) return [truth];
      const result = lie(truth.result ?? null, call.params);
      return result === undefined ? [] : [{ ...truth, result }];
    });
    response.writeHead(200, headers).end(JSON.stringify(Array.isArray(asked) ? told : (told[0] ?? {})));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Sets false answers by method. All other methods are answered truthfully again. */
    lie(next: Lies): void {
      lies = next;
    },
    behave(next: RpcBehaviour): void {
      manner = next;
      if (next.kind === 'cut') server.closeAllConnections();
    },
    /** Calls `begin` after a call of that method has been answered. */
    after(method: string, begin: () => void): void {
      waiting = { method, begin };
    },
    /** Gives true answers again. */
    tellTruth(): void {
      lies = {};
      manner = { kind: 'plain' };
      // Ends requests that have not been answered.
      server.closeAllConnections();
    },
  };
}

const TOO_WIDE = { code: -32_602, message: 'block range is too wide' };

function isTooWide({ method, params: [range] }: Call, manner: RpcBehaviour): boolean {
  if (manner.kind !== 'narrow' || method !== 'eth_getLogs') return false;
  const { fromBlock, toBlock } = range as { fromBlock: string; toBlock: string };
  return Number(toBlock) - Number(fromBlock) >= manner.blocks_max;
}

function pour(response: ServerResponse): void {
  const piece = Buffer.alloc(1024 * 1024, ' ');
  let left = HUGE_BYTES / piece.length;
  const more = () => {
    while (left-- > 0 && !response.destroyed) if (!response.write(piece)) return void response.once('drain', more);
    response.end();
  };
  response.on('error', () => {}).writeHead(200, { 'content-type': 'application/json' });
  more();
}
