import { atomicAmount } from '../../schema/amount.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { Refusal } from '../../schema/errors.ts';
import { agentId } from '../../schema/ids.ts';
import { voidReservations } from '../../subgraphs/book/ledger/reserve.ts';
import { DatabaseAway } from '../../subgraphs/outage.ts';
import { type Lease } from '../../subgraphs/receipt/claim/claim.ts';
import { type Abandoned, abandonClaim } from '../../subgraphs/receipt/claim/transitions.ts';
import { HubFailed } from '../../subgraphs/receipt/inference/answer.paid.ts';
import type { Charged, Work } from '../../subgraphs/sale.ts';
import type { Moved, NotTransferred, SettleOutcome, Transferred } from '../rails/outcome.ts';
import type { Payment } from '../rails/payment.ts';
import { railOf } from '../rails/rail.ts';
import { type ClaimItem, commitSettling } from '../rails/settler.ts';
import { prepareRecord } from '../record/forms.ts';
import {
  type Answered,
  type AnyPaid,
  answerLabel,
  type Landing,
  type Recorded,
  type Recording,
  type Settled,
} from '../record/recorder.ts';
import type { Claimed } from './claim-request.ts';
import { hearsOf } from './hears.ts';
import { hasCostUs } from './require-rested.ts';
import type { Till } from './till.ts';
import { transactionIn } from './transaction-sent.ts';

/** How much the world may have changed when a call breaks off. */
export type Standing = 'nothing_moved' | 'may_have_moved' | 'moved';

export type SettledClaim =
  | { readonly kind: 'transferred'; readonly standing: Standing; readonly transfer: Moved }
  | { readonly kind: 'refused'; readonly standing: Standing; readonly refusal: Refusal };

/** What is in hand when the payment is sent: the whole answer, or as yet nothing but where it comes from. */
export type InHand = Pick<Work<JsonObject>, 'route'> & Partial<Work<JsonObject>>;

/** Moves the money, or finds out why it did not move. The chain's word decides; a time-out decides nothing. */
export async function settleClaim(till: Till, claimed: Claimed, in_hand: InHand | null): Promise<SettledClaim> {
  // It could not be recorded: nothing is taken for it. What was sent before is found out by whoever sent it.
  if (till.log.halt)
    return {
      kind: 'refused',
      standing: 'nothing_moved',
      refusal: new Refusal('unavailable', { facts: { charged: false } }),
    };
  const { paid, task_id } = claimed;
  const answer_box = in_hand?.answer ? sealAnswer(till, task_id, in_hand.answer) : null;
  const { settler } = railOf(till, claimed.claim.network);
  const settlement = await settler.settle({ ...claimItem(claimed), answer_box, worked: workedLanding(in_hand) });
  switch (settlement.kind) {
    case 'transferred':
      return moved(settlement);
    case 'vouched':
      // A stamp's effect cannot be taken back: it is written for money that was seen, and for no less.
      return paid.order === 'stamp'
        ? refused(till, paid, { ...settlement, kind: 'unknown', reason: 'not_mined' })
        : moved(settlement);
    default:
      return refused(till, paid, settlement);
  }
}

function refused(till: Till, paid: AnyPaid, outcome: Exclude<SettleOutcome, Moved>): SettledClaim {
  const standing = outcome.kind === 'unknown' ? 'may_have_moved' : 'nothing_moved';
  return { kind: 'refused', standing, refusal: hearsOf(till, paid, outcome) };
}

export function moved(transfer: Moved): SettledClaim {
  return { kind: 'transferred', standing: 'moved', transfer };
}

/**
 * Somebody else has submitted the payment: there is nothing to send, but the claim must say that the money has moved
 * before any work is done for it, or a hub that fails would make it look unpaid.
 */
export async function adoptTransfer(till: Till, claimed: Claimed, { block_number }: Transferred): Promise<void> {
  const item = { ...claimItem(claimed), answer_box: null, worked: {} };
  const sending = { settlement_id: null, from_block: block_number, replaces: [] };
  const moved = await till.database.transaction(tx => commitSettling(tx, [item], sending));
  if (!moved.has(item.claim_key)) throw new Refusal('settlement_pending');
}

function claimItem({ lease, payment }: Claimed): Payment & Pick<ClaimItem, 'claim_key' | 'lease'> {
  const { authorization, signature } = payment;
  return { claim_key: lease.claim_key, lease, authorization, signature } as Payment & typeof lease & { lease: Lease };
}

export function sealAnswer(till: Till, task_id: string, answer: JsonObject): Buffer {
  return till.vault.seal(JSON.stringify(answer), answerLabel(task_id));
}

export function workedLanding(in_hand: InHand | null): Partial<Landing> & JsonObject {
  if (in_hand === null) return {};
  const { route, output_sha256 = null, omission_rule = null, fetched_there = false } = in_hand;
  const { model, hub } = route;
  return { model, hub, output_sha256, omission_rule, ...(fetched_there ? { vendor_blind: false } : {}) };
}

/** Row, receipt, leaf and head in one commit; then the head outside the database, and the answer to the caller. */
export async function recordClaim(
  till: Till,
  claimed: Claimed,
  work: Work<JsonObject> | null,
  transfer: Moved,
): Promise<Charged<JsonObject>> {
  const { claim, lease, payment, task_id, request_hash, paid, args } = claimed;
  const settled: Settled = {
    task_id,
    request_hash,
    agent_id: claim.agent_id,
    network: claim.network,
    payer: claim.payer,
    pay_to: payment.authorization.pay_to,
    payment_id: claim.payment_id,
    amount_atomic: claim.amount_atomic,
    reserved_atomic: claim.reserved_atomic,
    landing: { ...(claim.landing as Landing), ...workedLanding(work) },
    transfer,
  };
  await till.faults.reach('before_record');
  const recorded = await record(till, lease, settled, answered(paid, args, work, transfer));
  const answer = work?.answer ?? recorded.answer;
  if (answer === null) throw new Error('a recorded claim has an answer');
  return { answer, task_id, settlement_status: 'settled', receipt: recorded.receipt };
}

function answered(paid: AnyPaid, args: JsonObject, work: Work<JsonObject> | null, transfer: Moved): Answered {
  if (paid.order === 'stamp') return { kind: 'stamp', paid, args };
  const sent_by_us = transfer.kind === 'vouched' || transfer.by === 'us';
  const sealed_before = paid.order === 'work_then_settle' && sent_by_us;
  // Cut off by us: as after a crash no answer is kept, so that a resend has the work done once more.
  const cut_off = work?.omission_rule === 'process_ended';
  return work && !sealed_before && !cut_off ? { kind: 'worked', answer: work.answer } : { kind: 'stored' };
}

/** The way into the record for what was paid, for the caller who waited and for reconcile alike. */
export function record(till: Till, lease: Lease, settled: Settled, answer: Answered): Promise<Recorded> {
  return enterRecord(till, { lease, settled, prepared: prepareRecord(till, settled), answer });
}

/** The one way into the record, whether a payment moved or a key stood in for it. */
export async function enterRecord(till: Till, recording: Recording): Promise<Recorded> {
  const recorded = await till.queues.record.submit(recording);
  till.known_log.committed(recorded.tree_head);
  await till.faults.reach('after_record');
  await till.saved_head.save(recorded.tree_head);
  return recorded;
}

/**
 * A call that broke off: its claim is released where nothing moved and let go of where something may have. What the
 * caller hears follows what the claim says, not what we hoped: after money may have moved, never "pay again". A claim
 * that is lost was taken over while this process slept; what the other one did with it we cannot know.
 */
export async function abandon(till: Till, claimed: Claimed, standing: Standing, error: unknown): Promise<Refusal> {
  const { lease, task_id, claim, payment } = claimed;
  const reason = reasonOf(error);
  const by_caller = error instanceof HubFailed && error.by_caller;
  if (by_caller) till.failures.tried(claim.payer, (claim.landing as Landing).paid_from_mark);
  if (reason === REVERTED && hasCostUs(till, payment)) till.failures.reverted(claim.payer);
  const left = await letGo(till, lease, { reason, by_caller, definite: standing === 'nothing_moved' });
  const released = left === null ? standing === 'nothing_moved' : left.kind === 'released';
  const facts = { retry_after_seconds: 2, task_id, ...transactionIn(error) };
  if (!released || standing === 'moved') return new Refusal('settlement_pending', { cause: error, facts });
  if (error instanceof Refusal && !(error instanceof DatabaseAway)) return error;
  const code = error instanceof DatabaseAway ? 'unavailable' : 'internal';
  return new Refusal(code, { cause: error, facts: { charged: false } });
}

/** The chain took it and did not move it, though it had passed every check. */
const REVERTED: NotTransferred['reason'] = 'reverted';

/** Of a payment that was not taken the word that its caller hears: another of that payer's may depend on it. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Refusal)) return 'internal';
  return error.code === 'payment_rejected' ? error.message : error.code;
}

/** Why a claim is given up. `definite`: nothing has moved. `by_caller`: by the request itself, or by its router key. */
export interface GivingUp {
  readonly reason: string;
  readonly definite: boolean;
  readonly by_caller?: boolean;
}

/** Gives up now, or else as soon as the database allows; null where that is still to come. */
export async function letGo(till: Till, lease: Lease, why: GivingUp): Promise<Abandoned | null> {
  // It has gone back: a claim that is `claimed` there may have been sent. It stays as it is, for reconcile, later.
  if (till.log.halt) return null;
  try {
    return await giveUp(till, lease, why);
  } catch {
    till.owed.add(() => giveUp(till, lease, why));
    return null;
  }
}

/** Releases or lets go, and gives the book back what was held on it, in one transaction. */
export function giveUp(till: Till, lease: Lease, { reason, definite, by_caller }: GivingUp): Promise<Abandoned> {
  return till.database.transaction(async tx => {
    const left = await abandonClaim(tx, lease, reason, definite, by_caller);
    if (left.kind === 'released' && left.agent_id !== null && left.reserved_atomic > 0n) {
      await voidReservations(tx, [{ agent_id: agentId(left.agent_id), amount: atomicAmount(left.reserved_atomic) }]);
    }
    return left;
  });
}
