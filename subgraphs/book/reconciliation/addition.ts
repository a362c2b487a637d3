import type { SubgraphAddition } from '../../subgraph.ts';
import { ReconciliationBaseline } from './migration.ts';
import { ReconciledTransfer, StoredReconciliation } from './reconciliation.entity.ts';
import { ReconciliationResolver } from './reconciliation.resolver.ts';

/** Resolvers and tables that reconciliations add to the book subgraph. */
export const reconciliationAddition: SubgraphAddition = {
  entities: [StoredReconciliation, ReconciledTransfer],
  migrations: [ReconciliationBaseline],
  resolvers: [ReconciliationResolver],
};
