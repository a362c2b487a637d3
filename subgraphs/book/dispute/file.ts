import { canonicalHash, type Json, type JsonObject, present } from '../../../schema/canonical-json.ts';
import { sha256Hex } from '../../../schema/digest.ts';
import type { DisputeClaim } from '../../../schema/dispute/claim.ts';
import { Refusal } from '../../../schema/errors.ts';
import { type AgentId, disputeId } from '../../../schema/ids.ts';
import { disputeLimits } from '../../../schema/limits.ts';
import type { DisputeRequest } from '../../../schema/requests/dispute.ts';
import { iso } from '../../clock.ts';
import { asEntity, asRecord, newRow, selectList } from '../../columns.ts';
import { insertRows, type Tx, updateRow } from '../../database.ts';
import { closeResend, lockOwedAnswer, type OwedAnswer } from '../../receipt/claim/rerun.ts';
import { readsOf } from '../../transaction.ts';
import type { BookContext } from '../context.ts';
import { lockBooks } from '../ledger/append.ts';
import { noteDispute } from '../ledger/dispute.ts';
import { requireHourRoom } from '../ledger/hour-room.ts';
import { writeInTurn } from '../write-in-turn.ts';
import { Dispute } from './dispute.entity.ts';
import { type DisputedRow, type KnownSides, knownSides } from './facts.ts';
import { type Judgement, judgeDispute } from './verdict.ts';

/** Random bytes of an id. */
const ID_BYTES = 10;

type FilingContext = Pick<BookContext, 'database' | 'issuer' | 'clock' | 'random' | 'profile' | 'jobPaidBy'>;
/** A dispute, and whether this request filed it. */
interface FilingOutcome {
  readonly dispute: Dispute;
  readonly filed: boolean;
}
type Claim = Pick<DisputeClaim, 'task_id' | 'claim_type' | 'evidence'>;

/**
 * Files a dispute and judges it by the records at one position of the book. A request with the same row, claim and canonical evidence
 * is for the same dispute: a refund stays, and any other result is judged again and replaced only if it differs. A refund also ends
 * all resends of its payment, in the same transaction and under the lock of that payment. @throws not_found, disputes_full,
 * rate_limited, book_damaged, record_damaged
 */
export async function fileDispute(
  context: FilingContext,
  agent_id: AgentId,
  { task_id, claim_type, evidence = {} }: DisputeRequest,
): Promise<FilingOutcome> {
  const claim = { task_id, claim_type, evidence };
  const write = () => context.database.transaction(tx => fileIn(tx, context, agent_id, claim));
  return writeInTurn(agent_id, write);
}

async function fileIn(tx: Tx, context: FilingContext, agent_id: AgentId, claim: Claim): Promise<FilingOutcome> {
  // Every transaction locks payments before heads of books, so that transactions do not deadlock.
  const owed = await lockOwedAnswer(tx, { agent_id, task_id: claim.task_id });
  const head = (await lockBooks(tx, [agent_id])).get(agent_id);
  if (head === undefined) throw new Refusal('forbidden');
  if (head.damaged) throw new Refusal('book_damaged');
  const evidence_hash = canonicalHash(claim.evidence);
  const before = await filedBefore(tx, { agent_id, claim, evidence_hash });
  if (before?.outcome === 'refund') return { dispute: before, filed: false };
  const { row, sides } = await factsUnder(tx, context, { agent_id, claim, owed });
  if (before === null) await requireDisputeRoom(tx, agent_id, claim);
  const dispute_id = before?.disputeId ?? disputeId(context.clock.now_ms(), context.random.bytes(ID_BYTES));
  const { now_ms, position, event_hash } = head;
  const filed_at = before?.filedAt.toISOString() ?? iso(now_ms);
  const judgement = judgeDispute(context, {
    dispute_id,
    agent_id,
    claim,
    sides,
    as_of: { position, event_hash },
    filed_at,
    now_ms,
    before: before && { hash: sha256Hex(before.verdict), revision: before.revision },
  });
  if (before !== null && !takesPlaceOf(judgement, before)) return { dispute: before, filed: false };
  const { outcome, reason, text: verdict, owed_back, standing_task_id = null, decides_after, revision } = judgement;
  if (outcome === 'refund' && owed !== null) closeResend(tx, owed.claim_key);
  const supersedes = before && sha256Hex(before.verdict);
  const decided = {
    outcome,
    reason,
    verdict,
    judgedAt: new Date(now_ms),
    revision,
    supersedes,
    standingTaskId: standing_task_id,
    decidesAfter: timeOf(decides_after),
    refundOf: owed_back ? String(owed_back.task_id) : null,
    position: noteDispute(tx, head, { ...row, agent_id }, eventBody(dispute_id, claim, judgement, supersedes)),
  };
  // An existing dispute keeps its claim, its evidence and the time it was filed. Only the judgement is replaced.
  if (before !== null) {
    updateRow(tx, 'dispute', ['dispute_id', dispute_id], asRecord(decided), REFUND_IS_FINAL);
    return { dispute: Object.assign(before, decided), filed: false };
  }
  const dispute = newRow(Dispute, {
    disputeId: dispute_id,
    agentId: agent_id,
    seq: row.seq,
    taskId: claim.task_id,
    claimType: claim.claim_type,
    evidenceHash: evidence_hash,
    filedAt: new Date(filed_at),
    ...decided,
  });
  insertRows(tx, 'dispute', [asRecord(dispute)]);
  return { dispute, filed: true };
}

/** Condition of the update: a refund is never overwritten, even if this judgement began before the book was locked. */
const REFUND_IS_FINAL = `stored.outcome is distinct from 'refund'`;

/** A decided dispute is replaced only by another result. An open one is replaced only if its reason or its time changed. */
function takesPlaceOf({ outcome, reason, decides_after }: Judgement, before: Dispute): boolean {
  if (before.outcome === null)
    return reason !== before.reason || timeOf(decides_after)?.getTime() !== before.decidesAfter?.getTime();
  return outcome !== null && outcome !== before.outcome;
}

const timeOf = (value: Json | undefined): Date | null => (typeof value === 'string' ? new Date(value) : null);

async function filedBefore(
  tx: Tx,
  { agent_id, claim, evidence_hash }: { agent_id: AgentId; claim: Claim; evidence_hash: string },
): Promise<Dispute | null> {
  const { rows } = await tx.query<Record<string, unknown>>({
    name: 'dispute of claim',
    text: `select ${selectList(Dispute)} from dispute
      where agent_id = $1 and task_id = $2 and claim_type = $3 and evidence_hash = $4`,
    values: [agent_id, claim.task_id, claim.claim_type, evidence_hash],
  });
  return rows[0] ? asEntity(Dispute, rows[0]) : null;
}

/** Reads the disputed row and the facts of both sides. @throws not_found if the book has no such row */
async function factsUnder(
  tx: Tx,
  { issuer, profile, jobPaidBy }: FilingContext,
  { agent_id, claim, owed }: { agent_id: AgentId; claim: Claim; owed: OwedAnswer | null },
): Promise<{ readonly row: DisputedRow; readonly sides: KnownSides }> {
  const { task_id, evidence } = claim;
  const tasks = { disputed: task_id, other: typeof evidence.task_id === 'string' ? evidence.task_id : null };
  const query = { agent_id, tasks, owed, base_url: issuer.base_url, profile, jobPaidBy };
  const sides = await knownSides(readsOf(tx), query);
  const { row } = sides.disputed;
  if (row === null)
    throw new Refusal('not_found', { detail: 'The book has no row with this task_id.', param: 'task_id' });
  return { row, sides };
}

/** Body of the event that records the judgement. It contains the hash of the whole signed document. */
function eventBody(
  dispute_id: string,
  { claim_type }: Claim,
  { outcome, reason, text, revision }: Judgement,
  supersedes: string | null,
): JsonObject {
  const again = present({ supersedes, revision: supersedes && revision });
  return { ...present({ outcome }), ...again, dispute_id, claim_type, reason, verdict_hash: sha256Hex(text) };
}

const { per_claim_max, filed_per_book_hour_max: max } = disputeLimits;

/**
 * Disputes are free and kept permanently, so their number is limited per claim type of a row, and per book and hour. Call it under the
 * lock of the head. @throws disputes_full, rate_limited
 */
async function requireDisputeRoom(
  tx: Tx,
  agent_id: AgentId,
  { task_id, claim_type }: Pick<DisputeClaim, 'task_id' | 'claim_type'>,
): Promise<void> {
  const { rows } = await tx.query<{ of_claim: number }>({
    name: 'disputes of claim',
    text: `select count(*)::int as of_claim from dispute where agent_id = $1 and task_id = $2 and claim_type = $3`,
    values: [agent_id, task_id, claim_type],
  });
  if ((rows[0]?.of_claim ?? 0) >= per_claim_max) throw new Refusal('disputes_full');
  await requireHourRoom(tx, agent_id, {
    name: 'dispute room',
    at: 'filed_at',
    from: 'dispute where agent_id = $1',
    newest: 'filed_at',
    max,
    detail: `A book accepts at most ${max} disputes per hour.`,
  });
}
