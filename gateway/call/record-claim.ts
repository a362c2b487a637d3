import { type JsonObject } from '../../schema/canonical-json.ts';
import { type ChargedAnswer } from '../../subgraphs/charge-port.ts';
import { type AnyPaid, type Work } from '../../subgraphs/sale.ts';
import { type StampFact } from '../../subgraphs/stamped-row.ts';
import { type RecordableOutcome } from '../rails/outcome.ts';
import { type CallParts } from './parts.ts';
import { type AnswerSource, isFound, type Landing, type SettledFacts, workedLanding } from './record/facts.ts';
import { rerunsLeft } from './replay.ts';
import { type Claimed } from './states.ts';

/** Records a call whose payment has moved, with its work. For a stamp, the record itself writes its effect. */
export async function recordClaim(
  { record, faults }: Pick<CallParts, 'record' | 'faults'>,
  claimed: Claimed,
  done: Work<JsonObject> | StampFact<JsonObject> | null,
  transfer: RecordableOutcome,
): Promise<ChargedAnswer<JsonObject>> {
  const { lease, task_id, paid, args } = claimed;
  const settled = settledOf(claimed, done, transfer);
  await faults?.reach('before_record');
  const [work, found] = isFound(done) ? [null, done] : [done, null];
  const stamp = paid.order === 'stamp' ? ({ kind: 'stamp', paid, args, found } as const) : null;
  const reruns_left = work === null ? 0 : rerunsLeft(work.end, 0);
  const recorded = await record({ lease, settled, answer: stamp ?? answered(paid, work, transfer, reruns_left > 0) });
  const answer = work?.answer ?? recorded.answer;
  if (answer === null) throw new Error('a recorded claim has an answer');
  return { answer, task_id, settlement_status: 'settled', receipt: recorded.receipt, reruns_left };
}

/** Records a payment that somebody else has moved, and for which no work is done now: its answer is owed. */
export async function recordUnanswered(
  { record }: Pick<CallParts, 'record' | 'faults'>,
  claimed: Claimed,
  transfer: RecordableOutcome,
): Promise<void> {
  const settled = settledOf(claimed, null, transfer);
  await record({ lease: claimed.lease, settled, answer: { kind: 'stored' } });
}

function settledOf(
  { claim, payment, rail, task_id, request_hash }: Claimed,
  done: Work<JsonObject> | StampFact<JsonObject> | null,
  transfer: RecordableOutcome,
): SettledFacts {
  return {
    task_id,
    request_hash,
    agent_id: claim.agent_id,
    network: claim.network,
    chain_epoch: rail.chain_epoch,
    payer: claim.payer,
    pay_to: payment.authorization.pay_to,
    payment_id: claim.payment_id,
    amount_atomic: claim.amount_atomic,
    reserved_atomic: claim.reserved_atomic,
    landing: { ...(claim.landing as Landing), ...workedLanding(done) },
    transfer,
  };
}

/**
 * The source of the answer that is stored.
 * @param is_owed whether a resend may return the whole answer. Then the partial answer is not stored, as after a crash
 */
function answered(
  paid: AnyPaid,
  work: Work<JsonObject> | null,
  transfer: RecordableOutcome,
  is_owed: boolean,
): AnswerSource {
  const sent_by_us = transfer.kind === 'vouched' || transfer.by === 'us';
  const sealed_before = paid.order === 'work_then_settle' && sent_by_us;
  return work && !sealed_before && !is_owed ? { kind: 'worked', answer: work.answer } : { kind: 'stored' };
}
