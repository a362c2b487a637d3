import { Refusal } from '../../../schema/errors.ts';
import { type AgentId, reconciliationId } from '../../../schema/ids.ts';
import { reconciliationLimits } from '../../../schema/limits.ts';
import { sumsAsJson } from '../../../schema/reconciliation.ts';
import { noSums } from '../../../schema/reconciliation-rule.ts';
import type { ReconciliationRequest } from '../../../schema/requests/reconciliation.ts';
import { asEntity, asRecord } from '../../columns.ts';
import { insertRows, type Tx } from '../../database.ts';
import { addJobs } from '../../jobs.ts';
import type { BookContext } from '../context.ts';
import { lockBooks } from '../ledger/append.ts';
import { writeInTurn } from '../write-in-turn.ts';
import { reconciliationJob } from './job.ts';
import { StoredReconciliation } from './reconciliation.entity.ts';
import { requireReconciliationRoom } from './room.ts';
import { type ProvenWallet, requireProvenWallet } from './wallet-proof.ts';

type Starting = Pick<
  BookContext,
  'database' | 'issuer' | 'base_urls' | 'free_wallets' | 'walletOfAgent' | 'principal' | 'clock' | 'random'
>;

/** Of its id. */
const ID_BYTES = 10;

/**
 * Asks for a report of what a wallet sent; a job makes it, which is there if and only if the report is.
 * @throws invalid_request, control_proof_missing, control_proof_invalid, reconciliation_running, rate_limited, book_damaged
 */
export async function startReconciliation(
  context: Starting,
  agent_id: AgentId,
  asked: ReconciliationRequest,
): Promise<StoredReconciliation> {
  requireRange(asked);
  const proven = await requireProvenWallet(asked, agent_id, context);
  return writeInTurn(agent_id, () => context.database.transaction(tx => startIn(tx, context, agent_id, asked, proven)));
}

function requireRange({ from_block, to_block }: ReconciliationRequest): void {
  const { blocks_max } = reconciliationLimits;
  if (to_block >= from_block && to_block - from_block < blocks_max) return;
  throw new Refusal('invalid_request', {
    param: 'to_block',
    detail: `to_block: is from_block or a later one, ${blocks_max} blocks at most with both ends`,
  });
}

async function startIn(
  tx: Tx,
  { clock, random }: Starting,
  agent_id: AgentId,
  { from_block, to_block }: ReconciliationRequest,
  { wallet, agent_wallet, proven_by }: ProvenWallet,
): Promise<StoredReconciliation> {
  const head = (await lockBooks(tx, [agent_id])).get(agent_id);
  if (head === undefined) throw new Refusal('forbidden');
  if (head.damaged) throw new Refusal('book_damaged');
  await requireReconciliationRoom(tx, agent_id);
  const { rows } = await tx.query<{ tree_size: number }>({
    name: 'log size of reconciliation',
    text: 'select tree_size from log_head',
  });
  const now = new Date(head.now_ms);
  const report = asEntity(StoredReconciliation, {
    reportId: reconciliationId(clock.now_ms(), random.bytes(ID_BYTES)),
    agentId: agent_id,
    wallet,
    agentWallet: agent_wallet,
    provenBy: proven_by,
    fromBlock: from_block,
    toBlock: to_block,
    nextBlock: from_block,
    fromHash: null,
    toHash: null,
    state: 'running',
    reason: null,
    pageBlocks: reconciliationLimits.page_blocks_max,
    logSize: rows[0]?.tree_size ?? 0,
    transfers: 0,
    sums: sumsAsJson(noSums),
    askedAt: now,
    movedAt: now,
    endedAt: null,
    document: null,
  });
  insertRows(tx, 'reconciliation', [asRecord(report)]);
  addJobs(tx, [reconciliationJob(report.reportId, 0)]);
  return report;
}
