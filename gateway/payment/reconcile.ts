import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { type AgentId, agentId } from '../../schema/ids.ts';
import { limits } from '../../schema/limits.ts';
import { correct } from '../../subgraphs/book/index.ts';
import type { Tx } from '../../subgraphs/database.ts';
import {
  endLease,
  forgetAnswers,
  type Lease,
  markFinal,
  type PaymentClaim,
  renewLease,
  reopen,
  takeExpired,
  takeOrphans,
  tasksOfSettlement,
} from '../../subgraphs/receipt/index.ts';
import { type Authorization, authorizationFromJson } from './authorization.ts';
import { requestLabel } from './claimed.ts';
import { rememberChain } from './epoch.ts';
import { type Rechecked, recheckFinalized } from './finality.ts';
import type { Decision, Transferred } from './outcome.ts';
import { reconcileSettlement } from './reconcile-settlement.ts';
import type { Landing, Settled } from './record.ts';
import { searchFrom } from './search-from.ts';
import { giveUp, record } from './steps.ts';
import type { Till } from './till.ts';

const HEARTBEAT_MS = 2_000;
const CLAIMS_PER_ROUND = 64;

/** What is looked after, and how long each rests between two rounds. */
const rounds: readonly { readonly rest_ms: number; run(till: Till): Promise<unknown> }[] = [
  { rest_ms: 1_000, run: reconcileClaims },
  { rest_ms: 5_000, run: till => recheckFinalized(till, noteMoved) },
  { rest_ms: 5_000, run: till => rememberChain(till.database, till.chain, till.chain_epoch) },
  { rest_ms: 600_000, run: till => forgetAnswers(till.database, limits.answer_kept_hours) },
];

export interface Reconciler {
  stop(): Promise<void>;
}

/**
 * Finishes what a dead process, a stalled chain or a lost connection left open: at start and on a timer, in every
 * process, each claim by one of them. `log` hears of a round that failed; the next one begins anew.
 */
export async function openReconciler(till: Till, log: (error: unknown) => void): Promise<Reconciler> {
  await renewLease(till.database, till.owner);
  const heart = setInterval(() => void renewLease(till.database, till.owner).catch(log), HEARTBEAT_MS);
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
      clearInterval(heart);
      await endLease(till.database, till.owner);
    },
  };
}

/** One look at every payment that is open. */
async function reconcileClaims(till: Till): Promise<void> {
  await till.settler.rebroadcast();
  const orphans = await till.database.transaction(tx => takeOrphans(tx, till.owner, CLAIMS_PER_ROUND));
  const unfinished = await eachApart(orphans, claim => finish(till, claim, leaseOf(claim)));
  const expired = await till.database.transaction(tx => takeExpired(tx, CLAIMS_PER_ROUND));
  const unseen = await eachApart(expired, claim => lastLook(till, claim));
  const faults = [...unfinished, ...unseen];
  if (faults.length > 0) throw new AggregateError(faults, `${faults.length} payments could not be reconciled`);
}

/** One that cannot be finished keeps none of the others open. */
async function eachApart(
  claims: readonly PaymentClaim[],
  look: (claim: PaymentClaim) => Promise<void>,
): Promise<readonly unknown[]> {
  const faults: unknown[] = [];
  for (const claim of claims) await look(claim).catch(fault => faults.push(fault));
  return faults;
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
  const from_block = claim.fromBlock ?? (await searchFrom(till.chain, authorization));
  if (from_block === null) return { kind: 'unknown', reason: 'chain_unavailable' };
  return reconcileSettlement(till, { authorization, settlement_id, from_block });
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
  const agent_id: AgentId | null = claim.agentId === null ? null : agentId(claim.agentId);
  const settled: Settled = {
    task_id: claim.taskId,
    request_hash: claim.requestHash,
    agent_id,
    network: claim.network,
    payer: claim.payer,
    pay_to: authorizationOf(claim).pay_to,
    payment_id: claim.paymentId,
    amount_atomic: claim.amountAtomic,
    reserved_atomic: claim.reservedAtomic,
    landing: claim.landing as Landing,
    transfer,
  };
  const args = JSON.parse(till.vault.open(claim.requestBox, requestLabel(claim.claimKey)).toString('utf8'));
  await record(till, { lease, settled, paid, args });
}

/** The payment has expired: unless somebody used it after we let go of it, its release is final. */
async function lastLook(till: Till, claim: PaymentClaim): Promise<void> {
  // Our own transaction failed long ago; what counts is what the chain says now.
  const settlement = await ask(till, claim, null);
  if (settlement.kind === 'not_transferred') {
    await till.database.transaction(tx => markFinal(tx, [claim.claimKey]));
  } else if (settlement.kind === 'transferred') {
    const reopened = await till.database.transaction(tx => reopen(tx, claim, till.owner));
    if (reopened) await recordLate(till, reopened, leaseOf(reopened), settlement);
  }
}
