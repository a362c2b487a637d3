import type { JsonObject } from '../../schema/canonical-json.ts';
import { type AgentId, agentId, type TaskId } from '../../schema/ids.ts';
import type { Clock, Random } from '../../subgraphs/clock.ts';
import type { Database, Tx } from '../../subgraphs/database.ts';
import { newTask } from '../../subgraphs/new-task.ts';
import { type PaymentClaim } from '../../subgraphs/receipt/claim/claim.entity.ts';
import type { Lease } from '../../subgraphs/receipt/claim/claim.ts';
import type { SeenArrival } from '../../subgraphs/receipt/claim/doubt.ts';
import { takeFreeSlots } from '../../subgraphs/receipt/claim/slots.ts';
import { markFinal, reopen, takeExpired, takeOrphans } from '../../subgraphs/receipt/claim/transitions.ts';
import type { AnyPaid } from '../../subgraphs/sale.ts';
import type { StampFact } from '../../subgraphs/stamped-row.ts';
import type { Vault } from '../../subgraphs/vault.ts';
import { requestLabel } from '../call/claim/take.ts';
import { giveUpClaim, letClaimGo } from '../call/give-up.ts';
import { keepLeg, type MovedLeg } from '../call/held-leg.ts';
import { type AnswerSource, foundLabel, type Landing, type SettledFacts } from '../call/record/facts.ts';
import type { RecordCall } from '../call/record/open-recording.ts';
import type { ReleaseLater } from '../call/release-later.ts';
import type { LogStanding } from '../log/open-log.ts';
import type { Decision, NotTransferred, RecordableOutcome, Unknown, Vouched } from '../rails/outcome.ts';
import { type Payment, paymentFromJson } from '../rails/payment.ts';
import { type Rail, type SentPayment, sentOf } from '../rails/rail.ts';

const CLAIMS_PER_ROUND = 64;
const CLAIMS_AT_ONCE = 8;
const UNRECONCILED = 'some payments could not be reconciled';

/** What is needed to finish the call of a dead process from its claim alone. */
export interface FinishParts {
  readonly database: Database;
  railOf(claim: Pick<PaymentClaim, 'network'>): Pick<Rail, 'chain_epoch' | 'decide' | 'vouch' | 'isOver'>;
  readonly later: ReleaseLater;
  readonly log: Pick<LogStanding, 'halt' | 'signs'>;
  /** Checks whether the log extends the signed heads, and halts this process if it does not. */
  proveLog(): Promise<void>;
  readonly record: RecordCall;
  readonly vault: Pick<Vault, 'open'>;
  /** All paid operations by field, to finish stamps of a dead process. */
  readonly sold: ReadonlyMap<string, AnyPaid>;
  /** Owner name of this process in leases and claims. */
  readonly owner: string;
  readonly clock: Clock;
  readonly random: Random;
  agentOfWallet(wallet: string): Promise<AgentId | null>;
  /** Listeners of features, called when the chain shows a payment that a facilitator had reported. */
  readonly arrived: readonly ((tx: Tx, seen: SeenArrival) => void)[];
}

/**
 * Finishes claims whose lease has ended; each claim is finished by one process. If the database was restored to an earlier state, all
 * leases have ended and the stored payments are outdated. So the log is checked before the leases are taken, and proven again afterwards,
 * in case the database is restored in between.
 */
export async function finishOrphans(parts: FinishParts): Promise<void> {
  if (!parts.log.signs) return;
  const orphans = await takeOrphans(parts.database, parts.owner, CLAIMS_PER_ROUND);
  if (orphans.length > 0) await parts.proveLog();
  if (parts.log.halt) return;
  const end = (claim: PaymentClaim) => orLetGo(parts, leaseOf(claim), lease => finish(parts, claim, lease));
  await runEach(orphans, CLAIMS_AT_ONCE, end, UNRECONCILED);
}

/** Takes a last look at released claims whose payments have expired. They become final. */
export async function lookAtExpired(parts: FinishParts): Promise<void> {
  if (!parts.log.signs) return;
  return repeatWhileFull(CLAIMS_PER_ROUND, async () => {
    const expired = await takeExpired(parts.database, CLAIMS_PER_ROUND);
    await runEach(expired, CLAIMS_AT_ONCE, claim => lastLook(parts, claim), UNRECONCILED);
    return expired.length;
  });
}

/** Runs `look` for each item, a limited number at a time. A failure does not stop the others. `failed`: message of the combined error. */
export async function runEach<T>(
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

/** Finishes one claim. If it never began to settle, nothing was sent, so it is released. For others the chain decides. */
async function finish(parts: FinishParts, claim: PaymentClaim, lease: Lease): Promise<void> {
  if (claim.state === 'claimed') {
    await giveUpClaim(parts, lease, { reason: 'process_ended', definite: true });
    return;
  }
  const settlement = await ask(parts, claim, sentOf(claim));
  const moved = settlement.kind === 'unknown' ? await vouchedFor(parts, claim) : settlement;
  if (moved?.kind === 'transferred' || moved?.kind === 'vouched') await recordLate(parts, claim, lease, moved);
  else if (settlement.kind !== 'transferred')
    await giveUpClaim(parts, lease, { reason: settlement.reason, definite: settlement.kind === 'not_transferred' });
}

/**
 * The outcome that the rail vouches for if the chain does not show it. Null if there is none, and for a stamp, which takes effect only for
 * money that was seen, as for a waiting caller.
 */
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

/**
 * Runs the work on a claim, and ends this process's lease on it if the work fails. Otherwise a living process would hold the claim without
 * acting.
 */
async function orLetGo(parts: FinishParts, lease: Lease, work: (lease: Lease) => Promise<void>): Promise<void> {
  try {
    await work(lease);
  } catch (fault) {
    await letClaimGo(parts, lease, { reason: 'not_finished', definite: false });
    throw fault;
  }
}

/** Makes the record that the caller's own process would have made, from the claim alone. */
async function recordLate(
  parts: FinishParts,
  claim: PaymentClaim,
  lease: Lease,
  transfer: RecordableOutcome,
): Promise<void> {
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
  const settled: SettledFacts = {
    task_id: claim.taskId,
    request_hash: claim.requestHash,
    // A stamp without effect has not opened its book. Its payer may have another book.
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

/**
 * Landing of a claim. No hash is signed of an answer that no longer exists because it was only in memory, or was deleted with its claim.
 */
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

/** A first payment, for which nothing is recorded yet. */
interface LegAnswer {
  readonly kind: 'leg';
  readonly leg: Pick<MovedLeg, 'paid' | 'args'>;
}

/**
 * The answer to record. A stamp takes effect only if its claim can hold its slots: after a release, its wallet may have been registered in
 * the meantime. The money has a receipt in any case.
 */
async function answerOf(parts: FinishParts, claim: PaymentClaim, paid: AnyPaid): Promise<AnswerSource | LegAnswer> {
  if (paid.order !== 'stamp' && paid.order !== 'leg') return { kind: 'stored' };
  const request = parts.vault.open(claim.requestBox, requestLabel(claim.claimKey)).toString('utf8');
  const args = JSON.parse(request) as JsonObject;
  const payer = { network: claim.network, wallet: claim.payer };
  const found = paid.order === 'leg' ? null : foundBy(parts, claim);
  if (paid.order === 'stamp' && paid.find && found === null) return { kind: 'stored' };
  const slots = [...(paid.slots?.(args, payer) ?? []), ...(found?.slots ?? [])];
  const wanted = slots.map(slot => ({ slot, claim_key: claim.claimKey }));
  const missed = await parts.database.transaction(tx => takeFreeSlots(tx, wanted));
  if (missed.length > 0) return { kind: 'stored' };
  return paid.order === 'leg' ? { kind: 'leg', leg: { paid, args } } : { kind: 'stamp', paid, args, found };
}

/**
 * The fact that a stamp found before its payment was sent, so that nothing is looked up again. Null if the stamp looks up nothing, or was
 * released.
 */
function foundBy({ vault }: FinishParts, { answerBox, taskId }: PaymentClaim): StampFact<JsonObject> | null {
  if (answerBox === null) return null;
  return JSON.parse(vault.open(answerBox, foundLabel(taskId)).toString('utf8')) as StampFact<JsonObject>;
}

/** Looks at a claim whose payment has expired. The release becomes final unless the payment was used after it. */
async function lastLook(parts: FinishParts, claim: PaymentClaim): Promise<void> {
  // The transaction of this service failed long ago, so only the current state of the chain counts.
  const settlement = await ask(parts, claim, { ...sentOf(claim), settlement_id: null });
  if (settlement.kind === 'not_transferred' || isTraceless(claim, settlement)) {
    if (await canChange(parts, claim, settlement.reason)) return;
    await parts.database.transaction(tx => markFinal(tx, claim));
  } else if (settlement.kind === 'transferred' && isLeg(parts, claim) && claim.refusalId !== null) {
    // A refused first payment stays refused: its payee also receives other payments, and the poster's book refused this call.
    await parts.database.transaction(tx => markFinal(tx, claim));
  } else if (settlement.kind === 'transferred') {
    const reopened = await parts.database.transaction(tx =>
      reopen(tx, claim, parts.owner, settlement.block_number, taskOf(parts, claim)),
    );
    if (reopened) await orLetGo(parts, leaseOf(reopened), lease => recordLate(parts, reopened, lease, settlement));
  }
}

/**
 * Whether no trace of the payment can be found: a search of all blocks found that its nonce was used before the payment was valid, and the
 * last search found nothing either.
 */
function isTraceless({ reason }: PaymentClaim, settlement: Decision): settlement is Unknown {
  return reason === 'used_otherwise' && settlement.kind === 'unknown' && settlement.reason === 'chain_inconsistent';
}

function isLeg({ sold }: FinishParts, { field }: PaymentClaim): boolean {
  return sold.get(field)?.order === 'leg';
}

/**
 * Whether the outcome may still change, because the newest block after the expiry may be replaced by an earlier one that includes the
 * payment.
 */
async function canChange(
  parts: FinishParts,
  claim: PaymentClaim,
  reason: (NotTransferred | Unknown)['reason'],
): Promise<boolean> {
  // The payee of a first payment could still use it if the blocks that decide were replaced, so the next payment waits until they cannot
  // be.
  const depends_on_time = isLeg(parts, claim) || reason === 'expired' || reason === 'chain_inconsistent';
  return depends_on_time && !(await parts.railOf(claim).isOver(paymentOf(claim)));
}

/** Task id of the record. A refused task stays refused on its row, so a payment that moved in the end gets another task. */
function taskOf(parts: FinishParts, claim: PaymentClaim): TaskId {
  return claim.refusalId === null ? claim.taskId : newTask(parts);
}

/** Time limit of a round, well below that of a periodic job, the last batch included. */
const ROUND_MS_MAX = 10_000;

/**
 * Runs batches while each is full, for a limited time. Otherwise work that arrives faster than one batch per pause would accumulate.
 * `batch` resolves with its size, and must not take the same items again at once.
 */
export async function repeatWhileFull(batch_max: number, batch: () => Promise<number>): Promise<void> {
  const until_ms = performance.now() + ROUND_MS_MAX;
  while ((await batch()) >= batch_max && performance.now() < until_ms);
}
