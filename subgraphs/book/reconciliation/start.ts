import { checksummedAddress } from '../../../schema/eip55.ts';
import { Refusal } from '../../../schema/errors.ts';
import { type AgentId, reconciliationId } from '../../../schema/ids.ts';
import { reconciliationLimits } from '../../../schema/limits.ts';
import { sumsAsJson, type WalletProvenBy } from '../../../schema/reconciliation.ts';
import { noSums } from '../../../schema/reconciliation-rule.ts';
import type { ReconciliationRequest } from '../../../schema/requests/reconciliation.ts';
import { reconciliationText } from '../../../schema/wallet-receipts.ts';
import { asRecord, newRow } from '../../columns.ts';
import { insertRows, type Tx } from '../../database.ts';
import { addJobs } from '../../jobs.ts';
import { believeWallet, walletFaults } from '../../receipt/receipt/wallet-receipts.ts';
import type { BookContext } from '../context.ts';
import { lockBooks } from '../ledger/append.ts';
import { writeInTurn } from '../write-in-turn.ts';
import { reconciliationJob } from './job.ts';
import { StoredReconciliation } from './reconciliation.entity.ts';

type StartContext = Pick<
  BookContext,
  'database' | 'issuer' | 'base_urls' | 'free_wallets' | 'walletOfAgent' | 'principal' | 'clock' | 'random'
>;

/** Number of random bytes in an id. */
const ID_BYTES = 10;

/**
 * Starts a report. The report and its job are added in one transaction, so neither exists without the other.
 * @throws invalid_request, control_proof_missing, control_proof_invalid, reconciliation_running, rate_limited, book_damaged
 */
export async function startReconciliation(
  context: StartContext,
  agent_id: AgentId,
  request: ReconciliationRequest,
): Promise<StoredReconciliation> {
  requireRange(request);
  const proven = await requireProvenWallet(request, agent_id, context);
  return writeInTurn(agent_id, () =>
    context.database.transaction(tx => startIn(tx, context, agent_id, request, proven)),
  );
}

function requireRange({ from_block, to_block }: ReconciliationRequest): void {
  const { blocks_max } = reconciliationLimits;
  if (to_block >= from_block && to_block - from_block < blocks_max) return;
  throw new Refusal('invalid_request', {
    param: 'to_block',
    detail: `to_block: must be from_block or later, and the range at most ${blocks_max} blocks, both ends included.`,
  });
}

async function startIn(
  tx: Tx,
  { clock, random }: StartContext,
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
  const report = newRow(StoredReconciliation, {
    reportId: reconciliationId(clock.now_ms(), random.bytes(ID_BYTES)),
    agentId: agent_id,
    wallet,
    agentWallet: agent_wallet,
    provenBy: proven_by,
    fromBlock: from_block,
    toBlock: to_block,
    nextBlock: from_block,
    state: 'running',
    pageBlocks: reconciliationLimits.page_blocks_max,
    logSize: rows[0]?.tree_size ?? 0,
    transfers: 0,
    sums: sumsAsJson(noSums),
    askedAt: now,
    movedAt: now,
  });
  insertRows(tx, 'reconciliation', [asRecord(report)]);
  addJobs(tx, [reconciliationJob(report.reportId, 0)]);
  return report;
}

const { per_agent_day_max, kept_per_agent_max, abandoned_seconds } = reconciliationLimits;

interface Room {
  readonly running: string | null;
  readonly recent: number;
  /** Seconds until the oldest report of the last day is a day old. Null if there is none. */
  readonly seconds: number | null;
}

/**
 * Limits reconciliations, because they are free: one per agent at a time, a number per day, and a number kept. Requires the head's
 * lock, so that concurrent requests cannot exceed the limits.
 * @throws reconciliation_running, rate_limited
 */
async function requireReconciliationRoom(tx: Tx, agent_id: AgentId): Promise<void> {
  tx.write({
    name: 'end abandoned reconciliation',
    text: `with abandoned as (
        update reconciliation set state = 'failed', reason = 'interrupted', ended_at = clock_timestamp()
        where agent_id = $1 and state = 'running' and moved_at < statement_timestamp() - make_interval(secs => $2)
        returning report_id)
      delete from reconciliation_transfer where report_id in (select report_id from abandoned)`,
    values: [agent_id, abandoned_seconds],
  });
  const day = `asked_at > statement_timestamp() - interval '1 day'`;
  const { rows } = await tx.query<Room>({
    name: 'room for reconciliation',
    text: `select max(report_id) filter (where state = 'running') as running, count(*) filter (where ${day})::int as recent,
        ceil(extract(epoch from min(asked_at) filter (where ${day}) + interval '1 day' - clock_timestamp()))::int as seconds
      from reconciliation where agent_id = $1`,
    values: [agent_id],
  });
  const { running = null, recent = 0, seconds = null } = rows[0] ?? {};
  if (running !== null) throw new Refusal('reconciliation_running', { facts: { report_id: running } });
  if (recent >= per_agent_day_max)
    throw new Refusal('rate_limited', {
      detail: `An agent can start at most ${per_agent_day_max} reconciliations per day.`,
      facts: { retry_after_seconds: Math.max(1, seconds ?? 1) },
    });
  tx.write({
    name: 'drop old reconciliations',
    text: `delete from reconciliation where report_id in (
      select report_id from reconciliation where agent_id = $1 order by asked_at desc offset $2)`,
    values: [agent_id, kept_per_agent_max - 1],
  });
}

type WalletCheckContext = Pick<BookContext, 'base_urls' | 'free_wallets' | 'walletOfAgent' | 'principal' | 'clock'>;

interface ProvenWallet {
  /** Address in EIP-55 spelling, like `agent_wallet`. */
  readonly wallet: string;
  readonly agent_wallet: string | null;
  readonly proven_by: WalletProvenBy;
}

/**
 * Requires that the wallet is proven. The agentWallet needs no proof beyond possession of the agent; any other wallet must sign a
 * text that names this agent.
 * @throws control_proof_missing, control_proof_invalid, rate_limited; chain_unavailable, unavailable if the chain could not be read
 */
async function requireProvenWallet(
  { wallet: named, signature, signed_at }: ReconciliationRequest,
  agent_id: AgentId,
  { base_urls, free_wallets, walletOfAgent, principal, clock }: WalletCheckContext,
): Promise<ProvenWallet> {
  const wallet = checksummedAddress(named);
  const agent_wallet = await walletOfAgent(agent_id);
  if (signature === undefined || signed_at === undefined) {
    if (wallet === agent_wallet) return { wallet, agent_wallet, proven_by: 'agent_wallet' };
    throw new Refusal('control_proof_missing', {
      param: signature === undefined ? 'signature' : 'signed_at',
      detail: 'signature and signed_at are required for a wallet other than that of the agent.',
    });
  }
  const text = (base_url: string, address: string, at_seconds: number) =>
    reconciliationText(base_url, agent_id, address, at_seconds);
  const believing = { wallets: free_wallets, base_urls, text, now_ms: clock.now_ms(), asker: principal.address };
  const believed = await believeWallet({ wallet, signature, signed_at }, believing);
  if (believed.kind === 'proven') return { wallet, agent_wallet, proven_by: 'signature' };
  const { code, ...said } = walletFaults[believed.kind];
  throw new Refusal(code, said);
}
