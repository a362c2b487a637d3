import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { priceBatch, type SettleItem } from '../../gateway/rails/base/settle/batch.ts';
import { atomicAmount } from '../../schema/amount.ts';
import { limits } from '../../schema/limits.ts';
import { ROOT } from '../harness/root.ts';

/* The gas prices that the page of the configuration names are those at which the code refuses. */

const page = await readFile(join(ROOT, 'gateway/config/README.md'), 'utf8');
const paragraph = page.match(/^The default of `SETTLE_FEE_MAX`[\s\S]*?\n\n/m)?.[0].replace(/\s+/g, ' ') ?? '';
const numbersIn = (text = ''): readonly number[] => [...text.matchAll(/[\d.]*\d/g)].map(Number);

const ETHER = atomicAmount(3_000_000_000n);
const STEP_GWEI = 0.0001;
const wei = (gwei: number) => BigInt(Math.round(gwei * 1_000_000_000));

const payment: Omit<SettleItem, 'signature'> = {
  claim_key: 'any',
  authorization: {
    network: 'base',
    payer: `0x${'11'.repeat(20)}`,
    pay_to: `0x${'22'.repeat(20)}`,
    amount_atomic: limits.call_price_atomic,
    valid_after_seconds: 0,
    valid_before_seconds: 2_000_000_000,
    nonce: `0x${'33'.repeat(32)}`,
  },
};
const word = `0x${'44'.repeat(32)}` as const;
const byKey: SettleItem = { ...payment, signature: { kind: 'ecdsa', r: word, s: word, v: 27 } };
const byWallet: SettleItem = { ...payment, signature: { kind: 'contract', bytes: word, deploy: null } };
const deploy = { factory: payment.authorization.payer, data: word };
const byUnmade: SettleItem = { ...payment, signature: { kind: 'contract', bytes: word, deploy } };

/** In the order in which the page names them. */
const cases: readonly (readonly [string, readonly SettleItem[]])[] = [
  ['a key alone', [byKey]],
  ['a batch of 10', Array(10).fill(byKey)],
  ['a deployed contract wallet', [byWallet]],
  ['one that is still to be deployed', [byUnmade]],
];

/** Without what Base asks for its data on L1, which goes with Ethereum's own prices. */
function isSent(items: readonly SettleItem[], gwei: number, fee_max_atomic: bigint): boolean {
  const head = { number: 1, hash: word, timestamp_seconds: 1, base_fee_wei: wei(gwei) };
  const market = { head, priority_fee_wei: 0n, l1_fee_wei: 0n };
  return priceBatch(items, market, ETHER, atomicAmount(fee_max_atomic)).kind === 'priced';
}

it.each(cases.map(([who, items], index) => ({ who, items, index })))('by $who', ({ who, items, index }) => {
  expect(paragraph).toContain(who);
  const refused_above =
    numbersIn(paragraph.match(/refused above (.*?), less/)?.[1]).filter(it => it < 1)[index] ?? Number.NaN;
  expect(isSent(items, refused_above, limits.settle_fee_atomic_default)).toBe(true);
  expect(isSent(items, refused_above + STEP_GWEI, limits.settle_fee_atomic_default)).toBe(false);

  const [busy_gwei = Number.NaN, ...bounds] = numbersIn(paragraph.match(/For all to pass at (.*?)\. /)?.[1]);
  const bound = BigInt(bounds[index] ?? 0);
  expect(isSent(items, busy_gwei, bound)).toBe(true);
  expect(isSent(items, busy_gwei, bound - 10n)).toBe(false);
});
