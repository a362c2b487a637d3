import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { agentId, type TaskId, taskId } from '../../schema/ids.ts';
import { limits } from '../../schema/limits.ts';
import { correct } from '../../subgraphs/book/ledger/correct.ts';
import { forgetHours } from '../../subgraphs/book/ledger/repeated-events.ts';
import type { Tx } from '../../subgraphs/database.ts';
import { type PaymentClaim } from '../../subgraphs/receipt/claim/claim.entity.ts';
import { type Lease, slotsMissed } from '../../subgraphs/receipt/claim/claim.ts';
import { forgetClaims } from '../../subgraphs/receipt/claim/forget.ts';
import { forgetKeyCalls } from '../../subgraphs/receipt/claim/key-call/hold.ts';
import { forgetNames } from '../../subgraphs/receipt/claim/key-call/idempotent.ts';
import {
  markFinal,
  reopen,
  takeExpired,
  takeOrphans,
  tasksOfSettlement,
} from '../../subgraphs/receipt/claim/transitions.ts';
import { forgetUsed } from '../../subgraphs/session/possession/forget-used.ts';
import { requestLabel } from '../charge/claim-request.ts';
import { giveUp, letGo, record } from '../charge/settle-claim.ts';
import type { Till } from '../charge/till.ts';
import type { Rechecked } from '../rails/finality.ts';
import type { Decision, Moved, NotTransferred, Unknown, Vouched } from '../rails/outcome.ts';
import { type Payment, paymentFromJson } from '../rails/payment.ts';
import { openRails, type Rail, railOf, type SentPayment } from '../rails/rail.ts';
import { keepBlocked, tellCounts } from '../record/blocked-too-often.ts';
import type { Answered, AnyPaid, Landing, Settled } from '../record/recorder.ts';
import { lookForArrivals } from './arrivals.ts';
import { type Heartbeat, openHeartbeat } from './heartbeat.ts';

const CLAIMS_PER_ROUND = 64;
const CLAIMS_AT_ONCE = 8;

interface Round {
  readonly name: string;
  readonly rest_ms: number;
  /** Goes on while the log is halted: all others write what a database that has gone back says of payments. */
  readonly while_halted?: true;
  run(till: Till, heartbeat: Heartbeat): Promise<unknown>;
}

/** What is looked after, and how long each rests between two rounds; none waits for another. */
const rounds: readonly Round[] = [
  { name: 'owed', rest_ms: 1_000, run: till => till.owed.pay() },
  { name: 'rebroadcast', rest_ms: 1_000, run: till => onEachRail(till, rail => rail.settler.rebroadcast()) },
  { name: 'orphans', rest_ms: 1_000, run: finishOrphans },
  { name: 'expired', rest_ms: 1_000, run: lookAtExpired },
  { name: 'arrivals', rest_ms: 1_000, run: lookForArrivals },
  { name: 'finality', rest_ms: 5_000, run: till => onEachRail(till, rail => rail.recheck(noteMoved)) },
  { name: 'chain', rest_ms: 5_000, while_halted: true, run: till => onEachRail(till, rail => rail.look()) },
  { name: 'used once', rest_ms: 60_000, run: till => forgetUsed(till.database) },
  { name: 'counts', rest_ms: 5_000, run: tellCounts },
  { name: 'key calls', rest_ms: 10_000, run: till => forgetKeyCalls(till.database) },
  { name: 'named calls', rest_ms: 10_000, run: till => forgetNames(till.database) },
  { name: 'forget', rest_ms: 600_000, run: forget },
];

async function forget({ database }: Till): Promise<void> {
  await forgetClaims(database, {
    answer_hours: limits.answer_kept_hours,
    lapsed_seconds: limits.claim_forgotten_after_seconds,
    reverted_seconds: limits.wallet_reverted_rest_seconds,
  });
  await forgetHours(database);
}

export interface Reconciler {
  readonly heartbeat: Pick<Heartbeat, 'beating' | 'clock_off_ms'>;
  stop(): Promise<void>;
}

/**
 * Finishes what a dead process, a stalled chain or a lost connection left open: at start and on a timer, in every
 * process, each claim by one of them. `log` hears of a round that failed; the next one begins anew. `ended` hears of
 * every round.
 */
export async function openReconciler(
  till: Till,
  log: (error: unknown) => void,
  ended: (round: string, outcome: 'done' | 'failed') => void = () => {},
): Promise<Reconciler> {
  const heartbeat = await openHeartbeat(till.database, till.owner, log);
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = rounds.map(async ({ name, rest_ms, while_halted, run }) => {
    while (!signal.aborted) {
      if (while_halted || !till.log.halt)
        await run(till, heartbeat).then(
          () => ended(name, 'done'),
          error => {
            ended(name, 'failed');
            log(error);
          },
        );
      await sleep(rest_ms, undefined, { signal }).catch(() => {});
    }
  });
  return {
    heartbeat,
    async stop() {
      stopping.abort();
      await Promise.all(running);
      // Where the database is away they are lost, as with a kill.
      if (!till.log.halt) await keepBlocked(till).catch(log);
      await heartbeat.stop();
    },
  };
}

/** A chain that is away keeps no other waiting. */
async function onEachRail(till: Till, round: (rail: Rail) => Promise<unknown>): Promise<void> {
  const done = await Promise.allSettled(openRails(till).map(round));
  const faults = done.flatMap(one => (one.status === 'rejected' ? [one.reason] : []));
  if (faults.length > 0) throw faults.length === 1 ? faults[0] : new AggregateError(faults);
}

async function finishOrphans(till: Till, heartbeat: Heartbeat): Promise<void> {
  if (!heartbeat.steady()) return;
  const orphans = await till.database.transaction(tx => takeOrphans(tx, till.owner, CLAIMS_PER_ROUND));
  await eachApart(orphans, claim => orLetGo(till, leaseOf(claim), lease => finish(till, claim, lease)));
}

async function lookAtExpired(till: Till): Promise<void> {
  const expired = await till.database.transaction(tx => takeExpired(tx, CLAIMS_PER_ROUND));
  await eachApart(expired, claim => lastLook(till, claim));
}

/** A few at a time; one that cannot be finished keeps none of the others open. */
async function eachApart(claims: readonly PaymentClaim[], look: (claim: PaymentClaim) => Promise<void>): Promise<void> {
  const faults: unknown[] = [];
  const waiting = [...claims];
  await Promise.all(
    Array.from({ length: CLAIMS_AT_ONCE }, async () => {
      for (let claim = waiting.shift(); claim; claim = waiting.shift())
        await look(claim).catch(fault => faults.push(fault));
    }),
  );
  if (faults.length > 0) throw new AggregateError(faults, `${faults.length} payments could not be reconciled`);
}

/** A reorganisation took a settlement out of the block that a receipt was given for: the rows say so. */
async function noteMoved(tx: Tx, { settlement_id, kind }: Rechecked): Promise<void> {
  const task_ids = await tasksOfSettlement(tx, settlement_id);
  await correct(
    tx,
    task_ids.map(task_id => ({ task_id, body: { reason: `settlement_${kind}` } })),
  );
}

function leaseOf({ claimKey, leaseOwner, leaseEpoch }: PaymentClaim): Lease {
  return { claim_key: claimKey, lease_owner: leaseOwner ?? '', lease_epoch: leaseEpoch };
}

/** Nothing was sent for a claim that never began to settle: it is released. For the others the chain decides. */
async function finish(till: Till, claim: PaymentClaim, lease: Lease): Promise<void> {
  if (claim.state === 'claimed') {
    await giveUp(till, lease, { reason: 'process_ended', definite: true });
    return;
  }
  const settlement = await ask(till, claim, sentOf(claim));
  const moved = settlement.kind === 'unknown' ? await vouchedFor(till, claim) : settlement;
  if (moved?.kind === 'transferred' || moved?.kind === 'vouched') await recordLate(till, claim, lease, moved);
  else if (settlement.kind !== 'transferred')
    await giveUp(till, lease, { reason: settlement.reason, definite: settlement.kind === 'not_transferred' });
}

/** As for a caller who waits: a stamp's effect is written for money that was seen, and for no less. */
async function vouchedFor(till: Till, claim: PaymentClaim): Promise<Vouched | null> {
  if (till.sold.get(claim.field)?.order === 'stamp') return null;
  return railOf(till, claim.network).vouch(paymentOf(claim), sentOf(claim));
}

function ask(till: Till, claim: PaymentClaim, sent: SentPayment): Promise<Decision> {
  return railOf(till, claim.network).decide(paymentOf(claim), sent);
}

function sentOf({ settlementId, fromBlock, claimedAt }: PaymentClaim): SentPayment {
  return { settlement_id: settlementId, from_block: fromBlock, claimed_at: claimedAt };
}

function paymentOf({ authorization }: PaymentClaim): Payment {
  return paymentFromJson(authorization);
}

/** What cannot be finished is let go of, or it would be held by a process that lives and does nothing about it. */
async function orLetGo(till: Till, lease: Lease, work: (lease: Lease) => Promise<void>): Promise<void> {
  try {
    await work(lease);
  } catch (fault) {
    await letGo(till, lease, { reason: 'not_finished', definite: false });
    throw fault;
  }
}

/** The record that the caller would have got, made from the claim alone. */
async function recordLate(till: Till, claim: PaymentClaim, lease: Lease, transfer: Moved): Promise<void> {
  const paid = till.sold.get(claim.field);
  if (!paid) throw new Error(`claim ${claim.taskId} pays for ${claim.field}, which is not sold here`);
  const answer = await answerOf(till, claim, paid);
  const landed = claim.agentId === null ? null : agentId(claim.agentId);
  const settled: Settled = {
    task_id: claim.taskId,
    request_hash: claim.requestHash,
    // The book that an effectless stamp would have opened is not there; its payer's is.
    agent_id: paid.order === 'stamp' && answer.kind === 'stored' ? await till.agentOfWallet(claim.payer) : landed,
    network: claim.network,
    payer: claim.payer,
    pay_to: paymentOf(claim).authorization.pay_to,
    payment_id: claim.paymentId,
    amount_atomic: claim.amountAtomic,
    reserved_atomic: claim.reservedAtomic,
    landing: landingOf(claim, paid),
    transfer,
  };
  await record(till, lease, settled, answer);
}

/** Nothing is committed to that nobody has: the answer was in the memory of a process, or was thrown away with its claim. */
function landingOf({ landing, answerBox, reason }: PaymentClaim, { order }: AnyPaid): Landing {
  const kept = landing as Landing;
  if (order === 'stamp' || answerBox !== null) return kept;
  return { ...kept, output_sha256: null, omission_rule: reason === null ? 'process_ended' : 'no_output' };
}

/**
 * A stamp's effect is written only while its claim holds what it must be alone in holding. One that was let go of and
 * submitted by somebody else afterwards may find its wallet registered meanwhile: the money has a receipt all the same.
 */
async function answerOf(till: Till, claim: PaymentClaim, paid: AnyPaid): Promise<Answered> {
  if (paid.order !== 'stamp') return { kind: 'stored' };
  const request = till.vault.open(claim.requestBox, requestLabel(claim.claimKey)).toString('utf8');
  const args = JSON.parse(request) as JsonObject;
  const payer = { network: claim.network, wallet: claim.payer };
  const wanted = (paid.slots?.(args, payer) ?? []).map(slot => ({ slot, claim_key: claim.claimKey }));
  const missed = await till.database.transaction(tx => slotsMissed(tx, wanted));
  return missed.length === 0 ? { kind: 'stamp', paid, args } : { kind: 'stored' };
}

/** The payment has expired: unless somebody used it after we let go of it, its release is final. */
async function lastLook(till: Till, claim: PaymentClaim): Promise<void> {
  // Our own transaction failed long ago; what counts is what the chain says now.
  const settlement = await ask(till, claim, { ...sentOf(claim), settlement_id: null });
  if (settlement.kind === 'not_transferred' || isTraceless(claim, settlement)) {
    if (await canChange(till, claim, settlement.reason)) return;
    await till.database.transaction(tx => markFinal(tx, claim));
  } else if (settlement.kind === 'transferred') {
    const reopened = await till.database.transaction(tx =>
      reopen(tx, claim, till.owner, settlement.block_number, taskOf(till, claim)),
    );
    if (reopened) await orLetGo(till, leaseOf(reopened), lease => recordLate(till, reopened, lease, settlement));
  }
}

/** Its nonce was spent before it could be used, says a search of all that time; a last one has found nothing either. */
function isTraceless({ reason }: PaymentClaim, settlement: Decision): settlement is Unknown {
  return reason === 'used_otherwise' && settlement.kind === 'unknown' && settlement.reason === 'chain_inconsistent';
}

/** A newest block that comes after its time may yet give way to one that comes before it, and takes the payment. */
async function canChange(
  till: Till,
  claim: PaymentClaim,
  reason: (NotTransferred | Unknown)['reason'],
): Promise<boolean> {
  const depends_on_time = reason === 'expired' || reason === 'chain_inconsistent';
  return depends_on_time && !(await railOf(till, claim.network).isOver(paymentOf(claim)));
}

/** The task that a book refused stands on its row as refused; what was paid for after all is another. */
function taskOf({ clock, random }: Till, claim: PaymentClaim): TaskId {
  return claim.refusalId === null ? claim.taskId : taskId(clock.now_ms(), random.bytes(10));
}
