import { canonicalHash } from '../../../schema/digest.ts';
import { iso } from '../../clock.ts';
import type { Tx } from '../../database.ts';
import type { Issuer } from '../issuer/keys.ts';
import { appendLeaf, EMPTY_ROOT, type Frontier, rootOf, type TreeNode } from './merkle.ts';

/** There is one log; its number is signed with every head, so that a second could never be passed off as the first. */
export const LOG_ID = 1;

export interface TreeHeadFacts {
  readonly log_id: number;
  readonly tree_size: number;
  /** Lower-case hex. */
  readonly root_hash: string;
}

export interface SignedTreeHead extends TreeHeadFacts {
  readonly tree_head_hash: string;
  readonly kid: string;
  readonly jws: string;
  readonly at: string;
}

/** Where a leaf came to stand, and the head of the log's prefix that ends with it. */
export interface LeafPosition {
  readonly leaf_index: number;
  readonly tree_size: number;
  readonly root_hash: string;
  readonly tree_head_hash: string;
}

/** SHA-256 of the canonical {log_id, tree_size, root_hash}: what receipts and signed heads both sign. */
export function treeHeadHash(head: TreeHeadFacts): string {
  return canonicalHash({ log_id: head.log_id, tree_size: head.tree_size, root_hash: head.root_hash });
}

/**
 * The log while its head is locked by this transaction. Leaves get their places here and nowhere else;
 * `store` must be called once, before the transaction commits.
 */
export class OpenLog {
  /** Database time, never before the last batch's: the order of leaves is the order of their times. */
  readonly collected_at_ms: number;
  #size: number;
  #frontier: Frontier;
  readonly #nodes: TreeNode[] = [];

  constructor(size: number, frontier: Frontier, collected_at_ms: number) {
    this.#size = size;
    this.#frontier = frontier;
    this.collected_at_ms = collected_at_ms;
  }

  append(leaf_hash: Buffer): LeafPosition {
    const { frontier, root, nodes } = appendLeaf(this.#frontier, this.#size, leaf_hash);
    this.#frontier = frontier;
    this.#nodes.push(...nodes);
    const leaf_index = this.#size++;
    const head = { log_id: LOG_ID, tree_size: this.#size, root_hash: root.toString('hex') };
    return { leaf_index, tree_size: head.tree_size, root_hash: head.root_hash, tree_head_hash: treeHeadHash(head) };
  }

  /** Writes the nodes and the head, and signs the head. @throws where nothing was appended. */
  store(tx: Tx, issuer: Issuer): SignedTreeHead {
    if (this.#nodes.length === 0) throw new RangeError('nothing was appended to the log');
    const root = rootOf(this.#frontier);
    const head = signHead(issuer, this.#size, root, this.collected_at_ms);
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
      ],
    });
    return head;
  }
}

/** In one statement, since others wait for the head meanwhile. */
const STORE = `with node as (
    insert into log_node (level, index, hash)
    select level, index, hash from jsonb_populate_recordset(null::log_node, $6::jsonb)),
  signed as (
    insert into tree_head (tree_size, log_id, root_hash, tree_head_hash, kid, jws, at)
    select tree_size, log_id, root_hash, tree_head_hash, kid, jws, at from jsonb_populate_record(null::tree_head, $7::jsonb))
  update log_head set tree_size = $2, root_hash = $3, frontier = $4, last_at_ms = $5 where log_id = $1`;

/** Waits for the log's head and holds it until the transaction ends. Taken after claim keys, before book heads. */
export async function lockLogHead(tx: Tx): Promise<OpenLog> {
  const { rows } = await tx.query<HeadRow>({ name: 'lock log head', text: LOCK, values: [LOG_ID] });
  const head = rows[0];
  if (head === undefined) throw new Error(`the log has no head ${LOG_ID}`);
  return new OpenLog(head.tree_size, peaks(head.frontier), Math.max(head.now_ms, head.last_at_ms));
}

interface HeadRow {
  readonly tree_size: number;
  readonly frontier: Buffer;
  readonly last_at_ms: number;
  readonly now_ms: number;
}

/** The clock is read above the locking scan, hence after the wait: below it a waiter would bring its time of arrival. */
const LOCK = `with head as materialized (select tree_size, frontier, last_at_ms from log_head where log_id = $1 for update)
select head.*, floor(extract(epoch from clock_timestamp()) * 1000)::int8 as now_ms from head`;

/** The head of the log before its first leaf: saved at the first start, so that a missing file is always a lost one. */
export function emptyHead(issuer: Issuer, at_ms: number): SignedTreeHead {
  return signHead(issuer, 0, EMPTY_ROOT, at_ms);
}

function signHead(issuer: Issuer, tree_size: number, root: Buffer, at_ms: number): SignedTreeHead {
  const facts = { log_id: LOG_ID, tree_size, root_hash: root.toString('hex') };
  const claims = { ...facts, tree_head_hash: treeHeadHash(facts) };
  const jws = issuer.signJws({ iss: issuer.base_url, iat: Math.floor(at_ms / 1000), ...claims });
  return { ...claims, kid: issuer.kid, jws, at: iso(at_ms) };
}

const HASH_BYTES = 32;

function peaks(frontier: Buffer): Buffer[] {
  const hashes: Buffer[] = [];
  for (let at = 0; at < frontier.length; at += HASH_BYTES) hashes.push(frontier.subarray(at, at + HASH_BYTES));
  return hashes;
}

const bytea = (bytes: Buffer) => `\\x${bytes.toString('hex')}`;
