import type { AtomicAmount } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId, TaskId } from '../../../schema/ids.ts';
import type { NetworkName } from '../../../schema/network.ts';
import type { Tx } from '../../database.ts';
import { judge, type Standing, type Verdict } from './claim.machine.ts';
import { leased } from './lease.ts';

/** A claim as it is made. `claim_key` names the money itself: `eip155:8453/<usdc>/<payer>/<nonce>`, lower case. */
export interface ClaimRequest {
  readonly claim_key: string;
  readonly field: string;
  readonly request_hash: string;
  readonly task_id: TaskId;
  readonly agent_id: AgentId | null;
  readonly lease_owner: string;
  readonly network: NetworkName;
  readonly payer: string;
  readonly payment_id: string;
  readonly amount_atomic: AtomicAmount;
  readonly reserved_atomic: AtomicAmount;
  readonly valid_before: number;
  readonly authorization: JsonObject;
  readonly landing: JsonObject;
  readonly request_box: Buffer;
  readonly slots: readonly string[];
}

/** A held claim: every later move is compare-and-set on (state, owner, epoch). */
export interface Lease {
  readonly claim_key: string;
  readonly lease_owner: string;
  readonly lease_epoch: number;
}

export type ClaimOutcome =
  | { readonly kind: 'claimed'; readonly lease: Lease }
  | { readonly kind: 'replayed'; readonly task_id: TaskId; readonly answer_box: Buffer | null }
  | { readonly kind: 'slot_taken'; readonly slot: string }
  | { readonly kind: Exclude<Verdict['kind'], 'claimed' | 'replayed'> };

/**
 * Claims payments, many at once; rows are taken in the order of their keys, or two batches would deadlock.
 * The same key twice in one batch: the second meets the first.
 */
export async function claimPayments(tx: Tx, requests: readonly ClaimRequest[]): Promise<ClaimOutcome[]> {
  const first = new Map<string, ClaimRequest>();
  for (const request of requests) if (!first.has(request.claim_key)) first.set(request.claim_key, request);
  const sorted = [...first.values()].sort((a, b) => (a.claim_key < b.claim_key ? -1 : 1));

  const inserted = await insertClaims(tx, sorted);
  const outcomes = new Map<string, ClaimOutcome>();
  const met = sorted.filter(request => !inserted.has(request.claim_key));
  for (const request of sorted) if (inserted.has(request.claim_key)) outcomes.set(request.claim_key, held(request, 0));
  for (const [key, outcome] of await meetStanding(tx, met)) outcomes.set(key, outcome);
  await takeSlots(tx, sorted, outcomes);

  return requests.map(request => {
    const winner = first.get(request.claim_key);
    const outcome = outcomes.get(request.claim_key) as ClaimOutcome;
    if (winner === request || outcome.kind !== 'claimed') return outcome;
    return { kind: winner?.request_hash === request.request_hash ? 'in_flight' : 'foreign' };
  });
}

function held(request: ClaimRequest, lease_epoch: number): ClaimOutcome {
  return { kind: 'claimed', lease: { claim_key: request.claim_key, lease_owner: request.lease_owner, lease_epoch } };
}

function columns({ slots: _, request_box, amount_atomic, reserved_atomic, ...rest }: ClaimRequest): object {
  return {
    ...rest,
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
        payment_id, amount_atomic, reserved_atomic, valid_before, "authorization", landing, request_box, claimed_at, moved_at)
      select claim_key, state, field, request_hash, task_id, agent_id, lease_owner, network, payer,
        payment_id, amount_atomic, reserved_atomic, valid_before, "authorization", landing, request_box, now(), now()
      from jsonb_populate_recordset(null::payment_claim, $1::jsonb) order by claim_key
      on conflict (claim_key) do nothing returning claim_key`,
    values: [JSON.stringify(sorted.map(columns))],
  });
  return new Set(rows.map(row => row.claim_key));
}

type StandingRow = Standing & { claim_key: string; task_id: TaskId; answer_box: Buffer | null; lease_epoch: number };

async function meetStanding(tx: Tx, met: readonly ClaimRequest[]): Promise<[string, ClaimOutcome][]> {
  if (met.length === 0) return [];
  const { rows } = await tx.query<StandingRow>({
    name: 'meet standing claims',
    text: `select claim_key, state, task_id, request_hash, answer_box, lease_epoch, ${leased('c')} as leased
      from payment_claim c where claim_key = any($1) order by claim_key for update`,
    values: [met.map(request => request.claim_key)],
  });
  const standing = new Map(rows.map(row => [row.claim_key, row]));
  const outcomes: [string, ClaimOutcome][] = [];
  const again: ClaimRequest[] = [];
  for (const request of met) {
    const row = standing.get(request.claim_key) as StandingRow;
    const verdict = judge(row, request);
    if (verdict.kind === 'claimed') {
      again.push(request);
      outcomes.push([request.claim_key, held(request, row.lease_epoch + 1)]);
    } else if (verdict.kind === 'replayed') {
      outcomes.push([request.claim_key, { kind: 'replayed', task_id: row.task_id, answer_box: row.answer_box }]);
    } else outcomes.push([request.claim_key, { kind: verdict.kind }]);
  }
  await claimAgain(tx, again);
  return outcomes;
}

/** A released payment, or one whose process died before anything moved, is claimed anew, for this request. */
async function claimAgain(tx: Tx, again: readonly ClaimRequest[]): Promise<void> {
  if (again.length === 0) return;
  await tx.query({
    name: 'claim again',
    text: `update payment_claim c set state = 'claimed', field = n.field, request_hash = n.request_hash, task_id = n.task_id,
        agent_id = n.agent_id, lease_owner = n.lease_owner, lease_epoch = c.lease_epoch + 1, landing = n.landing,
        reserved_atomic = n.reserved_atomic, amount_atomic = n.amount_atomic, "authorization" = n."authorization",
        request_box = n.request_box, answer_box = null, settlement_id = null, reason = null, final = false, moved_at = now()
      from jsonb_populate_recordset(null::payment_claim, $1::jsonb) n where c.claim_key = n.claim_key`,
    values: [JSON.stringify(again.map(columns))],
  });
  await dropSlots(
    tx,
    again.map(request => request.claim_key),
  );
}

async function takeSlots(tx: Tx, sorted: readonly ClaimRequest[], outcomes: Map<string, ClaimOutcome>): Promise<void> {
  const wanted = sorted
    .filter(request => outcomes.get(request.claim_key)?.kind === 'claimed')
    .flatMap(({ claim_key, slots }) => slots.map(slot => ({ slot, claim_key })))
    .sort((a, b) => (a.slot < b.slot ? -1 : 1));
  if (wanted.length === 0) return;
  const { rows } = await tx.query<{ slot: string; claim_key: string }>({
    name: 'take slots',
    text: `insert into claim_slot (slot, claim_key) select slot, claim_key from jsonb_populate_recordset(null::claim_slot, $1::jsonb)
      order by slot on conflict (slot) do nothing returning slot, claim_key`,
    values: [JSON.stringify(wanted)],
  });
  const taken = new Set(rows.map(row => `${row.slot} ${row.claim_key}`));
  const refused = wanted.filter(({ slot, claim_key }) => !taken.has(`${slot} ${claim_key}`));
  for (const { slot, claim_key } of refused) outcomes.set(claim_key, { kind: 'slot_taken', slot });
  await forget(
    tx,
    refused.map(({ claim_key }) => claim_key),
  );
}

/** A claim that found its slot taken leaves no trace but a release: the payment stays usable elsewhere. */
async function forget(tx: Tx, claim_keys: readonly string[]): Promise<void> {
  if (claim_keys.length === 0) return;
  await tx.query({
    text: `update payment_claim set state = 'released', lease_owner = null, reason = 'slot_taken', moved_at = now() where claim_key = any($1)`,
    values: [claim_keys],
  });
  await dropSlots(tx, claim_keys);
}

export async function dropSlots(tx: Tx, claim_keys: readonly string[]): Promise<void> {
  await tx.query({
    name: 'drop slots',
    text: 'delete from claim_slot where claim_key = any($1)',
    values: [claim_keys],
  });
}
