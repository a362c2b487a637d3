import { iso } from '../../clock.ts';
import type { Database, Tx } from '../../database.ts';
import { LOG_CHANNEL } from '../../live-channels.ts';
import type { Issuer } from '../issuer/signing-keys.ts';
import { EMPTY_ROOT, rootOf } from '../verify/merkle-proof.ts';
import type { LogHalt } from './halt.ts';
import type { HeadLink, KnownLog } from './known-log.ts';
import { appendLeaf, type Frontier, peaksOf, type TreeNode } from './merkle-tree.ts';
import { compareHeads, requireExtended } from './prove-intact.ts';
import {
  type HeadName,
  isSameHead,
  LOG_ID,
  type SignedTreeHead,
  type TreeHeadFacts,
  treeHeadHash,
} from './tree-head.ts';

/** Position of a leaf, and the tree head of the log up to this leaf. */
export interface LeafPosition {
  readonly leaf_index: number;
  readonly tree_size: number;
  readonly root_hash: string;
  readonly tree_head_hash: string;
}

/**
 * The log while this transaction locks its head. Leaves get their positions only here. `store` must be called once, before the transaction
 * commits.
 */
export class OpenLog {
  /** Database time in Unix milliseconds, never before that of the last batch, so that leaves are in the order of their times. */
  readonly collected_at_ms: number;
  /** Head that this log continues, computed from the frontier. */
  readonly found: HeadName;
  #size: number;
  #frontier: Frontier;
  /** Head of the tree that ends with the newest leaf. Null before the first `append`. */
  #head: HashedHead | null = null;
  readonly #nodes: TreeNode[] = [];

  constructor(size: number, frontier: Frontier, collected_at_ms: number) {
    this.found = { tree_size: size, root_hash: rootOf(frontier).toString('hex') };
    this.#size = size;
    this.#frontier = frontier;
    this.collected_at_ms = collected_at_ms;
  }

  append(leaf_hash: Buffer): LeafPosition {
    const { frontier, root, nodes } = appendLeaf(this.#frontier, this.#size, leaf_hash);
    this.#frontier = frontier;
    this.#nodes.push(...nodes);
    const leaf_index = this.#size++;
    this.#head = hashedHead(this.#size, root);
    const { tree_size, root_hash, tree_head_hash } = this.#head;
    return { leaf_index, tree_size, root_hash, tree_head_hash };
  }

  /** Writes the nodes and the head, signs the head, and notifies every process. @throws if nothing was appended. */
  store(tx: Tx, issuer: Issuer): SignedTreeHead {
    if (this.#head === null) throw new RangeError('nothing was appended to the log');
    const head = signHead(issuer, this.#head, this.collected_at_ms);
    const root = Buffer.from(head.root_hash, 'hex');
    const nodes = this.#nodes.map(node => ({ ...node, hash: bytea(node.hash) }));
    tx.write({
      name: 'store log',
      text: STORE,
      values: [
        LOG_ID,
        this.#size,
        root,
        Buffer.concat(this.#frontier),
        this.collected_at_ms,
        JSON.stringify(nodes),
        JSON.stringify(head),
        linkText({ from: this.found, to: head }),
      ],
    });
    return head;
  }
}

/** One statement, because other processes wait for the head meanwhile. */
const STORE = `with node as (
    insert into log_node (level, index, hash)
    select level, index, hash from jsonb_populate_recordset(null::log_node, $6::jsonb)),
  signed as (
    insert into tree_head (tree_size, log_id, root_hash, tree_head_hash, kid, jws, at)
    select tree_size, log_id, root_hash, tree_head_hash, kid, jws, at from jsonb_populate_record(null::tree_head, $7::jsonb)),
  moved as (
    update log_head set tree_size = $2, root_hash = $3, frontier = $4, last_at_ms = $5 where log_id = $1)
  select pg_notify('${LOG_CHANNEL}', $8)`;

/** Text of a commit on the channel: `<size>:<root>><size>:<root>`. */
function linkText({ from, to }: HeadLink): string {
  return `${from.tree_size}:${from.root_hash}>${to.tree_size}:${to.root_hash}`;
}

/** Reads the text of a commit. Null if it is no such text. */
export function linkFromText(text: string): HeadLink | null {
  const parts = /^(\d{1,15}):([0-9a-f]{64})>(\d{1,15}):([0-9a-f]{64})$/.exec(text);
  if (!parts) return null;
  const [, from_size, from_root = '', to_size, to_root = ''] = parts;
  return {
    from: { tree_size: Number(from_size), root_hash: from_root },
    to: { tree_size: Number(to_size), root_hash: to_root },
  };
}

/**
 * Locks the log's head until the transaction ends. It must be locked after claim keys and before book heads. The stored log must extend
 * every signed head that this process has recorded; otherwise nothing may be appended. If no other process has committed, that takes one
 * comparison, otherwise one more statement over O(log n) rows. @throws LogHalted
 */
export async function lockLogHead(tx: Tx, known: KnownLog): Promise<OpenLog> {
  known.requireSound();
  const { rows } = await tx.query<HeadRow>({
    name: 'lock log head',
    changes_nothing: true,
    text: LOCK,
    values: [LOG_ID],
  });
  const head = rows[0];
  if (head === undefined) throw new Error(`the log has no head ${LOG_ID}`);
  const found = { tree_size: head.tree_size, root_hash: head.root_hash.toString('hex') };
  // No other process can commit now, so all heads that are known at this moment were committed before.
  const heads = known.heads();
  // The exception: if this process was suspended, the server has ended its session, and others may have committed. This statement then
  // fails.
  if (compareHeads(heads, found).kind === 'contradicted') await tx.query('select');
  await requireExtended(nodesWithin(tx), known, heads, { found, halted: head.halted });
  const frontier = peaks(head.frontier);
  const log = new OpenLog(head.tree_size, frontier, Math.max(head.now_ms, head.last_at_ms));
  // The next leaf continues the frontier. If the root of the frontier is not that of the head, the leaf would begin another tree.
  const whole = frontier.length === peaksOf(0, head.tree_size).length && isSameHead(log.found, found);
  if (!whole) throw known.stop({ known: found, found: log.found });
  return log;
}

/** The stored nodes as this transaction sees them. */
function nodesWithin(tx: Tx): Pick<Database, 'query'> {
  return { query: async statement => (await tx.query(statement)).rows as never };
}

interface HeadRow {
  readonly tree_size: number;
  readonly root_hash: Buffer;
  readonly frontier: Buffer;
  readonly last_at_ms: number;
  readonly halted: LogHalt | null;
  readonly now_ms: number;
}

/**
 * The clock is read outside the scan that locks, so after the wait for the lock. Inside it, a waiting transaction would use the time at
 * which it began to wait.
 */
const LOCK = `with head as materialized (select tree_size, root_hash, frontier, last_at_ms, halted from log_head where log_id = $1 for update)
select head.*, floor(extract(epoch from clock_timestamp()) * 1000)::int8 as now_ms from head`;

/** Signed head of the empty log. It is saved at the first start, so that a missing file always means a lost one. */
export function emptyHead(issuer: Issuer, at_ms: number): SignedTreeHead {
  return signHead(issuer, hashedHead(0, EMPTY_ROOT), at_ms);
}

interface HashedHead extends TreeHeadFacts {
  readonly tree_head_hash: string;
}

function hashedHead(tree_size: number, root: Buffer): HashedHead {
  const facts = { log_id: LOG_ID, tree_size, root_hash: root.toString('hex') };
  return { ...facts, tree_head_hash: treeHeadHash(facts) };
}

function signHead(issuer: Issuer, head: HashedHead, at_ms: number): SignedTreeHead {
  const jws = issuer.signJws({ iss: issuer.base_url, iat: Math.floor(at_ms / 1000), ...head });
  return { ...head, kid: issuer.kid, jws, at: iso(at_ms) };
}

const HASH_BYTES = 32;

function peaks(frontier: Buffer): Buffer[] {
  const hashes: Buffer[] = [];
  for (let at = 0; at < frontier.length; at += HASH_BYTES) hashes.push(frontier.subarray(at, at + HASH_BYTES));
  return hashes;
}

const bytea = (bytes: Buffer) => `\\x${bytes.toString('hex')}`;
