import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AtomicAmount } from '../../../schema/amount.ts';
import { hostBasis } from '../../../subgraphs/board/backing.ts';
import { type ConfirmFacts, confirmFault } from '../../../subgraphs/board/reaction/confirm-rule.ts';
import type { CitedRow } from '../../../subgraphs/book/page/cited-row.ts';

const known = {
  ours: 'svc.example',
  hostOfHub: (name: string) => (name === 'alpha' ? 'alpha.example' : null),
  isHubHost: (host: string) => host === 'alpha.example',
};
const wallet = fc.constantFrom('0xAb', '0xaB', '0xcd', 'Sol1', 'sol1');
const row: fc.Arbitrary<CitedRow> = fc.record({
  evidence: fc.constantFrom('collected', 'foreign_ingest', 'UNVERIFIED', 'RECORDED_BY_SETTLE'),
  collected: fc.boolean(),
  amount: fc.constantFrom(null, 0n as AtomicAmount, 2000n as AtomicAmount),
  rail: fc.constant('usdc'),
  hub: fc.constantFrom('alpha', 'beta', null),
  model: fc.constant('m'),
  resource: fc.constantFrom(null, 'https://shop.example/x'),
  payer_wallet: fc.option(wallet),
  pay_to: fc.option(wallet),
  merchant_signed: fc.boolean(),
});
const confirming: fc.Arbitrary<ConfirmFacts> = fc.record({
  author: fc.constantFrom(1, 2),
  confirmer: fc.constantFrom(1, 2),
  endpoint_host: fc.constantFrom('svc.example', 'alpha.example', 'shop.example'),
  row: fc.option(row),
  report_wallets: fc.array(wallet, { maxLength: 2 }),
  hands: fc.record({ own_wallet: fc.option(wallet), treasuries: fc.array(wallet, { maxLength: 1 }) }),
});

it('a confirm that nothing speaks against is somebody else’s, of other money that was seen to be paid, at that host', () => {
  fc.assert(
    fc.property(confirming, given => {
      if (confirmFault(given, known) !== null) return;
      const { row: cited, report_wallets, hands } = given;
      expect(given.author).not.toBe(given.confirmer);
      expect(cited?.collected).toBe(true);
      expect(cited?.amount).toBe(2000n);
      expect(['collected', 'foreign_ingest']).toContain(cited?.evidence);
      expect(cited && hostBasis(cited, given.endpoint_host, known)).not.toBeNull();
      const spelt = (address: string) => (address.startsWith('0x') ? address.toLowerCase() : address);
      for (const wallet of [cited?.payer_wallet, hands.own_wallet]) {
        expect(report_wallets.map(spelt)).not.toContain(spelt(wallet ?? ''));
        if (cited?.pay_to && wallet) expect(spelt(wallet)).not.toBe(spelt(cited.pay_to));
      }
    }),
    { numRuns: 1_000 },
  );
});

it('an author never confirms their own, whatever the receipt', () => {
  fc.assert(
    fc.property(confirming, given => {
      expect(confirmFault({ ...given, confirmer: given.author }, known)).toBe('self_confirm');
    }),
  );
});

it('who confirms comes before what the receipt is worth, once it is on the book', () => {
  fc.assert(
    fc.property(confirming, wallet, fc.boolean(), (given, theirs, own) => {
      fc.pre(given.author !== given.confirmer);
      const row = given.row && { ...given.row, payer_wallet: own ? given.row.payer_wallet : theirs };
      const hands = { ...given.hands, own_wallet: own ? theirs : given.hands.own_wallet };
      const fault = confirmFault({ ...given, row, hands, report_wallets: [theirs] }, known);
      expect(fault).toBe(row === null ? 'receipt_not_on_book' : 'related_confirm');
    }),
  );
});
