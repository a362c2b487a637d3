import { LRUCache } from 'lru-cache';
import type { Database } from '../../database.ts';
import type { Issuer } from '../issuer/signing-keys.ts';
import { receiptsByTask } from '../receipt/find.ts';
import { EMPTY_ROOT } from '../verify/merkle-proof.ts';
import { openNote } from '../verify/open-checkpoint.ts';
import { parseJws, verifyEs256 } from '../verify/signature.ts';
import type { VerifierKey } from '../verify/verifier-key.ts';
import { type Inclusion, inclusionOf } from './stored-proofs.ts';
import type { HeadName } from './tree-head.ts';

/** Number of checkpoints that are kept in memory. A checkpoint is requested repeatedly while it is the newest, and while proofs use it. */
const KEPT_MAX = 64;

const kept = new WeakMap<Issuer, LRUCache<string, string>>();

/** Seconds after the signing of the next head for which a cosigned head is still served. */
const STALE_SECONDS_MAX = 60;
/** Maximum number of cosignatures, of the newest heads, among which the head with most cosignatures is chosen. */
const COSIGNATURES_MAX = 256;

interface StoredHead extends HeadName {
  readonly jws: string;
  /** Cosignature lines of the configured witnesses. */
  readonly lines: readonly string[];
}

export interface CheckpointParts {
  readonly database: Database;
  readonly issuer: Issuer;
  /** Witnesses whose cosignatures are shown. Empty if only the log's own signature is needed. */
  readonly witnesses: readonly VerifierKey[];
}

/** A head of a given size, one that contains a given leaf, or any. */
interface WantedHead {
  readonly tree_size?: number | null;
  readonly leaf_index?: number;
}

/** `halted`: the log is not the one that was signed, so no statement about it is made. */
type Checkpoint =
  | { readonly kind: 'known'; readonly head: HeadName; readonly note: string }
  | { readonly kind: 'unknown' | 'halted' };

/**
 * A signed head as a checkpoint (https://c2sp.org/tlog-checkpoint). It restates a head that the issuer signed under the lock of the log's
 * head. `unknown` if no batch ended at that size. Without a size, it is the newest of the heads that most witnesses have cosigned; only
 * heads count that contain the requested leaf or, without one, that were the newest within the last minute. If there are none, it is the
 * newest head, without cosignatures.
 */
export async function checkpoint(
  { database, issuer, witnesses }: CheckpointParts,
  { tree_size = null, leaf_index }: WantedHead = {},
): Promise<Checkpoint> {
  // The head may be signed by a key that another process began to use a moment ago.
  await issuer.renew();
  const stale_seconds = leaf_index === undefined ? STALE_SECONDS_MAX : null;
  const [row] = await database.query<{ halted: boolean; head: StoredHead | null }>({
    name: 'head for checkpoint',
    text: HEAD,
    values: [tree_size, witnesses.map(({ text }) => text), leaf_index ?? -1, stale_seconds],
  });
  if (!row || row.halted) return { kind: 'halted' };
  if (row.head) return { kind: 'known', head: row.head, note: checkpointOf(issuer, row.head, witnesses) };
  return tree_size ? { kind: 'unknown' } : { kind: 'known', head: empty, note: noteOf(issuer, empty) };
}

/**
 * $1: number of leaves, or null. $2: verifier keys of the witnesses. $3: index of a leaf that the head must contain, or -1. $4: maximum
 * seconds since the next head was signed, or null.
 */
const HEAD = `with newest as (
    select tree_size, witness, line from log_cosignature
    where witness = any($2) and tree_size > $3::int8 and ($1::int8 is null or tree_size = $1)
    order by tree_size desc limit ${COSIGNATURES_MAX}),
  cosigned as (
    select tree_size, count(*) as witnesses, json_agg(line order by witness) as lines from newest group by tree_size),
  served as (
    select tree_size from cosigned where $4::float8 is null or coalesce((
      select at from tree_head next where next.tree_size > cosigned.tree_size order by next.tree_size limit 1
    ) > now() - $4 * interval '1 second', true)
    order by witnesses desc, tree_size desc limit 1),
  head as (
    select tree_size, root_hash, jws, coalesce((select lines from cosigned where cosigned.tree_size = tree_head.tree_size), '[]') as lines
    from tree_head where tree_size = coalesce($1, (select tree_size from served), (select max(tree_size) from tree_head)))
  select log_head.halted is not null as halted, (select to_json(head) from head) as head from log_head`;

const empty: HeadName = { tree_size: 0, root_hash: EMPTY_ROOT.toString('hex') };

function checkpointOf(issuer: Issuer, head: StoredHead, witnesses: readonly VerifierKey[]): string {
  const notes = kept.get(issuer) ?? new LRUCache<string, string>({ max: KEPT_MAX });
  kept.set(issuer, notes);
  // The verifier keys are part of the cache's key, so that a key that was revoked meanwhile signs no further note.
  const key = [head.jws, ...issuer.verifierKeys(issuer.log_origin), ...head.lines].join('\n');
  const known = notes.get(key);
  if (known !== undefined) return known;
  requireSigned(issuer, head);
  const note = noteOf(issuer, head);
  // A stored line that was altered is left out, because clients that verify that witness would reject the whole note.
  const sound = head.lines.filter(line => openNote(note + line, witnesses).kind === 'signed');
  const cosigned = note + sound.join('');
  notes.set(key, cosigned);
  return cosigned;
}

/** @throws if the row differs from what the issuer signed, because a checkpoint would confirm it. */
function requireSigned(issuer: Issuer, { tree_size, root_hash, jws }: StoredHead): void {
  const parsed = parseJws(jws);
  const signed = parsed && verifyEs256(issuer.jwks, parsed.header.kid, parsed.input, parsed.signature);
  const same = parsed?.claims.tree_size === tree_size && parsed.claims.root_hash === root_hash;
  if (!signed || !same) throw new Error(`the stored head of size ${tree_size} is not as it was signed`);
}

function noteOf(issuer: Issuer, { tree_size, root_hash }: HeadName): string {
  const origin = issuer.log_origin;
  return issuer.signNote(origin, `${origin}\n${tree_size}\n${Buffer.from(root_hash, 'hex').toString('base64')}\n`);
}

const HEADER = 'c2sp.org/tlog-proof@v1';

/**
 * Proof that the log contains a receipt, as one text (https://c2sp.org/tlog-proof): its position, the path from its
 * leaf up, and the newest cosigned checkpoint that contains it, or else the newest.
 */
export async function tlogProof(
  parts: CheckpointParts,
  task_id: string,
): Promise<{ readonly kind: 'proven'; readonly text: string } | { readonly kind: 'unknown' | 'halted' }> {
  const { database } = parts;
  const [receipt] = await receiptsByTask(database, [task_id]);
  if (!receipt) return { kind: 'unknown' };
  // The checkpoint is read after the receipt, so that its head covers the receipt.
  const newest = await checkpoint(parts, { leaf_index: receipt.leafIndex });
  if (newest.kind !== 'known') return newest;
  const { tree_size, root_hash } = newest.head;
  const inclusion = await inclusionOf(database, receipt, tree_size, root_hash);
  return { kind: 'proven', text: proofText(inclusion, newest.note) };
}

/** @param note checkpoint to whose root the path leads */
export function proofText({ leaf_index, path }: Pick<Inclusion, 'leaf_index' | 'path'>, note: string): string {
  return [HEADER, `index ${leaf_index}`, ...path.map(hash => hash.toString('base64')), '', note].join('\n');
}
