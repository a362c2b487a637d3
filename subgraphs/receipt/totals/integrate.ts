import { setTimeout as sleep } from 'node:timers/promises';
import { canonicalJson } from '../../../schema/canonical-json.ts';
import { documents } from '../../../schema/documents.ts';
import { jwksUri } from '../../../schema/links.ts';
import { iso } from '../../clock.ts';
import { type Database, insertRows } from '../../database.ts';
import { readsOf, type Tx } from '../../transaction.ts';
import type { Issuer } from '../issuer/signing-keys.ts';
import { LOG_ID } from '../log/tree-head.ts';
import { paymentValue, totalKey, totalValue } from '../verify/map-proof.ts';
import { type CollectedLeaf, collectedLeaves, collectedSince } from './collected-leaves.ts';
import { statedRoots, TotalsAltered } from './stored-check.ts';
import { type MapName, openMap, storeMap } from './stored-map.ts';
import { growSums, storeSums } from './stored-sums.ts';

/** Maximum number of leaves that a statement adds. They take a few milliseconds of this process, and one transaction. */
const LEAVES_MAX = 256;
/** A batch with fewer leaves has caught up with the log. */
const LEAVES_BEHIND_MIN = LEAVES_MAX / 2;
const SEEN_MAX = 256;
/** Maximum number of seen transfers that one transaction marks as not counted. They take about a second of the database. */
const UNCOUNTED_MAX = 10_000;

export interface TotalsParts {
  readonly database: Pick<Database, 'query' | 'transaction'>;
  readonly issuer: Issuer;
  readonly profile: 'development' | 'production';
  readonly now_ms: () => number;
}

/**
 * Adds the next leaves of the log to the trees and signs a statement over them. The same transaction writes the new position in the log, so
 * that the work continues from there after a crash. A concurrent call finds the position locked and adds nothing. Returns the number of
 * leaves and transfers added.
 * @throws PaymentUsedTwice if a payment backs two receipts
 * @throws TotalsAltered if the stored trees were altered: they are then rebuilt from the log
 */
export async function integrate(parts: TotalsParts): Promise<number> {
  try {
    return await parts.database.transaction(tx => integrateBatch(tx, parts));
  } catch (fault) {
    if (fault instanceof PaymentUsedTwice)
      await parts.database.query({
        name: 'note payment conflict',
        text: 'update totals_state set conflict = $1 where conflict is null',
        values: [JSON.stringify(fault.conflict)],
      });
    if (fault instanceof TotalsAltered) await parts.database.transaction(forget);
    throw fault;
  }
}

interface State {
  readonly tree_size: number;
  readonly root_hash: string;
  readonly statement: string | null;
  /** Whether the log still has the head of that size and root. */
  readonly stands: boolean;
  /** Number of leaves of the log. */
  readonly log_size: number;
  /** Size of the next tree head. Null, as is `next_root`, if the log has not grown. */
  readonly next_size: number | null;
  readonly next_root: string | null;
}

async function integrateBatch(tx: Tx, parts: TotalsParts): Promise<number> {
  const { rows } = await tx.query<State>({ name: 'lock totals', text: LOCK, values: [LEAVES_MAX] });
  const state = rows[0];
  if (state === undefined) return 0;
  if (!state.stands) return beginAnew(tx);
  const { tree_size = state.tree_size, root_hash } = nextOf(state);
  const leaves = await collectedLeaves(tx, state.tree_size, tree_size);
  // Until all leaves are added, most seen transfers belong to later leaves, and each batch would search for them in vain.
  const since = tree_size === state.log_size ? await collectedSince(tx, tree_size, SEEN_MAX) : [];
  const taken = tree_size - state.tree_size + since.length;
  if (taken === 0) return 0;
  const collected = [...leaves, ...since];
  await requireNew(tx, collected);
  const roots = await grow(tx, collected, statedRoots(state.statement, parts.issuer.jwks));
  const statement = signTotals(parts, { tree_size, root_hash, ...roots });
  tx.write({
    name: 'store totals statement',
    text: 'update totals_state set tree_size = $1, root_hash = $2, statement = $3, conflict = null',
    values: [tree_size, root_hash, statement],
  });
  return taken;
}

function nextOf({ tree_size, root_hash, next_size, next_root }: State) {
  return next_size === null || next_root === null
    ? { tree_size, root_hash }
    : { tree_size: next_size, root_hash: next_root };
}

/** Locks the position and finds the next head. A head is signed for each batch of leaves, so one is near, except after a declared loss. */
const LOCK = `with state as materialized (
    select tree_size, root_hash, statement from totals_state for update skip locked),
  newest as (
    select coalesce(
      (select max(t.tree_size) from tree_head t, state s where t.tree_size > s.tree_size and t.tree_size <= s.tree_size + $1::int8),
      (select min(t.tree_size) from tree_head t, state s where t.tree_size > s.tree_size)) as tree_size)
  select s.tree_size, s.root_hash, s.statement, h.tree_size as log_size, n.tree_size as next_size, t.root_hash as next_root,
    s.tree_size = 0 or (h.tree_size >= s.tree_size and exists (
      select 1 from tree_head k where k.tree_size = s.tree_size and k.root_hash = s.root_hash)) as stands
  from state s join log_head h on h.halted is null cross join newest n left join tree_head t on t.tree_size = n.tree_size
    and t.tree_size <= h.tree_size`;

/**
 * Starts again from the first leaf, because the log was declared to differ from some leaf on, or because the stored trees were altered.
 * Each call marks a limited number of seen transfers as not counted. Until all of them are, there is no statement, and the state names a
 * head that does not exist.
 */
async function beginAnew(tx: Tx): Promise<number> {
  await tx.query('truncate totals_row, totals_book, totals_node, totals_page');
  const { rowCount } = await tx.query({
    name: 'uncount seen transfers',
    text: `update totals_seen set counted = false where task_id = any(array(select task_id from totals_seen where counted limit $1))`,
    values: [UNCOUNTED_MAX],
  });
  if (rowCount === UNCOUNTED_MAX) {
    await tx.query('update totals_state set statement = null');
    return UNCOUNTED_MAX;
  }
  await tx.query(`update totals_state set tree_size = 0, root_hash = '', statement = null, conflict = null`);
  return 0;
}

/** Makes the next call rebuild everything, because no head of the log has an empty root. */
async function forget(tx: Tx): Promise<void> {
  await tx.query(`update totals_state set root_hash = '', statement = null where tree_size > 0`);
}

/** Adds receipts to the trees and both maps. Returns the new roots, hex. @throws TotalsAltered if the stored maps differ from `stated` */
async function grow(tx: Tx, collected: readonly CollectedLeaf[], stated: ReturnType<typeof statedRoots>) {
  const grown = await growSums(readsOf(tx), collected);
  const paid = collected.flatMap(({ payment_key: key, ...leaf }) =>
    key === null ? [] : [{ key, was: null, value: paymentValue(leaf) }],
  );
  const totals = grown.map(({ total: { agent_id, ...total }, before }) => ({
    key: totalKey(agent_id, total.rail),
    was: before && totalValue(agent_id, before),
    value: totalValue(agent_id, total),
  }));
  // `setAll` also checks the stored totals against the signed roots, before `storeSums` overwrites them.
  const roots = {
    payments_root: await setAll(tx, { name: 'payments', root: stated.payments_root }, paid),
    books_root: await setAll(tx, { name: 'books', root: stated.books_root }, totals),
  };
  storeSums(tx, grown);
  const places = new Map(grown.flatMap(book => [...book.places]));
  insertRows(
    tx,
    'totals_row',
    collected.map(({ task_id, leaf_index, agent_id, rail, payment_key }) => ({
      task_id,
      leaf_index,
      agent_id,
      rail,
      payment_key,
      row_index: places.get(task_id) ?? null,
    })),
  );
  return roots;
}

interface Entry {
  readonly key: string;
  /** Value that the key must have so far. Null if it must have none. */
  readonly was: string | null;
  readonly value: string;
}

async function setAll(tx: Tx, { name, root }: { name: MapName; root: string }, entries: readonly Entry[]) {
  const keys = entries.map(({ key }) => key);
  // Even if there is nothing to set, the first page is loaded, because it has the root.
  const map = await openMap(readsOf(tx), name, keys.length > 0 ? keys : [ANY_KEY]);
  if (!map.isSound(root) || map.root !== root)
    throw new TotalsAltered(`the map of ${name} is not the one that was signed`);
  const altered = entries.find(({ key, was }) => map.get(key) !== was);
  if (altered) throw new TotalsAltered(`the map of ${name} has another value at ${altered.key}`);
  for (const { key, value } of entries) map.set(key, value);
  return storeMap(tx, name, map);
}

const ANY_KEY = '0'.repeat(64);

interface TotalsStatement {
  readonly tree_size: number;
  readonly root_hash: string;
  readonly payments_root: string;
  readonly books_root: string;
}

/** A svc402.log_totals.v1: the roots of both maps for `tree_size` leaves of the log, with a `signature` over all other members. */
function signTotals(
  { issuer, profile, now_ms }: TotalsParts,
  { tree_size, root_hash, ...maps }: TotalsStatement,
): string {
  const statement = {
    ...(profile === 'development' ? { profile } : {}),
    schema: documents.log_totals,
    iss: issuer.base_url,
    verify_jwks: jwksUri(issuer.base_url),
    log_id: LOG_ID,
    tree_size,
    root_hash,
    ...maps,
    computed_at: iso(now_ms()),
  };
  const value = issuer.signCanonical(canonicalJson(statement));
  return canonicalJson({ ...statement, signature: { alg: 'ES256', kid: issuer.kid, value } });
}

/** Two receipts name the same transfer, which raises an alarm. No statement is signed over it, and the trees remain as they were. */
class PaymentUsedTwice extends Error {
  override name = 'PaymentUsedTwice';
  readonly conflict: PaymentConflict;

  constructor(conflict: PaymentConflict) {
    super(`one payment backs two receipts: leaves ${conflict.first} and ${conflict.second} of the log`);
    this.conflict = conflict;
  }
}

interface PaymentConflict {
  readonly payment_key: string;
  /** Leaf index of the receipt that was counted first. `second` is the leaf index of the other receipt that names the payment. */
  readonly first: number;
  readonly second: number;
}

/** @throws PaymentUsedTwice if a payment is already counted, or is named by two of these receipts */
async function requireNew(tx: Tx, collected: readonly CollectedLeaf[]): Promise<void> {
  const leaves = new Map<string, number>();
  const { rows } = await tx.query<{ payment_key: string; leaf_index: number }>({
    name: 'payments counted before',
    text: 'select payment_key, leaf_index from totals_row where payment_key = any($1)',
    values: [collected.flatMap(({ payment_key }) => payment_key ?? [])],
  });
  for (const { payment_key, leaf_index } of rows) leaves.set(payment_key, leaf_index);
  for (const { payment_key, leaf_index } of collected) {
    if (payment_key === null) continue;
    const first = leaves.get(payment_key);
    if (first !== undefined) throw new PaymentUsedTwice({ payment_key, first, second: leaf_index });
    leaves.set(payment_key, leaf_index);
  }
}

/** Maximum duration of a round, well below the limit for a periodic job. */
const ROUND_MS_MAX = 10_000;

/**
 * Adds leaves of the log to the totals until few are left, or until the round is over. After each batch it sleeps for as long as the batch
 * took, so that the first pass over a long log leaves half of a core to paid calls. The remaining leaves wait for the next round: the fewer
 * leaves share a batch, the more pages of the maps are read, hashed and written for each leaf. A process whose key no longer signs stops,
 * and processes with the next key continue.
 */
export async function keepTotals(parts: TotalsParts, signal: AbortSignal): Promise<void> {
  const until_ms = performance.now() + ROUND_MS_MAX;
  while (parts.issuer.standing === 'in_force' && performance.now() < until_ms && !signal.aborted) {
    const from_ms = performance.now();
    if ((await integrate(parts)) < LEAVES_BEHIND_MIN) return;
    await sleep(performance.now() - from_ms, undefined, { signal }).catch(() => {});
  }
}
