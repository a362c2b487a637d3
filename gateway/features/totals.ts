import { totalsAddition } from '../../subgraphs/receipt/totals/addition.ts';
import { keepTotals } from '../../subgraphs/receipt/totals/integrate.ts';
import { indexPayments, noteSeen, totalsFigures } from '../../subgraphs/receipt/totals/payments.ts';
import { lookInTime, SCRAPE_MS_MAX } from '../operations/metrics.ts';
import type { Feature } from './feature.ts';

/** Between two statements over a log that grows all the time. */
const REST_MS = 2_000;

/** What the books came to and which receipt each payment backs, stated a moment after it stands in the log. */
export const totalsFeature: Feature = {
  name: 'totals',
  adds: { receipt: totalsAddition },
  periodic: parts => [
    { name: 'totals', rest_ms: REST_MS, run: signal => keepTotals(parts, signal).then(() => undefined) },
  ],
  /** An alarm: `svc_totals_conflicts` is 1 where one payment backs two receipts. */
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
  arrived: noteSeen,
  indexPayments,
};
