import type { JsonObject } from '../../schema/canonical-json.ts';
import type { AnyPaid, Work } from '../../subgraphs/sale.ts';
import type { Charged } from '../../subgraphs/selling.ts';
import type { Found } from '../../subgraphs/stamped-row.ts';
import type { Faults } from '../operations/faults.ts';
import type { Moved } from '../rails/outcome.ts';
import { type Answered, isFound, type Landing, type Settled, workedLanding } from '../record/facts.ts';
import type { RecordCall } from '../record/open-recording.ts';
import type { Claimed } from './claim-request.ts';

export interface RecordParts {
  readonly record: RecordCall;
  readonly faults: Faults | null;
}

/** The record of a call whose payment has moved: of its work, or of a stamp, whose effect the record itself writes. */
export async function recordClaim(
  { record, faults }: RecordParts,
  claimed: Claimed,
  done: Work<JsonObject> | Found<JsonObject> | null,
  transfer: Moved,
): Promise<Charged<JsonObject>> {
  const { claim, lease, payment, rail, task_id, request_hash, paid, args } = claimed;
  const settled: Settled = {
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
  await faults?.reach('before_record');
  const [work, found] = isFound(done) ? [null, done] : [done, null];
  const stamp = paid.order === 'stamp' ? ({ kind: 'stamp', paid, args, found } as const) : null;
  const recorded = await record({ lease, settled, answer: stamp ?? answered(paid, work, transfer) });
  const answer = work?.answer ?? recorded.answer;
  if (answer === null) throw new Error('a recorded claim has an answer');
  return { answer, task_id, settlement_status: 'settled', receipt: recorded.receipt };
}

function answered(paid: AnyPaid, work: Work<JsonObject> | null, transfer: Moved): Answered {
  const sent_by_us = transfer.kind === 'vouched' || transfer.by === 'us';
  const sealed_before = paid.order === 'work_then_settle' && sent_by_us;
  // Cut off by us: as after a crash no answer is kept, so that a resend has the work done once more.
  const cut_off = work?.omission_rule === 'process_ended';
  return work && !sealed_before && !cut_off ? { kind: 'worked', answer: work.answer } : { kind: 'stored' };
}
