import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atomicAmount } from '../../../schema/amount.ts';
import { evidences } from '../../../schema/evidence.ts';
import { wordList } from '../../../schema/words.ts';
import { backingOf, hostBasis } from '../../../subgraphs/board/backing.ts';
import type { CitedRow } from '../../../subgraphs/book/page/cited-row.ts';
import { openHubHosts } from '../../../subgraphs/receipt/inference/hubs/hosts.ts';

const paid: CitedRow = {
  evidence: 'collected',
  collected: true,
  amount: atomicAmount(2000n),
  rail: 'usdc',
  hub: 'alpha',
  model: 'alpha-1',
  resource: null,
  payer_wallet: null,
  pay_to: null,
  merchant_signed: false,
};
const hands = { own_wallet: '0xOwn', treasuries: ['0xTreasury'] };
const hubs = openHubHosts([{ name: 'alpha', base_url: 'http://Hub.example:8080/v1' }], {
  base_url: 'https://router.example/api',
});
const known = { ours: 'gateway.example', ...hubs };

describe('what backs a post or a confirm', () => {
  it('is money that was seen to be paid to somebody else, whatever else a row says', () => {
    const rows = fc.record({
      evidence: fc.constantFrom(...wordList(evidences)),
      collected: fc.boolean(),
      amount: fc.option(fc.bigInt({ min: 0n, max: 10n ** 31n }).map(atomicAmount)),
      rail: fc.constantFrom('usdc', 'xno', null),
      hub: fc.constantFrom('alpha', 'svc', null),
      model: fc.constantFrom('alpha-1', 'board', 'register', null),
      resource: fc.constantFrom('https://shop.example/', null),
      payer_wallet: fc.constantFrom('0xAb', 'sol', '0xTreasury', null),
      pay_to: fc.constantFrom('0xaB', 'Sol', 'sol', '0xoWN', null),
      merchant_signed: fc.boolean(),
    });
    fc.assert(
      fc.property(rows, row => {
        const backing = backingOf(row, hands);
        const seen = ['collected', 'foreign_ingest'].includes(row.evidence) && row.collected;
        const stamp_of_board = row.hub === 'svc' && row.model === 'board';
        const paid_to = row.pay_to ?? (row.evidence === 'collected' ? '0xTreasury' : null);
        const same = row.payer_wallet !== null && row.payer_wallet.startsWith('0x') === paid_to?.startsWith('0x');
        const kept =
          paid_to === '0xoWN' ||
          (same &&
            (paid_to?.startsWith('0x')
              ? paid_to.toLowerCase() === row.payer_wallet?.toLowerCase()
              : paid_to === row.payer_wallet));
        const backs = seen && row.amount !== null && row.amount > 0n && !stamp_of_board && !kept;
        expect(backing.kind).toBe(backs ? 'backs' : 'refused');
        if (backing.kind === 'backs') expect(backing.amount_atomic).toBe(row.amount);
        else expect(backing.code).toBe('receipt_not_qualifying');
      }),
    );
    expect(backingOf(null, hands)).toEqual({ kind: 'refused', code: 'receipt_not_on_book' });
  });
});

describe('whether a receipt is of a host', () => {
  it.each([
    ['of this service, by any call here', paid, 'gateway.example', 'signed'],
    ['of the hub that answered, with its port', paid, 'hub.example:8080', 'signed'],
    ['not without it', paid, 'hub.example', null],
    ['of the router, where that answered', { ...paid, hub: 'router' }, 'router.example', 'signed'],
    ['not of a hub that did not answer', { ...paid, hub: 'router' }, 'hub.example:8080', null],
    ['not of a hub that nobody knows any more', { ...paid, hub: 'gone' }, 'gone', null],
    ['of this service, by a stamp of it', { ...paid, hub: 'svc', model: 'register' }, 'gateway.example', 'signed'],
  ] as const)('it is %s', (_, row, host, basis) => {
    expect(hostBasis(row, host, known)).toBe(basis);
  });

  it('of a payment to somebody else its reporter declares it, until whoever was paid has signed it', () => {
    const foreign = { ...paid, evidence: 'foreign_ingest', hub: 'alpha' } as const;
    const of = (resource: string | null, host: string) => hostBasis({ ...foreign, resource }, host, known);
    expect(of('https://shop.example/a', 'shop.example')).toBe('declared');
    expect(of('https://ſhop.example/a', 'shop.example')).toBe('declared');
    const signed = (host: string) =>
      hostBasis({ ...foreign, resource: 'https://shop.example/a', merchant_signed: true }, host, known);
    expect(signed('shop.example')).toBe('signed');
    for (const other of ['gateway.example', 'hub.example:8080', 'shop.example:8443']) expect(signed(other)).toBeNull();
    expect(of('https://shop.example:8443/a', 'shop.example')).toBeNull();
    for (const resource of ['https://gateway.example/v1/x', 'https://hub.example:8080/v1', 'https://router.example/'])
      expect(hostBasis({ ...foreign, resource, merchant_signed: true }, new URL(resource).host, known)).toBe(
        'declared',
      );
    expect(of('https://shop.example.evil.example/', 'shop.example')).toBeNull();
    for (const resource of [null, '', 'shop.example', 'not a url'])
      for (const host of ['shop.example', 'gateway.example', 'hub.example:8080', ''])
        expect(of(resource, host)).toBeNull();
  });
});
