import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SettleItem } from '../../../../gateway/rails/base/settle/batch.ts';
import { Waiters } from '../../../../gateway/rails/base/settle/waiters.ts';
import type { BaseSignature } from '../../../../gateway/rails/base/signature.ts';
import { notSent, unknown } from '../../../../gateway/rails/outcome.ts';
import { limits } from '../../../../schema/limits.ts';

type Kind = BaseSignature['kind'];
/** Of a payment nothing but its name and its kind of signature matters to those who wait. */
const item = (claim_key: string, kind: Kind) => ({ claim_key, signature: { kind } }) as SettleItem;
const kinds = fc.array(fc.constantFrom<Kind>('ecdsa', 'contract'), { maxLength: 300 });

function filled(entered: readonly Kind[]): Waiters<SettleItem> {
  const waiters = new Waiters<SettleItem>(60_000);
  entered.forEach((kind, index) => void waiters.enter(item(String(index), kind)));
  return waiters;
}

function taken(waiters: Waiters<SettleItem>): SettleItem[][] {
  const batches: SettleItem[][] = [];
  for (let batch = waiters.take(); batch.length > 0; batch = waiters.take())
    batches.push(batch.map(({ item }) => item));
  return batches;
}

describe('those who wait to be settled', () => {
  it('are each taken once, contract wallets alone, in the order of their kind', () => {
    fc.assert(
      fc.property(kinds, entered => {
        const waiters = filled(entered);
        const batches = taken(waiters);
        for (const batch of batches) {
          expect(batch.length).toBeLessThanOrEqual(limits.settlement_batch_authorisations_max);
          if (batch.some(({ signature }) => signature.kind === 'contract')) expect(batch).toHaveLength(1);
        }
        for (const kind of ['ecdsa', 'contract'] as const) {
          const names = batches.flat().flatMap(it => (it.signature.kind === kind ? [Number(it.claim_key)] : []));
          expect(names).toEqual(entered.flatMap((it, index) => (it === kind ? [index] : [])));
        }
        waiters.close();
      }),
    );
  });

  it('take turns: however many contract wallets wait, the others wait for one transaction', () => {
    fc.assert(
      fc.property(kinds, fc.boolean(), (entered, contractFirst) => {
        const waiters = filled(contractFirst ? ['contract', ...entered] : ['ecdsa', ...entered]);
        const batches = taken(waiters).map(([first]) => first?.signature.kind);
        const both = batches.slice(0, 2 * Math.min(...(['ecdsa', 'contract'] as const).map(countOf(batches))));
        both.forEach((kind, index) => {
          if (index > 0) expect(kind).not.toBe(both[index - 1]);
        });
        waiters.close();
      }),
    );
  });

  it('go back to where they stood', () => {
    fc.assert(
      fc.property(kinds, entered => {
        const [waiters, others] = [filled(entered), filled(entered)];
        waiters.putBack(waiters.take());
        const names = (them: Waiters<SettleItem>) =>
          taken(them)
            .flat()
            .map(({ claim_key }) => Number(claim_key));
        const inOrder = (a: number, b: number) => a - b;
        expect(names(waiters).sort(inOrder)).toEqual(names(others).sort(inOrder));
        waiters.close();
        others.close();
      }),
    );
  });

  it('hear at a stop that nothing was sent, and who is under way hears that it may have been', async () => {
    const waiters = new Waiters<SettleItem>(60_000);
    const [sent, ...waiting] = (['contract', 'contract', 'ecdsa'] as const).map(kind =>
      waiters.enter(item(kind, kind)),
    );
    const under_way = [...waiters.take(), ...waiters.take()].map(({ item: { claim_key } }) => claim_key);
    expect(under_way).toEqual(['ecdsa', 'contract']);
    waiters.close();
    expect(await Promise.all([sent, ...waiting])).toEqual([unknown('stopped'), notSent('stopped'), unknown('stopped')]);
  });
});

const countOf = (batches: readonly (Kind | undefined)[]) => (kind: Kind) => batches.filter(it => it === kind).length;
