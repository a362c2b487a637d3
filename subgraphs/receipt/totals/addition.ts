import type { SubgraphAddition } from '../../subgraph.ts';
import { TotalsBaseline } from './migration.ts';
import { TotalsBook, TotalsNode, TotalsPage, TotalsRow, TotalsSeen, TotalsState } from './totals.entity.ts';
import { TotalsResolver } from './totals.resolver.ts';
import { TotalsUnplacedPayments } from './unplaced-payments.ts';

/** What proven totals add to receipts. */
export const totalsAddition: SubgraphAddition = {
  entities: [TotalsState, TotalsSeen, TotalsRow, TotalsBook, TotalsNode, TotalsPage],
  migrations: [TotalsBaseline, TotalsUnplacedPayments],
  resolvers: [TotalsResolver],
};
