import {
  type ReconciliationFault,
  type ReconciliationState,
  reconciliationFaults,
  type WalletProvenBy,
} from '../../../schema/reconciliation.ts';
import { graphEnum } from '../../graph-enum.ts';

/* Words of reconciliations, as the graph's enums. */

export const ReconciliationStateWord = graphEnum<ReconciliationState>(
  'ReconciliationState',
  'Where a reconciliation stands.',
  { running: 'Blocks are read.', done: 'The report is signed.', failed: 'There is no report: `reason` says why.' },
);

export const ReconciliationFaultWord = graphEnum<ReconciliationFault>(
  'ReconciliationFault',
  'Why there is no report.',
  reconciliationFaults,
);

export const WalletProvenByWord = graphEnum<WalletProvenBy>('WalletProvenBy', 'By what the wallet is the asker’s.', {
  agent_wallet: 'It is the wallet of the agent.',
  signature: 'It has signed.',
});
