import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { ShownCredentials } from '../../../gateway/graph/identify.ts';
import { openServer, type Server } from '../../../gateway/http/server.ts';
import { type KeptProof, keepProof } from '../../../gateway/sockets/keep-proof.ts';
import { agentId } from '../../../schema/ids.ts';
import { nobody, type Possession, type Principal } from '../../../schema/principal.ts';
import { proofEnds } from '../../../subgraphs/session/possession/proof.ts';
import { logTo, neverHalted, openShop, Shop, sale, shopContext } from '../../harness/graph/shop.ts';

let shop = new Shop();
let server: Server;
let url: string;
let kept: (shown: ShownCredentials) => KeptProof | null = () => null;
/** What was looked up, in order. */
let looks: ShownCredentials[] = [];

beforeAll(async () => {
  server = await openServer({
    graph: await openShop(),
    createContext: async () => shopContext(shop),
    callers: {
      ...neverHalted,
      async identify(shown): Promise<Principal> {
        looks.push(shown);
        const held = { kind: 'proven', agent_id: agentId(7), session_hash: 'of 7' } as const;
        return { ...nobody, possession: { ...held, by: 'bound_proof', use: null } };
      },
      bookOfSession: async () => null,
      keep: async shown => kept(shown),
      createContext: principal => shopContext(shop, { principal }),
      watchSessions: async () => () => {},
      catchUp: async () => {},
    },
    logger: logTo([]),
    graphiql: false,
  });
  url = (await server.listen('127.0.0.1', 0)).replace('http', 'ws');
});
afterAll(() => server.close());
beforeEach(() => {
  shop = new Shop();
  looks = [];
});

async function follow() {
  const connectionParams = { agent_id: 7, proof: 'sha256=right', nonce: 'n'.repeat(16) };
  const opened = createClient({ url: `${url}/graphql`, webSocketImpl: WebSocket, connectionParams, retryAttempts: 0 });
  onTestFinished(() => void opened.dispose());
  const closed = new Promise<number>(resolve => opened.on('closed', event => resolve((event as CloseEvent).code)));
  const events = opened.iterate({ query: 'subscription { sold { item } }' });
  shop.sales.push(sale(1, 'apple'));
  return { closed, first: events.next() };
}

describe('a socket that a proof opens', () => {
  it('is closed with 4403, its streams too, when the proof passes no more', async () => {
    kept = shown => ({ shown, ms_left: 300 });
    const { closed, first } = await follow();
    expect((await first).value).toEqual({ data: { sold: { item: 'apple' } } });
    expect(await closed).toBe(4403);
    await expect.poll(() => shop.sales.released).toBe(true);
  });

  it('is looked up by what it was kept for, and not by the proof again', async () => {
    kept = shown => ({ shown: { ...shown, proof: null, rests_on: 'of 7' }, ms_left: null });
    expect((await (await follow()).first).value).toEqual({ data: { sold: { item: 'apple' } } });
    expect(looks.map(({ proof, rests_on }) => [proof?.nonce, rests_on])).toEqual([
      ['n'.repeat(16), undefined],
      [undefined, 'of 7'],
    ]);
  });

  it('is closed with 4403 at once where the proof was used before', async () => {
    kept = () => null;
    const { closed, first } = await follow();
    first.catch(() => {});
    expect(await closed).toBe(4403);
  });
});

describe('what a proof is kept for', () => {
  const shown: ShownCredentials = { sessions: [], agent: null, proof: null, api_key: null, address: '' };
  const services = (now_ms: number) => ({ clock: { now_ms: () => now_ms }, database: null as never });
  const held = { kind: 'proven', agent_id: agentId(7), session_hash: 'of 7' } as const;

  it('plain: itself, until its window and the next are over', async () => {
    const possession: Possession = { ...held, by: 'plain_proof', use: { window: 5, digest: '' } };
    const ends_ms = proofEnds(5) * 1_000;
    expect(ends_ms).toBe(2_100_000);
    expect(await keepProof(shown, possession, services(ends_ms - 1_234))).toEqual({ shown, ms_left: 1_234 });
    expect(await keepProof(shown, possession, services(ends_ms + 1))).toEqual({ shown, ms_left: 0 });
  });

  it('beside its session: that', async () => {
    const both: ShownCredentials = {
      ...shown,
      sessions: ['s'],
      proof: { agent_id: 7, value: '', nonce: null, request: null },
    };
    const possession: Possession = { ...held, by: 'session' };
    expect(await keepProof(both, possession, services(0))).toEqual({ shown: { ...both, proof: null }, ms_left: null });
  });

  it.each([{ kind: 'absent' }, { kind: 'wrong' }] as const)('%j: nothing', async possession => {
    expect(await keepProof(shown, possession, services(0))).toBeNull();
  });
});
