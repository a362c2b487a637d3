import { describe, expect, it } from 'vitest';
import { epochChainOf } from '../../../gateway/rails/base/chain-identity.ts';
import { openBase } from '../../../gateway/rails/base/open-base.ts';
import { judgeContinuity, OtherChain, openEpoch, rememberChain } from '../../../gateway/rails/epoch.ts';
import { freshChain } from '../../harness/chain.ts';
import { collectAll, collection } from '../../harness/ledger/fixture.ts';
import { startLyingChain } from '../../harness/lying-chain.ts';
import { atEnd } from '../../harness/release.ts';
import { freshStore } from '../../harness/store.ts';

const known = { epoch: 0, genesis_hash: '0xa', last_block: 7, last_hash: '0xb' };

describe('continuity', () => {
  it.each([
    ['the first chain', null, '0xa', null, { kind: 'first' }],
    ['the same chain', known, '0xa', '0xb', { kind: 'same' }],
    ['another genesis', known, '0xc', '0xb', { kind: 'other', because: 'genesis' }],
    ['blocks that are gone', known, '0xa', null, { kind: 'other', because: 'last_block' }],
    ['blocks that were replaced', known, '0xa', '0xd', { kind: 'other', because: 'last_block' }],
  ] as const)('%s', (_name, chain, genesis, standing, expected) => {
    expect(judgeContinuity(chain, genesis, standing)).toEqual(expected);
  });
});

async function base() {
  const { rpc_url, mine } = await freshChain();
  const chain = openBase({ rpc_url });
  atEnd(() => chain.close());
  return { chain: epochChainOf(chain), mine };
}

describe('chain epochs', () => {
  it('the same chain goes on, and its newest final block is remembered', async () => {
    const database = await freshStore();
    const { chain, mine } = await base();
    expect(await openEpoch(database, chain, { profile: 'production' })).toBe(0);
    await mine(5);
    await rememberChain(database, chain, 0);
    expect(await openEpoch(database, chain, { profile: 'production' })).toBe(0);
    const [epoch] = await database.query({ text: 'select * from chain_epoch' });
    expect(epoch).toMatchObject({ epoch: 0, last_block: expect.any(Number) });
    expect(epoch?.last_block).toBeGreaterThan(0);
  });

  it('production refuses another chain', async () => {
    const database = await freshStore();
    await openEpoch(database, (await base()).chain, { profile: 'production' });
    await expect(openEpoch(database, (await base()).chain, { profile: 'production' })).rejects.toThrow(OtherChain);
    expect(await database.query({ text: 'select epoch from chain_epoch' })).toEqual([{ epoch: 0 }]);
  });

  it('production refuses a node that does not have the block which is remembered', async () => {
    const database = await freshStore();
    const { chain, mine } = await base();
    await openEpoch(database, chain, { profile: 'production' });
    await mine(5);
    await rememberChain(database, chain, 0);
    await database.query({ text: 'update chain_epoch set last_block = last_block + 1000' });
    await expect(openEpoch(database, chain, { profile: 'production' })).rejects.toThrow(
      /lags behind, or it belongs to another/,
    );
  });

  it.each(['production', 'development'] as const)('%s refuses what is not Base, by its chain id', async profile => {
    const database = await freshStore();
    const { rpc_url } = await freshChain();
    const liar = await startLyingChain(rpc_url);
    const node = openBase({ rpc_url: liar.url });
    atEnd(() => node.close());
    const chain = epochChainOf(node);
    for (const [told, named] of [
      ['0x1', '1'],
      ['0x14a34', '84532'],
    ] as const) {
      liar.lie({ eth_chainId: () => told });
      await expect(openEpoch(database, chain, { profile })).rejects.toThrow(
        `a node of chain ${named}, and base is chain 8453`,
      );
    }
    liar.lie({ eth_chainId: () => 'base' });
    await expect(openEpoch(database, chain, { profile })).rejects.toThrow('the chain cannot be reached');
    expect(await database.query({ text: 'select * from chain_epoch' })).toEqual([]);
    liar.tellTruth();
    expect(await openEpoch(database, chain, { profile })).toBe(0);
  });

  it('development begins a new epoch: open claims closed by name, nonces anew, older receipts marked', async () => {
    const database = await freshStore();
    await openEpoch(database, (await base()).chain, { profile: 'development' });
    await database.transaction(tx => collectAll(tx, [collection(null, 1)]));
    await database.query({ text: `insert into settler_key values ('0x01', 9)` });
    await database.query({ text: `insert into book (agent_id, reserved_atomic, opened_at) values (7, 2000, now())` });
    await database.query({
      text: `insert into payment_claim (claim_key, state, field, request_hash, task_id, network, payer, payment_id, agent_id,
          amount_atomic, reserved_atomic, valid_before, "authorization", landing, request_box, claimed_at, moved_at)
        values ('k', 'settling', 'f', 'h', 'task_open', 'base', '0x', '0x', 7, 2000, 2000, 0, '{}', '{}', '', now(), now())`,
    });

    expect(await openEpoch(database, (await base()).chain, { profile: 'development' })).toBe(1);
    expect(await database.query({ text: 'select state, reason, final from payment_claim' })).toEqual([
      { state: 'released', reason: 'chain_epoch_ended', final: true },
    ]);
    expect(await database.query({ text: 'select * from settler_key' })).toEqual([]);
    expect(await database.query({ text: 'select reserved_atomic from book' })).toEqual([{ reserved_atomic: 0n }]);
    expect(await database.query({ text: 'select chain_ended from receipt' })).toEqual([{ chain_ended: true }]);
  });

  it('a new epoch ends what was held, frees the slots of all that stood, and has its jobs paid for again', async () => {
    const database = await freshStore();
    await openEpoch(database, (await base()).chain, { profile: 'development' });
    await database.query({ text: `insert into book (agent_id, reserved_atomic, opened_at) values (7, 2000, now())` });
    await database.query({
      text: `insert into payment_claim (claim_key, state, field, request_hash, task_id, network, payer, payment_id, agent_id,
          amount_atomic, reserved_atomic, valid_before, "authorization", landing, request_box, claimed_at, moved_at)
        select key, state, 'f', 'h', 'task_' || key, 'base', '0x', '0x', 7, 2000, reserved, 0, '{}', '{}', '', now(), now()
        from (values ('held', 'held', 2000), ('let go', 'released', 2000)) as standing(key, state, reserved)`,
    });
    await database.query({
      text: `insert into claim_slot values ('leg:job:one', 'held'), ('transfer:one', 'held'), ('leg:job:two', 'let go')`,
    });
    await database.query({ text: `insert into doubted_payment values ('held', 'base', now(), now())` });
    await database.query({
      text: `insert into board_job (job_id, agent_id, state, untrusted_text, budget_atomic, deadline, stamp_task_id, posted_at,
          delivered_at, leg_one_task_id, leg_one_payment_ref)
        values ('one', 7, 'delivered', 'x', 2000, now(), 'task_stamp', now(), now(), 'task_held', 'base:0x')`,
    });

    expect(await openEpoch(database, (await base()).chain, { profile: 'development' })).toBe(1);
    const ended = { state: 'released', reason: 'chain_epoch_ended', final: true };
    const text = 'select state, reason, final from payment_claim';
    expect(await database.query({ text })).toEqual([ended, ended]);
    for (const table of ['claim_slot', 'doubted_payment'])
      expect(await database.query({ text: `select * from ${table}` })).toEqual([]);
    expect(await database.query({ text: 'select reserved_atomic from book' })).toEqual([{ reserved_atomic: 0n }]);
    const job = 'select leg_one_task_id, leg_one_payment_ref, ends_at > now() as ends from board_job';
    expect(await database.query({ text: job })).toEqual([
      { leg_one_task_id: null, leg_one_payment_ref: null, ends: true },
    ]);
  });
});
