import type { AtomicAmount } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId, RefusalId, TaskId } from '../../../schema/ids.ts';
import type { NetworkName } from '../../../schema/network.ts';
import type { Tx } from '../../database.ts';
import { type ExistingClaim, judge, type Use, type Verdict } from './claim.machine.ts';
import { beyondBalance, type Funds, type OpenAmounts, readOpenAmounts } from './funds.ts';
import { paidFromOf, possessorOf, routerKeyMarkOf } from './landing.ts';
import { leased } from './lease.ts';
import { isGuessing, type Mismatches } from './mismatch.ts';
import { dropSlots, dropSlotsUnlessSent, LEG, takeFreeSlots } from './slots.ts';

/** Data of a new claim. `claim_key` identifies the money itself, such as `eip155:8453/<usdc>/<payer>/<nonce>` in lower case. */
export interface ClaimRequest {
  readonly claim_key: string;
  readonly field: string;
  readonly request_hash: string;
  /** Whether `request_hash` and the work are for the request in the form in which the previous version bound it. */
  readonly is_former?: boolean;
  readonly task_id: TaskId;
  readonly agent_id: AgentId | null;
  readonly lease_owner: string;
  readonly network: NetworkName;
  readonly payer: string;
  readonly payment_id: string;
  /** x402's payment-identifier; its slot is among `slots`. */
  readonly identifier?: string | null;
  readonly amount_atomic: AtomicAmount;
  readonly reserved_atomic: AtomicAmount;
  readonly valid_before: number;
  readonly authorization: JsonObject;
  readonly landing: JsonObject;
  readonly request_box: Buffer;
  readonly slots: readonly string[];
  /** Balance of the payer. Null if the money has moved already, so that the balance need not be checked. */
  readonly means: Funds | null;
  /** Whether the caller has proven to be the payer, by more than the payment's calldata. */
  readonly is_payers?: boolean;
  /** Whether a person or a signed act approved the call, so that a call that its book refused before is judged again. */
  readonly approved?: boolean;
}

/** Hold of a process on a claim. Every later move of the claim is compare-and-set on (state, owner, epoch). */
export interface Lease {
  readonly claim_key: string;
  readonly lease_owner: string;
  readonly lease_epoch: number;
}

export type ClaimOutcome =
  | { readonly kind: 'claimed'; readonly lease: Lease }
  | {
      readonly kind: 'replayed';
      readonly claim_key: string;
      readonly task_id: TaskId;
      /** Whether an answer is stored. It may be megabytes, so it is read after all claims are unlocked. */
      readonly answered: boolean;
      readonly landing: JsonObject;
    }
  | { readonly kind: 'slot_taken'; readonly slot: string }
  /** The payer's open claims leave too little of the balance for this payment, so no claim is made. */
  | { readonly kind: 'beyond_means' }
  | { readonly kind: 'blocked'; readonly refusal_id: RefusalId }
  /**
   * `task_id` is the task that the payment already pays for. `doubtful`: the payment was released, others have guessed which request it was
   * made for, and this request may be such a guess. Its claim stays unchanged, because a stranger who claimed it would then count as its
   * payer.
   */
  | ((Exclude<Verdict, { kind: 'claimed' | 'replayed' | 'blocked' }> | { readonly kind: 'doubtful' }) & {
      readonly task_id: TaskId;
    });

/**
 * Claims many payments at once, and returns an outcome for each request in the same order. Rows are locked in the order of their keys,
 * because two batches could otherwise deadlock. Every request is judged by its own hash against the existing claim. If several requests of
 * a batch have the same key, only one of them can take it.
 */
export async function claimPayments(
  tx: Tx,
  requests: readonly ClaimRequest[],
  open?: OpenAmounts,
): Promise<ClaimOutcome[]> {
  const first = new Map<string, ClaimRequest>();
  for (const request of requests) if (!first.has(request.claim_key)) first.set(request.claim_key, request);
  const sorted = [...first.values()].sort((a, b) => (a.claim_key < b.claim_key ? -1 : 1));
  const beyond = beyondBalance(open ?? (await readOpenAmounts(tx, requests)), [...first.values()]);
  const inserted = await insertClaims(
    tx,
    sorted.filter(request => !beyond.has(request.claim_key)),
  );
  const standing = await meetStanding(
    tx,
    sorted.filter(request => !inserted.has(request.claim_key)),
  );

  const taken = new Map<string, ClaimRequest>();
  const outcomes = new Map<ClaimRequest, ClaimOutcome>();
  for (const request of requests) {
    const { claim_key } = request;
    const outcome = judgeClaim(request, standing.get(claim_key), taken.get(claim_key), beyond.has(claim_key));
    if (outcome.kind === 'claimed') taken.set(claim_key, request);
    outcomes.set(request, outcome);
  }
  claimAgain(
    tx,
    [...taken.values()].filter(request => standing.has(request.claim_key)),
  );
  await takeSlots(tx, taken, outcomes);
  return requests.map(request => outcomes.get(request) as ClaimOutcome);
}

/**
 * `standing` is the existing claim under the key, from another transaction. `taker` is the request of this batch that has already taken the
 * key.
 */
function judgeClaim(
  request: ClaimRequest,
  standing: StandingRow | undefined,
  taker: ClaimRequest | undefined,
  beyond: boolean,
): ClaimOutcome {
  if (taker) {
    const { task_id } = taker;
    if (taker.request_hash === request.request_hash) return { kind: 'in_flight', task_id };
    return { kind: 'foreign', settled: false, task_id };
  }
  if (!standing) return beyond ? { kind: 'beyond_means' } : claimedOutcome(request, 0);
  const verdict = judge(asStanding(standing), asUse(request));
  const { task_id, answered, landing } = standing;
  if ((verdict.kind === 'claimed' || verdict.kind === 'blocked') && isDoubtful(request, standing))
    return { kind: 'doubtful', task_id };
  // The balance of the payer was checked when an open claim was made, so it is checked again only for a released one.
  if (verdict.kind === 'claimed' && beyond && standing.state === 'released') return { kind: 'beyond_means' };
  if (verdict.kind === 'claimed') return claimedOutcome(request, standing.lease_epoch + 1);
  // A call that its book refused is claimed nevertheless if another party has moved the money since, because the call is owed now, or if it
  // was approved.
  if (verdict.kind === 'blocked')
    return request.means === null || request.approved ? claimedOutcome(request, standing.lease_epoch + 1) : verdict;
  if (verdict.kind !== 'replayed') return { ...verdict, task_id };
  return { kind: 'replayed', claim_key: request.claim_key, task_id, answered, landing };
}

function isDoubtful({ is_payers = false, landing }: ClaimRequest, standing: StandingRow): boolean {
  const mark = paidFromOf(landing);
  const { mismatches } = standing;
  return !is_payers && mismatches !== null && mark !== paidFromOf(standing.landing) && isGuessing(mismatches, mark);
}

function asStanding({ landing, ...standing }: StandingRow): ExistingClaim {
  return { ...standing, possessed_by: possessorOf(landing), router_key_mark: routerKeyMarkOf(landing) };
}

/** The balance is checked for every payment except a spent one, so a null `means` marks a spent payment. */
function asUse({ landing, means, ...request }: ClaimRequest): Use {
  const router_key_mark = routerKeyMarkOf(landing);
  return { ...request, possessed_by: possessorOf(landing), router_key_mark, spent: means === null };
}

function claimedOutcome(request: ClaimRequest, lease_epoch: number): ClaimOutcome {
  return { kind: 'claimed', lease: { claim_key: request.claim_key, lease_owner: request.lease_owner, lease_epoch } };
}

function columns({
  slots: _slots,
  means: _means,
  is_payers: _is_payers,
  is_former = false,
  request_box,
  amount_atomic,
  reserved_atomic,
  ...rest
}: ClaimRequest): object {
  return {
    ...rest,
    whole_task_id: is_former ? null : rest.task_id,
    state: 'claimed',
    amount_atomic: amount_atomic.toString(),
    reserved_atomic: reserved_atomic.toString(),
    request_box: `\\x${request_box.toString('hex')}`,
  };
}

async function insertClaims(tx: Tx, sorted: readonly ClaimRequest[]): Promise<Set<string>> {
  const { rows } = await tx.query<{ claim_key: string }>({
    name: 'insert claims',
    text: `insert into payment_claim (claim_key, state, field, request_hash, task_id, agent_id, lease_owner, network, payer,
        payment_id, identifier, amount_atomic, reserved_atomic, valid_before, "authorization", landing, request_box, whole_task_id,
        claimed_at, moved_at)
      select claim_key, state, field, request_hash, task_id, agent_id, lease_owner, network, payer,
        payment_id, identifier, amount_atomic, reserved_atomic, valid_before, "authorization", landing, request_box, whole_task_id, now(), now()
      from jsonb_populate_recordset(null::payment_claim, $1::jsonb) order by claim_key
      on conflict (claim_key) do nothing returning claim_key`,
    values: [JSON.stringify(sorted.map(columns))],
  });
  return new Set(rows.map(row => row.claim_key));
}

type StandingRow = Omit<ExistingClaim, 'possessed_by' | 'router_key_mark'> & {
  claim_key: string;
  task_id: TaskId;
  answered: boolean;
  landing: JsonObject;
  lease_epoch: number;
  mismatches: Mismatches | null;
};

async function meetStanding(tx: Tx, met: readonly ClaimRequest[]): Promise<Map<string, StandingRow>> {
  if (met.length === 0) return new Map();
  const { rows } = await tx.query<StandingRow>({
    name: 'meet standing claims',
    text: `select claim_key, state, task_id, request_hash, answer_box is not null as answered, landing, lease_epoch, refusal_id, ${leased('c')} as leased,
        from_block is not null as published, failures, mismatches,
        exists (select 1 from claim_slot s where s.claim_key = c.claim_key and s.slot like '${LEG}%') as bound
      from payment_claim c where claim_key = any($1) order by claim_key for update`,
    values: [met.map(request => request.claim_key)],
  });
  return new Map(rows.map(row => [row.claim_key, row]));
}

/**
 * Claims a released payment again for this request, or claims again what the same task has claimed before. `from_block` is kept, so that a
 * payment that was sent before still counts as sent; nothing moved before that block.
 */
function claimAgain(tx: Tx, again: readonly ClaimRequest[]): void {
  if (again.length === 0) return;
  tx.write({
    name: 'claim again',
    text: `update payment_claim c set state = 'claimed', field = n.field, request_hash = n.request_hash, task_id = n.task_id,
        whole_task_id = n.whole_task_id, agent_id = n.agent_id, identifier = n.identifier, lease_owner = n.lease_owner, lease_epoch = c.lease_epoch + 1, landing = n.landing,
        reserved_atomic = n.reserved_atomic, amount_atomic = n.amount_atomic, "authorization" = n."authorization",
        request_box = n.request_box, valid_before = n.valid_before, answer_box = null, settlement_id = null,
        reason = null, refusal_id = null, final = false, looked_at = null, moved_at = now()
      from jsonb_populate_recordset(null::payment_claim, $1::jsonb) n where c.claim_key = n.claim_key`,
    values: [JSON.stringify(again.map(columns))],
  });
  dropSlots(
    tx,
    again.map(request => request.claim_key),
  );
}

async function takeSlots(
  tx: Tx,
  taken: ReadonlyMap<string, ClaimRequest>,
  outcomes: Map<ClaimRequest, ClaimOutcome>,
): Promise<void> {
  const wanted = [...taken.values()].flatMap(({ claim_key, slots }) => slots.map(slot => ({ slot, claim_key })));
  const missed = await takeFreeSlots(tx, wanted);
  for (const { slot, claim_key } of missed)
    outcomes.set(taken.get(claim_key) as ClaimRequest, { kind: 'slot_taken', slot });
  forget(
    tx,
    missed.map(({ claim_key }) => claim_key),
  );
}

/**
 * Releases claims that miss a slot because another claim holds it, and frees the slots that they did take. The payments stay usable for
 * other requests.
 */
function forget(tx: Tx, claim_keys: readonly string[]): void {
  if (claim_keys.length === 0) return;
  tx.write({
    text: `update payment_claim set state = 'released', lease_owner = null, reason = 'slot_taken', moved_at = now() where claim_key = any($1)`,
    values: [claim_keys],
  });
  dropSlotsUnlessSent(tx, claim_keys);
}
