import { totalsAddition } from '../../subgraphs/receipt/totals/addition.ts';
import { keepTotals } from '../../subgraphs/receipt/totals/integrate.ts';
import { indexPayments, noteTransfer, totalsFigures } from '../../subgraphs/receipt/totals/payments.ts';
import { lookInTime, SCRAPE_MS_MAX } from '../operations/metrics.ts';
import type { Feature } from './feature.ts';

/** Pause between two statements of totals while the log grows. */
const REST_MS = 2_000;

/** Adds totals of books, and the receipt that each payment backs. They are stated shortly after a receipt is in the log. */
export const totalsFeature: Feature = {
  name: 'totals',
  adds: { receipt: totalsAddition },
  periodic: parts => [
    { name: 'totals', rest_ms: REST_MS, run: signal => keepTotals(parts, signal).then(() => undefined) },
  ],
  /** Adds metrics. An alert should be set on `svc_totals_conflicts`: it is 1 if a payment backs two receipts. */
  watch(metrics, database) {
    const look = (figure: 'leaves' | 'conflicts') => async () => {
      const seen = await lookInTime(totalsFigures(database), SCRAPE_MS_MAX);
      return seen ? ([[{}, seen[figure]]] as const) : [];
    };
    metrics.watch(
      'svc_totals_leaves',
      'Leaves of the log that the newest statement of totals covers',
      [],
      look('leaves'),
    );
    metrics.watch(
      'svc_totals_conflicts',
      'Payments that two receipts name; no statement of totals is signed while there are any',
      [],
      look('conflicts'),
    );
  },
  onArrival: noteTransfer,
  indexPayments,
};
