import { beforeEach, describe, expect, it } from 'vitest';
import { hex } from '../../../../gateway/rails/base/abi.ts';
import type { BaseChain } from '../../../../gateway/rails/base/chain.ts';
import { decidePayment } from '../../../../gateway/rails/base/decide.ts';
import { openBase } from '../../../../gateway/rails/base/open-base.ts';
import type { SettleOutcome } from '../../../../gateway/rails/outcome.ts';
import { atomicAmount } from '../../../../schema/amount.ts';
import { type BaseGround, feeBounds, openBaseGround, until } from '../../../harness/base/ground.ts';

let ground: BaseGround;
beforeEach(async () => {
  ground = await openBaseGround();
});

const kinds = (settlements: readonly SettleOutcome[]) =>
  settlements.map(it => ('reason' in it ? `${it.kind}:${it.reason}` : it.kind));

const unseen = (searched_to: number) => ({ kind: 'unseen' as const, searched_to });

describe('a payment that settles', () => {
  it('alone is transferred by us, and says which Transfer it was', async () => {
    const [item] = await ground.payments(1);
    if (!item) return;
    const settlement = await ground.settler().settle(item);
    const [transfer, ...others] = await ground.chain.transfers(ground.pay_to);
    expect(others).toEqual([]);
    expect(settlement).toMatchObject({
      kind: 'transferred',
      by: 'us',
      tx_hash: transfer?.tx_hash,
      transfer_index: transfer?.log_index,
      block_number: transfer?.block_number,
    });
  });

  it('among 25 goes with them in one transaction, each with a Transfer of its own', async () => {
    const items = await ground.payments(25);
    const settler = ground.settler();
    const settlements = await Promise.all(items.map(item => settler.settle(item)));
    expect(new Set(kinds(settlements))).toEqual(new Set(['transferred']));
    const transfers = await ground.chain.transfers(ground.pay_to);
    expect(new Set(transfers.map(it => it.tx_hash)).size).toBe(1);
    expect(settlements.map(it => it.kind === 'transferred' && it.transfer_index)).toEqual(
      transfers.map(it => it.log_index),
    );
  });

  it('is not harmed by a drained payer, a duplicate and a lost claim in its batch', async () => {
    const items = await ground.payments(22);
    const [twin] = items;
    if (!twin) return;
    const drained = await ground.payment(await ground.wallet(1999n));
    const [lost] = await ground.payments(1);
    if (!lost) return;
    ground.claims.lost.add(lost.claim_key);
    const settler = ground.settler();
    const settlements = await Promise.all([...items, twin, drained, lost].map(item => settler.settle(item)));
    expect(kinds(settlements)).toEqual([
      ...items.map(() => 'transferred'),
      'transferred',
      'not_transferred:reverted',
      'not_sent:claim_lost',
    ]);
    expect(await ground.chain.transfers(ground.pay_to)).toHaveLength(22);
    expect(await ground.attempts()).toHaveLength(1);
  });

  it('is not harmed by one whose claim cannot be written: that one is not sent', async () => {
    const items = await ground.payments(4);
    const [bad] = items;
    if (bad) ground.claims.broken.add(bad.claim_key);
    const settler = ground.settler();
    const settlements = await Promise.all(items.map(item => settler.settle(item)));
    expect(kinds(settlements)).toEqual(['not_sent:journal_failed', 'transferred', 'transferred', 'transferred']);
    expect(await ground.chain.transfers(ground.pay_to)).toHaveLength(3);
  });

  it('is not harmed by a payer whose code burns the gas of the batch: the others go again without it', async () => {
    const items = await ground.payments(6);
    const eater = await ground.wallet();
    const bad = await ground.payment(eater);
    // INVALID: USDC's question about the signature (ERC-1271) uses up 63/64 of all gas.
    await ground.setCode(eater, '0xfe');
    const settler = ground.settler();
    const batch = [...items.slice(0, 2), bad, ...items.slice(2)];
    const settlements = await Promise.all(batch.map(item => settler.settle(item)));
    expect(kinds(settlements)).toEqual(batch.map(item => (item === bad ? 'not_transferred:reverted' : 'transferred')));
    expect(await ground.chain.transfers(ground.pay_to)).toHaveLength(6);
    const [first] = await ground.attempts();
    const replaced = items.map(({ claim_key }) => ground.claims.settlements.get(claim_key)?.replaces);
    expect(replaced.flat()).toContain(first?.settlement_id);
    for (const item of items) expect(await ground.reconcile(item)).toMatchObject({ kind: 'transferred', by: 'us' });
  });

  it('whose batch failed as a whole, and whose claim is lost before it goes again, is told what the chain said', async () => {
    const [honest] = await ground.payments(1);
    const eater = await ground.wallet();
    const bad = await ground.payment(eater);
    await ground.setCode(eater, '0xfe');
    if (!honest) return;
    const settler = ground.settler({
      commitSettling: async (_tx, items, { replaces }) =>
        new Set(replaces.length === 0 ? items.map(item => item.claim_key) : []),
    });
    const settlements = await Promise.all([bad, honest].map(item => settler.settle(item)));
    expect(kinds(settlements)).toEqual(['not_transferred:reverted', 'not_transferred:reverted']);
    expect(await ground.attempts()).toHaveLength(1);
  });

  it('was submitted by a third party first: transferred all the same', async () => {
    const [item] = await ground.payments(1);
    if (!item) return;
    const tx_hash = await ground.submitElsewhere(item);
    expect(await ground.settler().settle(item)).toMatchObject({ kind: 'transferred', by: 'third_party', tx_hash });
    expect(await ground.chain.transfers(ground.pay_to)).toHaveLength(1);
  });

  it('was submitted by a third party, and is too late for us: transferred all the same', async () => {
    const [item] = await ground.payments(1);
    if (!item) return;
    const tx_hash = await ground.submitElsewhere(item);
    await ground.chain.passTime(660);
    expect(await ground.settler().settle(item)).toMatchObject({ kind: 'transferred', by: 'third_party', tx_hash });
  });
});

describe('a payment that does not move', () => {
  it('is not transferred: reverted, where the payer has not enough', async () => {
    const item = await ground.payment(await ground.wallet(1n));
    expect(await ground.settler().settle(item)).toEqual({ kind: 'not_transferred', reason: 'reverted' });
  });

  it('is not transferred: expired, where the chain has passed its end, and nothing is paid for saying so', async () => {
    const item = await ground.payment(await ground.wallet(), { valid_before_seconds: 1_000 });
    expect(await ground.settler().settle(item)).toEqual({ kind: 'not_transferred', reason: 'expired' });
    expect(await ground.reconcile(item)).toEqual({ kind: 'not_transferred', reason: 'expired' });
    expect(await ground.attempts()).toEqual([]);
  });

  it('is not transferred: expired, where it ends before a block could take it; others of its batch go', async () => {
    const [[good], payer] = [await ground.payments(1), await ground.wallet()];
    const head = await ground.base.block('latest');
    if (!good || head.kind !== 'ok' || !head.value) return;
    const late = await ground.payment(payer, { valid_before_seconds: head.value.timestamp_seconds + 4 });
    const settler = ground.settler();
    const settlements = await Promise.all([late, good].map(item => settler.settle(item)));
    expect(kinds(settlements)).toEqual(['not_transferred:expired', 'transferred']);
    expect(ground.claims.settlements.has(late.claim_key)).toBe(false);
  });

  it('is not transferred: used_otherwise, where the payer spent its nonce on another payment', async () => {
    const payer = await ground.wallet();
    const item = await ground.payment(payer);
    const { nonce } = item.authorization;
    await ground.submitElsewhere(await ground.payment(payer, { nonce, pay_to: payer.address }));
    expect(await ground.settler().settle(item)).toEqual({ kind: 'not_transferred', reason: 'used_otherwise' });
    expect(await ground.reconcile(item)).toEqual({ kind: 'not_transferred', reason: 'used_otherwise' });

    const cheap = await ground.payment(payer);
    const { authorization } = cheap;
    const amount_atomic = atomicAmount(1n);
    await ground.submitElsewhere(await ground.payment(payer, { nonce: authorization.nonce, amount_atomic }));
    expect(await ground.reconcile(cheap)).toEqual({ kind: 'not_transferred', reason: 'used_otherwise' });
    const facts = { authorization, attempts: [], from_block: 0 };
    const logless = { ...ground.base, authorizationUse: async () => ({ kind: 'ok' as const, value: unseen(1e9) }) };
    const inconsistent = { kind: 'unknown', reason: 'chain_inconsistent' };
    expect(await decidePayment(logless, facts)).toEqual(inconsistent);
    // All blocks since it became valid were searched, by a node that is not behind: its nonce was used earlier, and so not by the signed
    // transfer.
    const searched = { ...facts, since_seconds: 0 };
    const otherwise = { kind: 'not_transferred', reason: 'used_otherwise' };
    expect(await decidePayment(logless, searched)).toEqual(otherwise);
    const behind = { ...ground.base, authorizationUse: async () => ({ kind: 'ok' as const, value: unseen(0) }) };
    expect(await decidePayment(behind, searched)).toEqual(inconsistent);
    const head = await ground.base.block('latest');
    const from_block = head.kind === 'ok' && head.value ? head.value.number : 0;
    expect(await decidePayment(logless, { ...searched, from_block })).toEqual(inconsistent);
    const blind = { ...ground.base, receipts: async () => [{ kind: 'ok' as const, value: null }] };
    expect(await decidePayment(blind, facts)).toEqual(inconsistent);
  });

  it('is not transferred: cancelled, where the payer has cancelled it', async () => {
    const payer = await ground.wallet();
    const item = await ground.payment(payer);
    await ground.cancel(payer, item);
    expect(await ground.settler().settle(item)).toEqual({ kind: 'not_transferred', reason: 'cancelled' });
  });

  it('is not sent where fees are above the ceiling, the keys have no gas, or the chain is out of reach', async () => {
    const [item] = await ground.payments(1);
    if (!item) return;
    const unreachable = openBase({ rpc_url: 'http://127.0.0.1:9' });
    const outcomes = [await ground.settler({ fee_bounds: feeBounds({ fee_max_atomic: 1n }) }).settle(item)];
    const broke = ground.settler({ keys: [hex(Buffer.alloc(32, 7))] });
    outcomes.push(await broke.settle(item));
    // The next payer is refused before the work: no key could pay for the settlement.
    expect(broke.pause).toBe('out_of_gas');
    outcomes.push(await ground.settler({ chain: unreachable }).settle(item));
    expect(kinds(outcomes)).toEqual(['not_sent:fee_too_high', 'not_sent:out_of_gas', 'not_sent:chain_unavailable']);
    expect(await ground.attempts()).toEqual([]);
    expect(ground.claims.settlements.size).toBe(0);
  });
});

describe('many at once', () => {
  it('60 settles of two processes that share a key arrive exactly once, and no nonce is given twice', async () => {
    const items = await ground.payments(60);
    const settlers = [ground.settler(), ground.settler()];
    const settlements = await Promise.all(items.map((item, index) => settlers[index % 2]?.settle(item)));
    expect(settlements.map(it => it?.kind)).toEqual(items.map(() => 'transferred'));
    expect(await ground.chain.transfers(ground.pay_to)).toHaveLength(60);
    const nonces = (await ground.attempts()).map(({ nonce }) => nonce);
    expect(nonces).toEqual(nonces.map((_, index) => index));
  });

  it('keys of a pool carry transactions at the same time', async () => {
    const settler = ground.settler({ keys: ground.chain.facilitator_keys });
    const [first, second] = await ground.payments(2);
    if (!first || !second) return;
    await ground.chain.setAutomine(false);
    const one = settler.settle(first);
    await until(async () => (await ground.attempts()).length === 1);
    const two = settler.settle(second);
    await until(async () => (await ground.attempts()).length === 2);
    const both = Promise.all([one, two]);
    await until(async () => {
      await ground.chain.mine();
      return (await ground.chain.transfers(ground.pay_to)).length === 2;
    });
    expect(kinds(await both)).toEqual(['transferred', 'transferred']);
    expect((await ground.attempts()).map(({ nonce }) => nonce)).toEqual([0, 0]);
  });

  it('a key that is held up is passed over, in every process, while another is free', async () => {
    const [lost, ...others] = await ground.payments(7);
    if (!lost) return;
    const unsent = (name: string) => (name === 'after_settling' ? new Promise<void>(() => {}) : Promise.resolve());
    const dying = ground.settler({ faults: { reach: unsent } });
    void dying.settle(lost);
    await until(async () => (await ground.attempts()).length === 1);
    await dying.close();
    const [held_up] = await ground.attempts();

    // Each by a process of its own: one that has just settled may hold its key a moment longer than the journal says.
    const settlements: SettleOutcome[] = [];
    for (const item of others) {
      settlements.push(await ground.settler({ keys: ground.chain.facilitator_keys, nudge_ms: 0 }).settle(item));
      await until(async () => (await ground.states()).slice(1).every(state => state === 'mined'));
    }
    expect(kinds(settlements)).toEqual(others.map(() => 'transferred'));
    const keys = (await ground.attempts()).map(({ key_address }) => key_address);
    expect(keys.filter(key => key === held_up?.key_address)).toHaveLength(1);
  });

  it('one whose receipt the node will not give keeps none of the others waiting', async () => {
    const [first, second] = await ground.payments(2);
    if (!first || !second) return;
    const hidden = new Set<string>();
    const chain: BaseChain = {
      ...ground.base,
      receipts: async hashes => {
        const receipts = await ground.base.receipts(hashes);
        return receipts.map((receipt, index) =>
          hidden.has(hashes[index] ?? '') ? { kind: 'unreachable', cause: 'pruned' } : receipt,
        );
      },
    };
    const settler = ground.settler({ chain, keys: ground.chain.facilitator_keys, nudge_ms: 50, stuck_ms: 0 });
    await ground.chain.setAutomine(false);
    const one = settler.settle(first);
    await until(async () => (await ground.attempts()).length === 1);
    for (const { tx_hash } of await ground.attempts()) hidden.add(tx_hash);
    await ground.chain.setAutomine(true);
    await ground.chain.mine();
    expect(await settler.settle(second)).toMatchObject({ kind: 'transferred' });
    // Its nonce is used and its receipt is hidden: that does not prove that it was lost, so nothing is signed again.
    await settler.rebroadcast();
    expect((await ground.attempts()).filter(({ tx_hash }) => hidden.has(tx_hash))).toHaveLength(1);
    hidden.clear();
    expect(await one).toMatchObject({ kind: 'transferred', by: 'us' });
    expect(await ground.attempts()).toHaveLength(2);
  });
});
