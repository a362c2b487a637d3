import { beforeEach, describe, expect, it } from 'vitest';
import { hex } from '../../gateway/payment/abi.ts';
import { openBase } from '../../gateway/payment/open-base.ts';
import type { Settlement } from '../../gateway/payment/outcome.ts';
import { type Ground, openGround, until } from './ground.ts';

let ground: Ground;
beforeEach(async () => {
  ground = await openGround();
});

const kinds = (settlements: readonly Settlement[]) =>
  settlements.map(it => (it.kind === 'transferred' ? it.kind : `${it.kind}:${it.reason}`));

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

  it('was submitted by a third party first: transferred all the same', async () => {
    const [item] = await ground.payments(1);
    if (!item) return;
    const tx_hash = await ground.submitElsewhere(item);
    expect(await ground.settler().settle(item)).toMatchObject({ kind: 'transferred', by: 'third_party', tx_hash });
    expect(await ground.chain.transfers(ground.pay_to)).toHaveLength(1);
  });
});

describe('a payment that does not move', () => {
  it('is not transferred: reverted, where the payer has not enough', async () => {
    const item = await ground.payment(await ground.wallet(1n));
    expect(await ground.settler().settle(item)).toEqual({ kind: 'not_transferred', reason: 'reverted' });
  });

  it('is not transferred: expired, where the chain has passed its end', async () => {
    const item = await ground.payment(await ground.wallet(), { valid_before_seconds: 1_000 });
    expect(await ground.settler().settle(item)).toEqual({ kind: 'not_transferred', reason: 'expired' });
    expect(await ground.reconcile(item)).toEqual({ kind: 'not_transferred', reason: 'expired' });
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
    const outcomes = [await ground.settler({ fee_ceiling_wei: 1n }).settle(item)];
    outcomes.push(await ground.settler({ keys: [hex(Buffer.alloc(32, 7))] }).settle(item));
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
});
