import type { JsonObject } from '../../schema/canonical-json.ts';
import { type AgentId, agentId, type TaskId } from '../../schema/ids.ts';
import type { Clock, Random } from '../../subgraphs/clock.ts';
import type { Database, Tx } from '../../subgraphs/database.ts';
import { newTask } from '../../subgraphs/new-task.ts';
import { type PaymentClaim } from '../../subgraphs/receipt/claim/claim.entity.ts';
import type { Lease } from '../../subgraphs/receipt/claim/claim.ts';
import type { SeenArrival } from '../../subgraphs/receipt/claim/doubt.ts';
import { slotsMissed } from '../../subgraphs/receipt/claim/slots.ts';
import { markFinal, reopen, takeExpired, takeOrphans } from '../../subgraphs/receipt/claim/transitions.ts';
import type { AnyPaid } from '../../subgraphs/sale.ts';
import type { Found } from '../../subgraphs/stamped-row.ts';
import type { Vault } from '../../subgraphs/vault.ts';
import { requestLabel } from '../charge/claim-request.ts';
import type { GivingUp } from '../charge/give-up.ts';
import type { LogStanding } from '../log/open-log.ts';
import type { Decision, Moved, NotTransferred, Unknown, Vouched } from '../rails/outcome.ts';
import { type Payment, paymentFromJson } from '../rails/payment.ts';
import { type Rail, type SentPayment, sentOf } from '../rails/rail.ts';
import { type Answered, foundLabel, type Landing, type Settled } from '../record/facts.ts';
import { keepLeg, type MovedLeg } from '../record/keep-leg.ts';
import type { RecordCall } from '../record/open-recording.ts';

const CLAIMS_PER_ROUND = 64;
const CLAIMS_AT_ONCE = 8;
const UNRECONCILED = 'some payments could not be reconciled';

/** What it takes to finish the call of a process that is gone, from its claim alone. */
export interface FinishParts {
  readonly database: Database;
  railOf(claim: Pick<PaymentClaim, 'network'>): Pick<Rail, 'chain_epoch' | 'decide' | 'vouch' | 'isOver'>;
  readonly giving_up: GivingUp;
  readonly log: Pick<LogStanding, 'halt' | 'signs'>;
  /** Looks whether the log extends what was signed, and halts this process where it does not. */
  proveLog(): Promise<void>;
  readonly record: RecordCall;
  readonly vault: Pick<Vault, 'open'>;
  /** Everything that is sold, by field: with it a stamp whose process died is finished. */
  readonly sold: ReadonlyMap<string, AnyPaid>;
  /** This process, as its lease and its claims name it. */
  readonly owner: string;
  readonly clock: Clock;
  readonly random: Random;
  agentOfWallet(wallet: string): Promise<AgentId | null>;
  /** What features beyond the specification write where the money of a call that a facilitator vouched for was seen. */
  readonly arrived: readonly ((tx: Tx, seen: SeenArrival) => void)[];
}

/**
 * Claims whose process let its lease end: each is finished by one process. In a database that has gone back every lease has
 * ended, and what it says of payments is old: so the log is looked at first, and after the leases were taken, since they do
 * not stand in a database that goes back later.
 */
export async function finishOrphans(parts: FinishParts): Promise<void> {
  if (!parts.log.signs) return;
  const orphans = await takeOrphans(parts.database, parts.owner, CLAIMS_PER_ROUND);
  if (orphans.length > 0) await parts.proveLog();
  if (parts.log.halt) return;
  const end = (claim: PaymentClaim) => orLetGo(parts, leaseOf(claim), lease => finish(parts, claim, lease));
  await eachApart(orphans, CLAIMS_AT_ONCE, end, UNRECONCILED);
}

/** Claims that were let go of and have run out of time since: a last look, and they are final. */
export async function lookAtExpired(parts: FinishParts): Promise<void> {
  if (!parts.log.signs) return;
  return whileFull(CLAIMS_PER_ROUND, async () => {
    const expired = await takeExpired(parts.database, CLAIMS_PER_ROUND);
    await eachApart(expired, CLAIMS_AT_ONCE, claim => lastLook(parts, claim), UNRECONCILED);
    return expired.length;
  });
}

/** So many at a time; one that fails keeps none of the others waiting. `failed`: what could not be done, as an error says it. */
export async function eachApart<T>(
  items: readonly T[],
  at_once: number,
  look: (item: T) => Promise<unknown>,
  failed: string,
): Promise<void> {
  const faults: unknown[] = [];
  const waiting = [...items];
  await Promise.all(
    Array.from({ length: at_once }, async () => {
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift())
        await look(item).catch(fault => faults.push(fault));
    }),
  );
  if (faults.length > 0) throw new AggregateError(faults, `${faults.length} ${failed}`);
}

function leaseOf({ claimKey, leaseOwner, leaseEpoch }: PaymentClaim): Lease {
  return { claim_key: claimKey, lease_owner: leaseOwner ?? '', lease_epoch: leaseEpoch };
}

/** Nothing was sent for a claim that never began to settle: it is released. For the others the chain decides. */
async function finish(parts: FinishParts, claim: PaymentClaim, lease: Lease): Promise<void> {
  if (claim.state === 'claimed') {
    await parts.giving_up.giveUp(lease, { reason: 'process_ended', definite: true });
    return;
  }
  const settlement = await ask(parts, claim, sentOf(claim));
  const moved = settlement.kind === 'unknown' ? await vouchedFor(parts, claim) : settlement;
  if (moved?.kind === 'transferred' || moved?.kind === 'vouched') await recordLate(parts, claim, lease, moved);
  else if (settlement.kind !== 'transferred')
    await parts.giving_up.giveUp(lease, { reason: settlement.reason, definite: settlement.kind === 'not_transferred' });
}

/** As for a caller who waits: a stamp's effect is written for money that was seen, and for no less. */
async function vouchedFor(parts: FinishParts, claim: PaymentClaim): Promise<Vouched | null> {
  if (isWrittenByTheRecord(parts, claim)) return null;
  return parts.railOf(claim).vouch(paymentOf(claim), sentOf(claim));
}

function isWrittenByTheRecord({ sold }: FinishParts, { field }: PaymentClaim): boolean {
  return ['stamp', 'leg'].includes(sold.get(field)?.order ?? '');
}

function ask(parts: FinishParts, claim: PaymentClaim, sent: SentPayment): Promise<Decision> {
  return parts.railOf(claim).decide(paymentOf(claim), sent);
}

function paymentOf({ authorization }: PaymentClaim): Payment {
  return paymentFromJson(authorization);
}

/** What cannot be finished is let go of, or it would be held by a process that lives and does nothing about it. */
async function orLetGo(parts: FinishParts, lease: Lease, work: (lease: Lease) => Promise<void>): Promise<void> {
  try {
    await work(lease);
  } catch (fault) {
    await parts.giving_up.letGo(lease, { reason: 'not_finished', definite: false });
    throw fault;
  }
}

/** The record that the caller would have got, made from the claim alone. */
async function recordLate(parts: FinishParts, claim: PaymentClaim, lease: Lease, transfer: Moved): Promise<void> {
  const paid = parts.sold.get(claim.field);
  if (!paid) throw new Error(`claim ${claim.taskId} pays for ${claim.field}, which is not sold here`);
  const answer = await answerOf(parts, claim, paid);
  if (answer.kind === 'leg') {
    const { authorization } = paymentOf(claim);
    const leg = { ...answer.leg, task_id: claim.taskId, lease, authorization, transfer };
    await keepLeg({ database: parts.database, faults: null }, leg);
    return;
  }
  const landed = claim.agentId === null ? null : agentId(claim.agentId);
  const settled: Settled = {
    task_id: claim.taskId,
    request_hash: claim.requestHash,
    // The book that an effectless stamp would have opened is not there; its payer's is.
    agent_id: paid.order === 'stamp' && answer.kind === 'stored' ? await parts.agentOfWallet(claim.payer) : landed,
    network: claim.network,
    chain_epoch: parts.railOf(claim).chain_epoch,
    payer: claim.payer,
    pay_to: paymentOf(claim).authorization.pay_to,
    payment_id: claim.paymentId,
    amount_atomic: claim.amountAtomic,
    reserved_atomic: claim.reservedAtomic,
    landing: landingOf(claim, paid),
    transfer,
  };
  await parts.record({ lease, settled, answer });
}

/** Nothing is committed to that nobody has: the answer was in the memory of a process, or was thrown away with its claim. */
function landingOf({ landing, answerBox, reason }: PaymentClaim, { order }: AnyPaid): Landing {
  const kept = landing as Landing;
  if (order === 'stamp' || order === 'leg' || answerBox !== null) return kept;
  return {
    ...kept,
    output_sha256: null,
    output_covers: null,
    omission_rule: reason === null ? 'process_ended' : 'no_output',
  };
}

/** Nothing is recorded yet. */
interface LegAnswer {
  readonly kind: 'leg';
  readonly leg: Pick<MovedLeg, 'paid' | 'args'>;
}

/**
 * A stamp's effect is written only while its claim holds what it must be alone in holding. One that was let go of and
 * submitted by somebody else afterwards may find its wallet registered meanwhile: the money has a receipt all the same.
 */
async function answerOf(parts: FinishParts, claim: PaymentClaim, paid: AnyPaid): Promise<Answered | LegAnswer> {
  if (paid.order !== 'stamp' && paid.order !== 'leg') return { kind: 'stored' };
  const request = parts.vault.open(claim.requestBox, requestLabel(claim.claimKey)).toString('utf8');
  const args = JSON.parse(request) as JsonObject;
  const payer = { network: claim.network, wallet: claim.payer };
  const found = paid.order === 'leg' ? null : foundBy(parts, claim);
  if (paid.order === 'stamp' && paid.find && found === null) return { kind: 'stored' };
  const slots = [...(paid.slots?.(args, payer) ?? []), ...(found?.slots ?? [])];
  const wanted = slots.map(slot => ({ slot, claim_key: claim.claimKey }));
  const missed = await parts.database.transaction(tx => slotsMissed(tx, wanted));
  if (missed.length > 0) return { kind: 'stored' };
  return paid.order === 'leg' ? { kind: 'leg', leg: { paid, args } } : { kind: 'stamp', paid, args, found };
}

/** What it had found before its payment was sent: nobody is asked again. Null where it looks for nothing, or had let go of it. */
function foundBy({ vault }: FinishParts, { answerBox, taskId }: PaymentClaim): Found<JsonObject> | null {
  if (answerBox === null) return null;
  return JSON.parse(vault.open(answerBox, foundLabel(taskId)).toString('utf8')) as Found<JsonObject>;
}

/** The payment has expired: unless somebody used it after we let go of it, its release is final. */
async function lastLook(parts: FinishParts, claim: PaymentClaim): Promise<void> {
  // Our own transaction failed long ago; what counts is what the chain says now.
  const settlement = await ask(parts, claim, { ...sentOf(claim), settlement_id: null });
  if (settlement.kind === 'not_transferred' || isTraceless(claim, settlement)) {
    if (await canChange(parts, claim, settlement.reason)) return;
    await parts.database.transaction(tx => markFinal(tx, claim));
  } else if (settlement.kind === 'transferred' && isLeg(parts, claim) && claim.refusalId !== null) {
    // Its payee is paid for other things, too, and for this its book did not let it pay.
    await parts.database.transaction(tx => markFinal(tx, claim));
  } else if (settlement.kind === 'transferred') {
    const reopened = await parts.database.transaction(tx =>
      reopen(tx, claim, parts.owner, settlement.block_number, taskOf(parts, claim)),
    );
    if (reopened) await orLetGo(parts, leaseOf(reopened), lease => recordLate(parts, reopened, lease, settlement));
  }
}

/** Its nonce was spent before it could be used, says a search of all that time; a last one has found nothing either. */
function isTraceless({ reason }: PaymentClaim, settlement: Decision): settlement is Unknown {
  return reason === 'used_otherwise' && settlement.kind === 'unknown' && settlement.reason === 'chain_inconsistent';
}

function isLeg({ sold }: FinishParts, { field }: PaymentClaim): boolean {
  return sold.get(field)?.order === 'leg';
}

/** A newest block that comes after its time may yet give way to one that comes before it, and takes the payment. */
async function canChange(
  parts: FinishParts,
  claim: PaymentClaim,
  reason: (NotTransferred | Unknown)['reason'],
): Promise<boolean> {
  // Whom a leg pays could still use it where any of this is undone: another one waits until it cannot be.
  const depends_on_time = isLeg(parts, claim) || reason === 'expired' || reason === 'chain_inconsistent';
  return depends_on_time && !(await parts.railOf(claim).isOver(paymentOf(claim)));
}

/** The task that a book refused stands on its row as refused; what was paid for after all is another. */
function taskOf(parts: FinishParts, claim: PaymentClaim): TaskId {
  return claim.refusalId === null ? claim.taskId : newTask(parts);
}

/** Well within what a periodic job may take, with the last of its batches. */
const ROUND_MS_MAX = 10_000;

/**
 * Batch after batch as long as each is full, for a while: a round is one job of the fleet, so that what comes in faster than a
 * batch for each rest would pile up for ever. `batch` resolves with how many it took, each of which it does not take again at once.
 */
export async function whileFull(batch_max: number, batch: () => Promise<number>): Promise<void> {
  const until_ms = performance.now() + ROUND_MS_MAX;
  while ((await batch()) >= batch_max && performance.now() < until_ms);
}
