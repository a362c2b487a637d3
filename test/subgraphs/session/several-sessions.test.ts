import { beforeAll, describe, expect, it } from 'vitest';
import { identify } from '../../../gateway/graph/identify.ts';
import { limits } from '../../../schema/limits.ts';
import type { Principal } from '../../../schema/principal.ts';
import { requireHeld, requireOneBook } from '../../../subgraphs/access.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { newWallet, openDesk, type SessionDesk } from '../../harness/session/desk.ts';

let desk: SessionDesk;
let registered: readonly { readonly agent_id: number; readonly session: string }[];
beforeAll(async () => {
  desk = await openDesk();
  registered = await Promise.all([newWallet(), newWallet(), newWallet()].map(wallet => desk.register(wallet)));
});

const shown = { agent: null, proof: null, api_key: null, address: '' };
const sessions = () => registered.map(({ session }) => session);
const agents = () => registered.map(({ agent_id }) => agent_id);

describe('several sessions', () => {
  it('as many as may come are looked up in one read', async () => {
    const { database } = desk.checks;
    let reads = 0;
    const counting = {
      ...database,
      query: (statement => {
        reads++;
        return database.query(statement);
      }) as Database['query'],
    };
    const others = Array.from({ length: limits.sessions_per_caller_max - 3 }, (_, index) => `svcs_${index}`);
    const checks = { ...desk.checks, database: counting };
    const { possession } = await identify({ ...shown, sessions: [...sessions(), ...others] }, checks);
    expect([possession, reads]).toEqual([{ kind: 'wrong' }, 1]);
  });

  it('hold each of their books, by its own session', async () => {
    const principal: Principal = await desk.identified({ sessions: sessions() });
    expect(principal.possession).toMatchObject({ kind: 'several', named: null });
    for (const agent_id of agents())
      expect(requireHeld(principal, agent_id)).toMatchObject({ agent_id, by: 'session' });
    expect(() => requireHeld(principal, 1_000_000)).toThrow(expect.objectContaining({ code: 'forbidden' }));
  });

  it('are one for what is paid for: the one that is named, and never another', async () => {
    const [, agent] = agents();
    const named = await desk.identified({ sessions: sessions(), agent });
    expect(requireOneBook(named).possession).toMatchObject({ kind: 'proven', agent_id: agent, by: 'session' });
    const unnamed = await desk.identified({ sessions: sessions() });
    expect(() => requireOneBook(unnamed)).toThrow(expect.objectContaining({ code: 'book_not_named' }));
    const elsewhere = await desk.identified({ sessions: sessions(), agent: 1_000_000 });
    expect(() => requireOneBook(elsewhere)).toThrow(expect.objectContaining({ code: 'forbidden' }));
  });

  it('stay several where all but one have ended on a socket: what is left is not what a payment is for', async () => {
    const [session] = sessions();
    const left = await desk.identified({ sessions: [session], of_several: true });
    expect(() => requireOneBook(left)).toThrow(expect.objectContaining({ code: 'book_not_named' }));
  });
});
