import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { agentId } from '../../schema/ids.ts';
import { limits } from '../../schema/limits.ts';
import { correct } from '../../subgraphs/book/index.ts';
import type { Tx } from '../../subgraphs/database.ts';
import {
  forgetClaims,
  type Lease,
  markFinal,
  type PaymentClaim,
  reopen,
  slotsMissed,
  takeExpired,
  takeOrphans,
  tasksOfSettlement,
} from '../../subgraphs/receipt/index.ts';
import { type Authorization, authorizationFromJson } from './base/authorization.ts';
import type { Decision, Transferred } from './base/outcome.ts';
import { searchFrom } from './base/search-from.ts';
import { requestLabel } from './claimed.ts';
import { rememberChain } from './epoch.ts';
import { openHeartbeat } from './heartbeat.ts';
import type { Answered, AnyPaid, Landing, Settled } from './record.ts';
import { type Rechecked, recheckFinalized } from './settle/finality.ts';
import { reconcileSettlement } from './settle/reconcile-settlement.ts';
import { giveUp, record } from './steps.ts';
import type { Till } from './till.ts';

const CLAIMS_PER_ROUND = 64;
const CLAIMS_AT_ONCE = 8;
/** For how long a payment may have been used before the claim that found it used. */
const SEEN_LATE_SECONDS_MAX = 24 * 3600;

/** What is looked after, and how long each rests between two rounds; none waits for another. */
const rounds: readonly { readonly rest_ms: number; run(till: Till): Promise<unknown> }[] = [
  { rest_ms: 1_000, run: till => till.settler.rebroadcast() },
  { rest_ms: 1_000, run: finishOrphans },
  { rest_ms: 1_000, run: lookAtExpired },
  { rest_ms: 5_000, run: till => recheckFinalized(till, noteMoved) },
  { rest_ms: 5_000, run: till => rememberChain(till.database, till.chain, till.chain_epoch) },
  { rest_ms: 600_000, run: till => forgetClaims(till.database, limits.answer_kept_hours) },
];

export interface Reconciler {
  stop(): Promise<void>;
}

/**
 * Finishes what a dead process, a stalled chain or a lost connection left open: at start and on a timer, in every
 * process, each claim by one of them. `log` hears of a round that failed; the next one begins anew.
 */
export async function openReconciler(till: Till, log: (error: unknown) => void): Promise<Reconciler> {
  const heartbeat = await openHeartbeat(till.database, till.owner, log);
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = rounds.map(async ({ rest_ms, run }) => {
    while (!signal.aborted) {
      await run(till).catch(log);
      await sleep(rest_ms, undefined, { signal }).catch(() => {});
    }
  });
  return {
    async stop() {
      stopping.abort();
      await Promise.all(running);
      await heartbeat.stop();
    },
  };
}

async function finishOrphans(till: Till): Promise<void> {
  const orphans = await till.database.transaction(tx => takeOrphans(tx, till.owner, CLAIMS_PER_ROUND));
  await eachApart(orphans, claim => finish(till, claim, leaseOf(claim)));
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
    await giveUp(till, lease, 'process_ended', true);
    return;
  }
  const settlement = await ask(till, claim, claim.settlementId);
  if (settlement.kind === 'transferred') await recordLate(till, claim, lease, settlement);
  else await giveUp(till, lease, settlement.reason, settlement.kind === 'not_transferred');
}

async function ask(till: Till, claim: PaymentClaim, settlement_id: string | null): Promise<Decision> {
  const authorization = authorizationOf(claim);
  const from_block = claim.fromBlock ?? (await searchFrom(till.chain, unusedUntil(claim, authorization)));
  if (from_block === null) return { kind: 'unknown', reason: 'chain_unavailable' };
  return reconcileSettlement(till, { authorization, settlement_id, from_block });
}

/** It was looked at when it was first claimed; before `validAfter` no block can have taken it. */
function unusedUntil({ claimedAt }: PaymentClaim, { valid_after_seconds }: Authorization): number {
  const claimed_seconds = Math.floor(claimedAt.getTime() / 1_000);
  return Math.max(valid_after_seconds, claimed_seconds - SEEN_LATE_SECONDS_MAX);
}

function authorizationOf(claim: PaymentClaim): Authorization {
  const { signature: _, ...stored } = claim.authorization;
  return authorizationFromJson(stored as JsonObject);
}

/** The record that the caller would have got, made from the claim alone. */
async function recordLate(till: Till, claim: PaymentClaim, lease: Lease, transfer: Transferred): Promise<void> {
  try {
    await recordFrom(till, claim, lease, transfer);
  } catch (fault) {
    // Let go of, or it would be held by a process that lives and does nothing about it.
    await giveUp(till, lease, 'not_recorded', false).catch(() => {});
    throw fault;
  }
}

async function recordFrom(till: Till, claim: PaymentClaim, lease: Lease, transfer: Transferred): Promise<void> {
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
    pay_to: authorizationOf(claim).pay_to,
    payment_id: claim.paymentId,
    amount_atomic: claim.amountAtomic,
    reserved_atomic: claim.reservedAtomic,
    landing: claim.landing as Landing,
    transfer,
  };
  await record(till, lease, settled, answer);
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
  const settlement = await ask(till, claim, null);
  if (settlement.kind === 'not_transferred') {
    await till.database.transaction(tx => markFinal(tx, [claim.claimKey]));
  } else if (settlement.kind === 'transferred') {
    const reopened = await till.database.transaction(tx => reopen(tx, claim, till.owner, settlement.block_number));
    if (reopened) await recordLate(till, reopened, leaseOf(reopened), settlement);
  }
}
