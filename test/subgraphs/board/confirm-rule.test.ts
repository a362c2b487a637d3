import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AtomicAmount } from '../../../schema/amount.ts';
import { hostBasis } from '../../../subgraphs/board/backing.ts';
import { type Confirming, confirmFault } from '../../../subgraphs/board/reaction/confirm-rule.ts';
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
  merchant_signed: fc.boolean(),
});
const confirming: fc.Arbitrary<Confirming> = fc.record({
  author: fc.constantFrom(1, 2),
  confirmer: fc.constantFrom(1, 2),
  endpoint_host: fc.constantFrom('svc.example', 'alpha.example', 'shop.example'),
  row: fc.option(row),
  report_payers: fc.array(wallet, { maxLength: 2 }),
});

it('a confirm that nothing speaks against is somebody else’s, of other money that was seen to be paid, at that host', () => {
  fc.assert(
    fc.property(confirming, given => {
      if (confirmFault(given, known) !== null) return;
      const { row: cited, report_payers } = given;
      expect(given.author).not.toBe(given.confirmer);
      expect(cited?.collected).toBe(true);
      expect(cited?.amount).toBe(2000n);
      expect(['collected', 'foreign_ingest']).toContain(cited?.evidence);
      expect(cited && hostBasis(cited, given.endpoint_host, known)).not.toBeNull();
      const spelt = (address: string) => (address.startsWith('0x') ? address.toLowerCase() : address);
      expect(report_payers.map(spelt)).not.toContain(spelt(cited?.payer_wallet ?? ''));
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
