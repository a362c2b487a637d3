import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { TaskId } from '../../../schema/ids.ts';
import { asEntity } from '../../columns.ts';
import type { Database, Tx } from '../../database.ts';
import { wasCanceled } from './cancel.ts';
import { PaymentClaim } from './claim.entity.ts';
import type { ClaimRequest, Lease } from './claim.ts';
import { retakeIdentifier } from './identifier.ts';
import { leased } from './lease.ts';
import { dropSlots } from './slots.ts';

/**
 * SQL for a statement that moves claims: it locks the claims whose keys are in a parameter, in the order of the keys. The statement moves
 * locked rows only, so that no row is locked out of order. A row that was changed meanwhile is checked in its new state.
 */
const inOrder = (keys: string): string =>
  `locked as materialized (select claim_key from payment_claim where claim_key = any(${keys}) order by claim_key for update)`;

const HELD = `c.claim_key = n.claim_key and c.lease_owner = n.lease_owner and c.lease_epoch = n.lease_epoch`;

export interface SettlingClaim extends Lease {
  /** Settlement that carries the payment. Null if another party submitted the payment. */
  readonly settlement_id: string | null;
  readonly from_block: number;
  /**
   * Sealed answer. Null if the work was not done before the settlement. With the answer and the route (`worked`), reconcile can record the
   * payment by itself.
   */
  readonly answer_box: Buffer | null;
  readonly worked: JsonObject;
}

/**
 * Compare-and-set claimed → settling; returns the keys of the claims that moved. Committed before anything is broadcast. `replaces` names
 * settlements that failed for all of their claims: such a claim stays settling and gets the settlement that is tried next.
 */
export async function beginSettling(
  tx: Tx,
  items: readonly SettlingClaim[],
  replaces: readonly string[] = [],
): Promise<Set<string>> {
  const { rows } = await tx.query<{ claim_key: string }>({
    name: 'begin settling',
    text: `with ${inOrder('$3')} update payment_claim c set state = 'settling', settlement_id = n.settlement_id, from_block = n.from_block,
        answer_box = n.answer_box, landing = c.landing || n.landing, moved_at = now()
      from jsonb_populate_recordset(null::payment_claim, $1::jsonb) n join locked using (claim_key) where ${HELD}
        and (c.state = 'claimed' or (c.state = 'settling' and c.settlement_id = any($2)))
      returning c.claim_key`,
    values: [
      JSON.stringify(
        items.map(({ answer_box, worked, ...rest }) => ({
          ...rest,
          landing: worked,
          answer_box: answer_box && !isLarge(answer_box) ? `\\x${answer_box.toString('hex')}` : null,
        })),
      ),
      replaces,
      keysOf(items),
    ],
  });
  const moved = new Set(rows.map(row => row.claim_key));
  await storeAnswers(
    tx,
    items.flatMap(({ claim_key, answer_box }) =>
      answer_box && isLarge(answer_box) && moved.has(claim_key) ? [{ claim_key, answer_box }] : [],
    ),
  );
  return moved;
}

/**
 * Maximum size of an answer that shares a parameter with the rest of its batch, where it is written in hex. Larger answers are sent alone
 * and as bytes: many images would exceed the size of one text (512 MiB) or one jsonb (256 MiB), and the whole batch would fail.
 */
const ANSWER_TOGETHER_BYTES_MAX = 512 * 1024;

function isLarge(answer_box: Buffer): boolean {
  return answer_box.length > ANSWER_TOGETHER_BYTES_MAX;
}

/**
 * Compare-and-set settling → recorded, for a batch that must move as a whole: rows and receipts of the caller are in the same transaction.
 * `siblings` are the keys of held payments that are recorded together with one of the batch.
 * @throws LostClaim if this process may no longer record one of them.
 */
export async function markRecorded(tx: Tx, leases: readonly Lease[], siblings: readonly string[] = []): Promise<void> {
  if (leases.length === 0) return;
  const keys = [...keysOf(leases), ...siblings];
  const { rowCount } = await tx.query({
    name: 'mark recorded',
    text: `with ${inOrder('$2')} update payment_claim c set state = 'recorded', lease_owner = null, moved_at = now()
      from locked left join jsonb_populate_recordset(null::payment_claim, $1::jsonb) n using (claim_key)
      where c.claim_key = locked.claim_key and (
        (c.state = 'settling' and c.lease_owner = n.lease_owner and c.lease_epoch = n.lease_epoch)
        or (c.state = 'held' and c.claim_key = any($3)))`,
    values: [JSON.stringify(leases), keys, siblings],
  });
  if (rowCount !== keys.length) throw new LostClaim();
}

function keysOf(leases: readonly Lease[]): string[] {
  return leases.map(({ claim_key }) => claim_key);
}

class LostClaim extends Error {
  override name = 'LostClaim';
}

/** Stores answers of claims that the transaction has locked. The answer of a stamp is known only in the transaction that records it. */
export async function storeAnswers(
  tx: Tx,
  answers: readonly { claim_key: string; answer_box: Buffer }[],
): Promise<void> {
  // Large answers are sent one by one, because statements that wait to be sent are held in memory.
  for (const { claim_key, answer_box } of answers.filter(({ answer_box }) => isLarge(answer_box)))
    await tx.query({
      name: 'store answer',
      text: 'update payment_claim set answer_box = $2 where claim_key = $1',
      values: [claim_key, answer_box],
    });
  const together = answers.filter(({ answer_box }) => !isLarge(answer_box));
  if (together.length === 0) return;
  tx.write({
    name: 'store answers',
    text: `update payment_claim c set answer_box = n.answer_box from unnest($1::text[], $2::bytea[]) as n(claim_key, answer_box)
      where c.claim_key = n.claim_key`,
    values: [together.map(answer => answer.claim_key), together.map(answer => answer.answer_box)],
  });
}

/** State of a claim after its call gave up. The caller must give back the reservation of a released claim. */
export type AbandonOutcome =
  | { readonly kind: 'released'; readonly agent_id: number | null; readonly reserved_atomic: bigint }
  | { readonly kind: 'settling' }
  /** The buyer canceled the task while this process worked on it. */
  | { readonly kind: 'canceled' }
  | { readonly kind: 'lost' };

/**
 * Gives up a claim. It is released if it is not settling yet, or if the chain shows that nothing moved (`definite`). Otherwise the payment
 * may have moved, so this process only gives up its lease, and reconcile continues. Compare-and-set: a claim that another process took is
 * `lost`. `by_caller`: the call failed because of its own request or router key, and the claim counts that.
 */
export async function abandonClaim(
  tx: Tx,
  lease: Lease,
  reason: string,
  definite: boolean,
  by_caller = false,
): Promise<AbandonOutcome> {
  const held = [lease.claim_key, lease.lease_owner, lease.lease_epoch];
  const { rows } = await tx.query<{ state: string; agent_id: number | null; reserved_atomic: bigint }>({
    name: 'abandon claim',
    text: `update payment_claim set lease_owner = null, moved_at = now(),
        state = case when state = 'claimed' or $5 then 'released' else state end,
        reason = case when state = 'claimed' or $5 then $4 else reason end,
        answer_box = case when state = 'claimed' or $5 then null else answer_box end,
        failures = failures + case when $6 then 1 else 0 end
      where claim_key = $1 and lease_owner = $2 and lease_epoch = $3 and state in ('claimed', 'settling')
      returning state, agent_id, reserved_atomic`,
    values: [...held, reason, definite, by_caller],
  });
  const row = rows[0];
  if (!row) return { kind: (await wasCanceled(tx, lease)) ? 'canceled' : 'lost' };
  if (row.state !== 'released') return { kind: 'settling' };
  dropSlots(tx, [lease.claim_key]);
  return { kind: 'released', agent_id: row.agent_id, reserved_atomic: row.reserved_atomic };
}

const ORPHANED = `state in ('claimed', 'settling') and not ${leased('c')}`;

/**
 * Takes over claims whose process is dead, under a new lease. Claims of living processes are never touched. It uses a transaction, so that
 * a lost response rolls the takeover back: otherwise this process would hold the claims without working on them, and no other process would
 * take them. Usually there are none, so a read comes first.
 */
export async function takeOrphans(
  database: Pick<Database, 'query' | 'transaction'>,
  owner: string,
  count_max: number,
): Promise<PaymentClaim[]> {
  const there = { name: 'look for orphans', text: `select 1 from payment_claim c where ${ORPHANED} limit 1` };
  if ((await database.query(there)).length === 0) return [];
  return database.transaction(tx => takeThem(tx, owner, count_max));
}

async function takeThem(tx: Tx, owner: string, count_max: number): Promise<PaymentClaim[]> {
  const { rows } = await tx.query({
    name: 'take orphans',
    text: `update payment_claim set lease_owner = $1, lease_epoch = lease_epoch + 1, moved_at = now()
      where claim_key in (
        select claim_key from payment_claim c where ${ORPHANED}
        order by moved_at limit $2 for update skip locked)
      returning ${CLAIM_COLUMNS}`,
    values: [owner, count_max],
  });
  return rows.map(row => asEntity(PaymentClaim, row));
}

/**
 * Takes released claims whose payments have expired, for a last check whether the payment was used after all. A claim whose check decided
 * nothing is checked again after a pause that grows with its age, from 10 seconds to an hour. Claims that were not checked yet come first.
 */
export async function takeExpired(database: Pick<Database, 'query'>, count_max: number): Promise<PaymentClaim[]> {
  const rows = await database.query({
    name: 'take expired',
    text: `update payment_claim set looked_at = now() where claim_key in (
        select claim_key from payment_claim
        where state = 'released' and not final and valid_before < extract(epoch from now())
          and (looked_at is null or looked_at < now() - greatest(interval '10 seconds',
            least(interval '1 hour', (now() - to_timestamp(valid_before)) / 4)))
        order by looked_at nulls first, valid_before limit $1 for update skip locked)
      returning ${CLAIM_COLUMNS}`,
    values: [count_max],
  });
  return rows.map(row => asEntity(PaymentClaim, row));
}

/**
 * Compare-and-set released → settling, for a released payment that was used after all: it is settled, and this process records it. Returns
 * the claim as it is now. Its holds on book and session were returned at the release, so it is recorded without reservation and grant. Null
 * if another process was faster. `task_id` differs from the claim's if a row of that task already says that the call was refused.
 */
export async function reopen(
  tx: Tx,
  claim: PaymentClaim,
  owner: string,
  from_block: number,
  task_id: TaskId = claim.taskId,
): Promise<PaymentClaim | null> {
  const { rows } = await tx.query({
    name: 'reopen claim',
    text: `update payment_claim set state = 'settling', lease_owner = $2, lease_epoch = lease_epoch + 1,
        reserved_atomic = 0, settlement_id = null, from_block = $4, task_id = $5, refusal_id = null, landing = landing - 'delegation',
        moved_at = now()
      where claim_key = $1 and state = 'released' and lease_epoch = $3
      returning ${CLAIM_COLUMNS}`,
    values: [claim.claimKey, owner, claim.leaseEpoch, from_block, task_id],
  });
  if (!rows[0]) return null;
  const reopened = asEntity(PaymentClaim, rows[0]);
  await retakeIdentifier(tx, reopened);
  return reopened;
}

/**
 * Marks a released claim as final, and frees the slots that it held until its outcome on the chain was final. Compare-and-set: a payment
 * that was claimed again after its check, and perhaps sent, is left alone.
 */
export async function markFinal(
  tx: Tx,
  { claimKey, leaseEpoch }: Pick<PaymentClaim, 'claimKey' | 'leaseEpoch'>,
): Promise<void> {
  await tx.query({
    text: `with final as (
        update payment_claim set final = true where claim_key = $1 and lease_epoch = $2 and state = 'released' returning claim_key)
      delete from claim_slot using final where claim_slot.claim_key = final.claim_key`,
    values: [claimKey, leaseEpoch],
  });
}

const CLAIM_COLUMNS = `claim_key as "claimKey", state, field, request_hash as "requestHash", task_id as "taskId",
  agent_id as "agentId", lease_owner as "leaseOwner", lease_epoch as "leaseEpoch", network, payer, payment_id as "paymentId", identifier,
  amount_atomic as "amountAtomic", reserved_atomic as "reservedAtomic", valid_before as "validBefore", "authorization", landing,
  request_box as "requestBox", answer_box as "answerBox", settlement_id as "settlementId", held_transfer as "heldTransfer", from_block as "fromBlock", reason, final,
  refusal_id as "refusalId", mismatches, arrival, claimed_at as "claimedAt", moved_at as "movedAt"`;

export async function claimByKey(database: Database, claim_key: string): Promise<PaymentClaim | null> {
  const text = `select ${CLAIM_COLUMNS} from payment_claim where claim_key = $1`;
  const [row] = await database.query({ name: 'claim by key', text, values: [claim_key] });
  return row ? asEntity(PaymentClaim, row) : null;
}

/** Ids of the recorded tasks that one settlement paid for, sorted. */
export async function tasksOfSettlement(tx: Tx, settlement_id: string): Promise<string[]> {
  const { rows } = await tx.query<{ task_id: string }>({
    text: `select task_id from payment_claim where settlement_id = $1 and state = 'recorded' order by task_id`,
    values: [settlement_id],
  });
  return rows.map(row => row.task_id);
}

/**
 * Deletes the answer of a task for one paid field, because it is no longer true and must not be delivered again, such as that of a session
 * that has ended.
 */
export function forgetAnswer(tx: Tx, task_id: string, field: string): void {
  tx.write({
    name: 'forget answer',
    text: 'update payment_claim set answer_box = null where task_id = $1 and field = $2',
    values: [task_id, field],
  });
}

/** Locks the claims in the order of their keys, and returns the keys of those that are not settling yet. */
export async function lockUnsettled(tx: Tx, leases: readonly Lease[]): Promise<ReadonlySet<string>> {
  const { rows } = await tx.query<{ claim_key: string; state: string }>({
    name: 'lock unsettled claims',
    text: 'select claim_key, state from payment_claim where claim_key = any($1) order by claim_key for update',
    values: [leases.map(({ claim_key }) => claim_key)],
  });
  return new Set(rows.flatMap(({ claim_key, state }) => (state === 'claimed' ? [claim_key] : [])));
}

/** Lease of a claim whose commit was in doubt; null if the claim was not stored. It is found by its task id, which no other claim has. */
export async function leaseOfTask(
  database: Database,
  { claim_key, lease_owner, task_id }: Pick<ClaimRequest, 'claim_key' | 'lease_owner' | 'task_id'>,
): Promise<Lease | null> {
  const [lease] = await database.query<Lease & Record<string, unknown>>({
    name: 'lease of task',
    text: `select claim_key, lease_owner, lease_epoch from payment_claim
      where claim_key = $1 and lease_owner = $2 and task_id = $3`,
    values: [claim_key, lease_owner, task_id],
  });
  return lease ?? null;
}
