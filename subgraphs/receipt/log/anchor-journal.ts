import type { Database, Tx } from '../../database.ts';
import type { AnchorAttempt, AnchorState, LogAnchorRow } from './anchor.entity.ts';
import type { HeadName, TreeHeadFacts } from './tree-head.ts';

/** Sender of the anchors, and the epoch of the chain on which they are sent. */
export interface AnchorPlace {
  readonly chain_epoch: number;
  /** Address in lower case. */
  readonly sender: string;
}

export interface NewAnchor {
  readonly anchor_id: string;
  readonly purpose: LogAnchorRow['purpose'];
  readonly head: TreeHeadFacts;
  readonly nonce: number;
  readonly attempt: AnchorAttempt;
  readonly fee_max_wei: bigint;
}

export interface OpenAnchor extends Omit<NewAnchor, 'attempt' | 'head'> {
  readonly tree_size: number;
  readonly root_hash: string;
  /** At least one, oldest first. */
  readonly attempts: readonly AnchorAttempt[];
  readonly age_ms: number;
}

interface AnchorBounds {
  /** Maximum fees of a UTC day in wei: fees that were paid on that day, and the maximum of those that are not known yet. */
  readonly fee_day_max_wei: bigint;
  /** Minimum time since the previous transaction of the same purpose. Null if there is no minimum. */
  readonly pace_ms: number | null;
}

type AnchorJournalled =
  | { readonly kind: 'journalled' }
  /** Another transaction is in progress or was sent recently, or the head is anchored already. */
  | { readonly kind: 'not_due' }
  | { readonly kind: 'over_budget' };

/**
 * Lock for transactions that check the fees of the day before they add to them. Nothing outside the database is awaited while it is held.
 */
const LOCK = `select pg_advisory_xact_lock(hashtext('log_anchor'))`;

/**
 * Stores an anchor with its signed bytes, if it is due and within the day's maximum. Nothing may be broadcast before this is committed;
 * after that, the same bytes may be broadcast any number of times.
 */
export function journalAnchor(
  database: Database,
  place: AnchorPlace,
  birth: NewAnchor,
  bounds: AnchorBounds,
): Promise<AnchorJournalled> {
  return database.transaction(async tx => {
    await tx.query(LOCK);
    const { spent_wei, due } = await readStanding(tx, place, { purpose: birth.purpose, pace_ms: bounds.pace_ms });
    if (!due || (await isAnchored(tx, place, birth))) return { kind: 'not_due' };
    if (spent_wei + birth.fee_max_wei > bounds.fee_day_max_wei) return { kind: 'over_budget' };
    const { anchor_id, purpose, head, nonce, attempt, fee_max_wei } = birth;
    await tx.query({
      text: `insert into log_anchor (anchor_id, chain_epoch, sender, purpose, tree_size, root_hash, nonce, attempts,
          fee_max_wei, state, at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'sent', now())`,
      values: [
        anchor_id,
        place.chain_epoch,
        place.sender,
        purpose,
        head.tree_size,
        head.root_hash,
        nonce,
        JSON.stringify([attempt]),
        String(fee_max_wei),
      ],
    });
    return { kind: 'journalled' };
  });
}

/**
 * Whether another process has anchored this head since the last check. For an anchor on demand, no other check prevents that the same head
 * is paid for twice.
 */
async function isAnchored(
  tx: Tx,
  { chain_epoch, sender }: AnchorPlace,
  { purpose, head }: NewAnchor,
): Promise<boolean> {
  if (purpose !== 'anchor') return false;
  const text = `select 1 from log_anchor where chain_epoch = $1 and sender = $2 and purpose = 'anchor'
    and tree_size = $3 and root_hash = $4 and state in ('sent', 'mined', 'final')`;
  const values = [chain_epoch, sender, head.tree_size, head.root_hash];
  return (await tx.query({ text, values })).rows.length > 0;
}

interface AnchorStanding {
  /** Fees since midnight UTC, in wei. A fee that is not known yet counts with its maximum. */
  readonly spent_wei: bigint;
  /** Whether no transaction is in progress, and none of the same purpose was sent within `pace_ms`. */
  readonly due: boolean;
}

/** A deployment comes right before its anchor, so the pace counts for each purpose separately. */
const STANDING = `select
    coalesce(sum(coalesce(fee_wei, fee_max_wei)) filter (where at >= date_trunc('day', now()) and state <> 'lost'), 0)::numeric(78,0)
      as spent_wei,
    not coalesce(bool_or(state = 'sent' or (purpose = $4 and state <> 'lost'
      and at > now() - make_interval(secs => $3::float8 / 1000))), false) as due
  from log_anchor where chain_epoch = $1 and sender = $2
    and (state = 'sent' or at >= least(date_trunc('day', now()), now() - make_interval(secs => $3::float8 / 1000)))`;

export async function anchorStanding(
  database: Pick<Database, 'query'>,
  place: AnchorPlace,
  next: NextAnchor,
): Promise<AnchorStanding> {
  return standingOf(await database.query<AnchorStanding>(standingQuery(place, next)));
}

async function readStanding(tx: Tx, place: AnchorPlace, next: NextAnchor): Promise<AnchorStanding> {
  return standingOf((await tx.query<AnchorStanding>(standingQuery(place, next))).rows);
}

interface NextAnchor {
  readonly purpose: LogAnchorRow['purpose'];
  /** Minimum time since the previous transaction of the same purpose. Null if there is no minimum. */
  readonly pace_ms: number | null;
}

const standingQuery = ({ chain_epoch, sender }: AnchorPlace, { purpose, pace_ms }: NextAnchor) => ({
  name: 'anchor standing',
  text: STANDING,
  values: [chain_epoch, sender, pace_ms ?? 0, purpose],
});

function standingOf([row]: readonly AnchorStanding[]): AnchorStanding {
  return row ?? { spent_wei: 0n, due: true };
}

/** The transaction of the sender that is in progress; null if there is none. */
export async function openAnchor(database: Database, { chain_epoch, sender }: AnchorPlace): Promise<OpenAnchor | null> {
  const [open] = await database.query<OpenAnchor>({
    name: 'open anchor',
    text: `select anchor_id, purpose, tree_size, root_hash, nonce, attempts, fee_max_wei,
        floor(extract(epoch from now() - at) * 1000)::int8 as age_ms
      from log_anchor where chain_epoch = $1 and sender = $2 and state = 'sent'`,
    values: [chain_epoch, sender],
  });
  return open ?? null;
}

/**
 * Adds an attempt with the same nonce and higher fees to an open anchor. False if another process was faster, or if the day's maximum would
 * be exceeded.
 */
export function journalReplacement(
  database: Database,
  place: AnchorPlace,
  { anchor_id, attempts, fee_max_wei: before_wei }: OpenAnchor,
  { attempt, fee_max_wei }: Pick<NewAnchor, 'attempt' | 'fee_max_wei'>,
  fee_day_max_wei: bigint,
): Promise<boolean> {
  return database.transaction(async tx => {
    await tx.query(LOCK);
    const { spent_wei } = await readStanding(tx, place, { purpose: 'anchor', pace_ms: null });
    if (spent_wei - before_wei + fee_max_wei > fee_day_max_wei) return false;
    const { rowCount } = await tx.query({
      text: `update log_anchor set attempts = attempts || $3::jsonb, fee_max_wei = $4
        where anchor_id = $1 and state = 'sent' and jsonb_array_length(attempts) = $2`,
      values: [anchor_id, attempts.length, JSON.stringify([attempt]), String(fee_max_wei)],
    });
    return rowCount === 1;
  });
}

interface AnchorLanding {
  readonly tx_hash: string;
  readonly block_number: number;
  readonly fee_wei: bigint;
}

/** Compare-and-set of an anchor from one state to another: nothing changes if another process has changed its state. */
export async function moveAnchor(
  database: Database,
  anchor_id: string,
  [from, to]: readonly [from: AnchorState, to: AnchorState],
  landing: AnchorLanding | null = null,
): Promise<void> {
  await database.query({
    text: `update log_anchor set state = $3, tx_hash = coalesce($4, tx_hash), block_number = coalesce($5, block_number),
        fee_wei = coalesce($6, fee_wei) where anchor_id = $1 and state = $2`,
    values: [
      anchor_id,
      from,
      to,
      landing?.tx_hash ?? null,
      landing?.block_number ?? null,
      landing && String(landing.fee_wei),
    ],
  });
}

interface MinedAnchor {
  readonly anchor_id: string;
  readonly tx_hash: string;
  readonly block_number: number;
}

/** Anchors whose block may still be replaced, oldest first. */
export function minedAnchors(
  database: Database,
  { chain_epoch, sender }: AnchorPlace,
  anchors_max: number,
): Promise<MinedAnchor[]> {
  return database.query<MinedAnchor>({
    name: 'mined anchors',
    text: `select anchor_id, tx_hash, block_number from log_anchor
      where chain_epoch = $1 and sender = $2 and state = 'mined' order by at limit $3`,
    values: [chain_epoch, sender, anchors_max],
  });
}

export interface JournalledAnchor extends HeadName {
  readonly sender: string;
  readonly tx_hash: string;
  readonly block_number: number;
  /** Whether the block is finalized. Otherwise it may still be replaced. */
  readonly final: boolean;
}

/**
 * The newest anchored head of at most `size_max` leaves that was seen on Base, as this database recorded it; null if there is none. It is a
 * hint where to look: only the chain shows whether the anchor exists.
 */
export async function newestAnchor(database: Database, size_max: number): Promise<JournalledAnchor | null> {
  const [row] = await database.query<JournalledAnchor>({
    name: 'newest anchor',
    text: `select tree_size, root_hash, sender, tx_hash, block_number, state = 'final' as final from log_anchor
      where chain_epoch = (select max(chain_epoch) from log_anchor) and purpose = 'anchor' and state in ('mined', 'final')
        and tree_size <= $1 and tx_hash is not null and block_number is not null
      order by at desc limit 1`,
    values: [size_max],
  });
  return row ?? null;
}
