import {
  ReconciledTransferNoun,
  ReconciliationNoun,
  ReconciliationReportNoun,
} from '../../schema/book/reconciliation.ts';
import { ReconciliationPath, ReconciliationRequest } from '../../schema/requests/reconciliation.ts';
import { nameComponents } from '../answer-shapes.ts';
import { documentDoor } from '../door.ts';
import { AgentPath } from './doors.ts';

nameComponents({
  Reconciliation: ReconciliationNoun,
  ReconciliationReport: ReconciliationReportNoun,
  ReconciledTransfer: ReconciledTransferNoun,
});

/** Transfers of a wallet on its chain, compared with the receipts and books of this service. */
export const reconciliationDoors = [
  documentDoor({
    name: 'start_reconciliation',
    effect: 'adds',
    methods: ['POST'],
    path: '/v1/agents/{agent_id}/book/reconciliation',
    summary:
      'Start a reconciliation: a signed report on each USDC transfer that a wallet sent in a range of blocks of Base',
    tags: ['book'],
    possession: 'required',
    status: 202,
    field: 'startReconciliation',
    params: AgentPath,
    body: ReconciliationRequest,
    response: ReconciliationNoun,
    errors: [
      'control_proof_missing',
      'control_proof_invalid',
      'reconciliation_running',
      'chain_unavailable',
      'unavailable',
      'book_damaged',
    ],
  }),
  documentDoor({
    name: 'get_reconciliation',
    methods: ['GET'],
    path: '/v1/agents/{agent_id}/book/reconciliation/{report_id}',
    summary: 'Get the progress of a reconciliation and, when it is done, the signed report',
    tags: ['book'],
    possession: 'required',
    field: 'reconciliation',
    params: AgentPath.extend(ReconciliationPath.shape),
    response: ReconciliationNoun,
    errors: ['not_found', 'book_damaged'],
  }),
] as const;
