import { beforeEach, describe, expect, it } from 'vitest';
import { finalBase } from '../../../../gateway/rails/base/base-rail.ts';
import { recheckFinalized } from '../../../../gateway/rails/finality.ts';
import { type BaseGround, feeBounds, openBaseGround, until } from '../../../harness/base/ground.ts';

let ground: BaseGround;
beforeEach(async () => {
  ground = await openBaseGround();
});

/** Short enough for a test; no test asserts them. */
const impatient = { wait_ms: 300, nudge_ms: 50, stuck_ms: 0 } as const;
const never = () => new Promise<void>(() => {});

async function onePayment() {
  const [item] = await ground.payments(1);
  if (!item) throw new Error('no payment');
  return item;
}

describe('a stalled chain', () => {
  it('makes the outcome unknown, and the chain decides when it moves again', async () => {
    const item = await onePayment();
    const settler = ground.settler({ wait_ms: 200 });
    await ground.chain.setAutomine(false);
    expect(await settler.settle(item)).toEqual({ kind: 'unknown', reason: 'not_mined' });
    expect(await ground.reconcile(item)).toEqual({ kind: 'unknown', reason: 'not_mined' });
    // The caller may have got its answer before the transaction reached the node.
    await until(async () => {
      await ground.chain.mine();
      return (await ground.reconcile(item)).kind === 'transferred';
    });
    expect(await ground.reconcile(item)).toMatchObject({ kind: 'transferred', by: 'us' });
    expect(await ground.reconcile(item)).toEqual(await ground.reconcile(item));
  });

  it('leaves unsent what no key was free for', async () => {
    const [first, second] = await ground.payments(2);
    if (!first || !second) return;
    const settler = ground.settler({ wait_ms: 200 });
    await ground.chain.setAutomine(false);
    const one = settler.settle(first);
    await until(async () => (await ground.attempts()).length === 1);
    expect(await settler.settle(second)).toEqual({ kind: 'not_sent', reason: 'chain_unavailable' });
    expect(await one).toEqual({ kind: 'unknown', reason: 'not_mined' });
    expect(await ground.attempts()).toHaveLength(1);
  });
});

const unsent = { reach: (name: string) => (name === 'after_settling' ? never() : Promise.resolve()) };

describe('a process that ends between commit and broadcast', () => {
  it('is followed by another that sends the same bytes', async () => {
    const item = await onePayment();
    const dying = ground.settler({ faults: unsent });
    void dying.settle(item);
    await until(async () => (await ground.attempts()).length === 1);
    await dying.close();
    expect(await ground.reconcile(item)).toEqual({ kind: 'unknown', reason: 'not_mined' });

    const next = ground.settler(impatient);
    await until(async () => {
      await next.rebroadcast();
      return (await ground.reconcile(item)).kind === 'transferred';
    });
    expect(await ground.attempts()).toHaveLength(1);
    await until(async () => {
      await next.rebroadcast();
      return (await ground.states()).join() === 'mined';
    });
  });

  it('does not hold up the nonces behind its own', async () => {
    const [lost, behind] = await ground.payments(2);
    if (!lost || !behind) return;
    const dying = ground.settler({ faults: unsent });
    void dying.settle(lost);
    await until(async () => (await ground.attempts()).length === 1);
    await dying.close();

    const next = ground.settler({ nudge_ms: 50 });
    expect(await next.settle(behind)).toMatchObject({ kind: 'transferred' });
    expect(await ground.reconcile(lost)).toMatchObject({ kind: 'transferred', by: 'us' });
    expect(await ground.chain.transfers(ground.pay_to)).toHaveLength(2);
  });

  it('after broadcast leaves a payment that the chain alone decides', async () => {
    const item = await onePayment();
    const faults = { reach: (name: string) => (name === 'after_broadcast' ? never() : Promise.resolve()) };
    const dying = ground.settler({ faults });
    void dying.settle(item);
    await until(async () => (await ground.chain.transfers(ground.pay_to)).length === 1);
    await dying.close();
    expect(await ground.reconcile(item)).toMatchObject({ kind: 'transferred', by: 'us' });
  });
});

describe('a stuck nonce', () => {
  it('is replaced by higher fees under the same nonce, journalled before it is sent: above any bound, but counted', async () => {
    const item = await onePayment();
    await ground.chain.setAutomine(false);
    // The fee of 88,000 gas at 3.4 gwei and 1 USD per ether.
    const fee_bounds = feeBounds({ fee_max_atomic: 300n, fee_day_max_atomic: 600n });
    const settler = ground.settler({ nudge_ms: 50, stuck_ms: 0, fee_bounds });
    const settling = settler.settle(item);
    await until(async () => (await ground.attempts()).length === 1);
    const [stuck] = await ground.attempts();
    const base_fee = `0x${((stuck?.max_fee_wei ?? 0n) * 2n).toString(16)}`;
    // The market has moved above it: an empty block shows the new fee.
    await ground.chain.call('anvil_dropAllTransactions');
    await ground.chain.call('anvil_setNextBlockBaseFeePerGas', base_fee);
    await ground.chain.mine();
    await until(async () => (await ground.attempts()).length > 1);
    expect((await ground.feeDay()).fee_atomic).toBeGreaterThan(600n);
    await ground.chain.setAutomine(true);
    await ground.chain.mine();
    const settlement = await settling;
    const attempts = await ground.attempts();
    expect(new Set(attempts.map(({ nonce }) => nonce)).size).toBe(1);
    expect(settlement).toMatchObject({ kind: 'transferred', by: 'us' });
    expect(attempts.slice(1).map(it => it.tx_hash)).toContain(settlement.kind === 'transferred' && settlement.tx_hash);
    await until(async () => (await ground.states()).join() === 'mined');
    const { fee_atomic, counted } = await ground.feeDay();
    expect([fee_atomic, fee_atomic > 300n]).toEqual([counted, true]);
    expect(await ground.chain.transfers(ground.pay_to)).toHaveLength(1);
  });

  it('that was used up by something else is given up for a new one', async () => {
    const item = await onePayment();
    const dying = ground.settler({ faults: unsent });
    void dying.settle(item);
    await until(async () => (await ground.attempts()).length === 1);
    await dying.close();
    await ground.useUpNonce();

    const next = ground.settler(impatient);
    await until(async () => {
      await next.rebroadcast();
      return (await ground.reconcile(item)).kind === 'transferred';
    });
    expect((await ground.attempts()).map(({ nonce }) => nonce)).toEqual([0, 1]);
    expect(await ground.chain.transfers(ground.pay_to)).toHaveLength(1);
  });

  it('that was used up by something else is closed, not paid for again, where nothing in it can move any more', async () => {
    const item = await onePayment();
    const faults = { reach: (name: string) => (name === 'after_settling' ? held : Promise.resolve()) };
    let send = () => {};
    const held = new Promise<void>(resolve => {
      send = resolve;
    });
    const settler = ground.settler({ ...impatient, faults });
    const settling = settler.settle(item);
    await until(async () => (await ground.attempts()).length === 1);
    await ground.useUpNonce();
    await ground.chain.passTime(660);
    send();
    await until(async () => (await ground.states()).join() === 'abandoned');
    expect(await ground.attempts()).toHaveLength(1);
    expect((await settling).kind).toBe('unknown');
    // Nothing was paid for it, and nothing will be.
    expect(await ground.feeDay()).toMatchObject({ fee_atomic: 0n, counted: 0n });
    expect(await ground.reconcile(item)).toEqual({ kind: 'not_transferred', reason: 'expired' });

    // The key that waited for it is free again.
    const next = await ground.payment(await ground.wallet(), { valid_before_seconds: 2 ** 33 });
    while ((await settler.settle(next)).kind === 'not_sent');
    // It waits too briefly to be sure of the answer.
    await until(async () => (await ground.reconcile(next)).kind === 'transferred');
    expect(await ground.reconcile(next)).toMatchObject({ by: 'us' });
  });
});

describe('a mined settlement', () => {
  it('is final once the finalized block has passed it', async () => {
    await ground.settler().settle(await onePayment());
    await until(async () => (await ground.states()).join() === 'mined');
    expect(await recheckFinalized(finalBase(ground.database, ground.base), never)).toEqual([]);
    await ground.chain.mine(5);
    const rechecked = await recheckFinalized(finalBase(ground.database, ground.base), never);
    expect(rechecked).toMatchObject([{ kind: 'final' }]);
    expect(await ground.states()).toEqual(['final']);
  });

  it('that the chain has lost is corrected once, and sent again', async () => {
    const item = await onePayment();
    const snapshot = await ground.chain.call<string>('evm_snapshot');
    const settler = ground.settler({ nudge_ms: 50, stuck_ms: 0 });
    expect(await settler.settle(item)).toMatchObject({ kind: 'transferred' });
    await until(async () => (await ground.states()).join() === 'mined');
    await ground.chain.call('evm_revert', snapshot);
    await ground.chain.mine(5);

    const corrected: string[] = [];
    const look = () =>
      recheckFinalized(finalBase(ground.database, ground.base), async (_tx, { kind }) => {
        corrected.push(kind);
      });
    await Promise.all([look(), look()]);
    expect(corrected).toEqual(['vanished']);
    expect(await ground.states()).toEqual(['sent']);
    await until(async () => {
      await settler.rebroadcast();
      return (await ground.reconcile(item)).kind === 'transferred';
    });
    expect(await ground.chain.transfers(ground.pay_to)).toHaveLength(1);
  });
});
