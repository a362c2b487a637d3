import type { SubgraphAddition } from '../../subgraph.ts';
import { TotalsBaseline } from './migration.ts';
import { TotalsBook, TotalsNode, TotalsPage, TotalsRow, TotalsSeen, TotalsState } from './totals.entity.ts';
import { TotalsResolver } from './totals.resolver.ts';
import { TotalsUnplacedPayments } from './unplaced-payments.ts';

/** The parts that proven totals add to the subgraph of receipts. */
export const totalsAddition: SubgraphAddition = {
  entities: [TotalsState, TotalsSeen, TotalsRow, TotalsBook, TotalsNode, TotalsPage],
  migrations: [TotalsBaseline, TotalsUnplacedPayments],
  resolvers: [TotalsResolver],
};
