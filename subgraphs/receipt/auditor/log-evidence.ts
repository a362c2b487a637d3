import type { JsonObject } from '../../../schema/canonical-json.ts';
import { keccak256 } from '../../../schema/digest.ts';
import { networks } from '../../../schema/network.ts';
import type { Database } from '../../database.ts';
import { type CheckpointParts, checkpoint } from '../log/checkpoint.ts';
import { type JournalledAnchor, newestAnchor } from '../log/newest-anchor.ts';
import { signedHead } from '../log/signed-heads.ts';
import { consistencyProof, inclusionOf, storedRoot } from '../log/stored-proofs.ts';
import { proofText } from '../log/tlog-proof.ts';
import { LOG_ID } from '../log/tree-head.ts';
import type { Receipt } from '../receipt/receipt.entity.ts';

/**
 * That a receipt stands in the log, that the log has only grown since, and which head of it stands on Base; all of it
 * against one newest head, so that the parts agree. Null while the log is halted: nothing is stated of it then.
 */
export async function logEvidence(parts: CheckpointParts, receipt: Receipt): Promise<JsonObject | null> {
  const { database, issuer } = parts;
  const newest = await checkpoint(parts, { leaf_index: receipt.leafIndex });
  if (newest.kind !== 'known') return null;
  const { tree_size, root_hash } = newest.head;
  const [head, inclusion, consistency, anchor] = await Promise.all([
    signedHead(database, tree_size),
    inclusionOf(database, receipt, tree_size, root_hash),
    consistencyBetween(database, receipt.treeSize, tree_size),
    anchorEvidence(database, receipt, tree_size),
  ]);
  if (head === null) throw new Error(`the head of ${tree_size} leaves is not there`);
  return {
    log_id: LOG_ID,
    head: { ...head },
    inclusion: {
      leaf_index: inclusion.leaf_index,
      leaf_hash: hex(inclusion.leaf),
      tree_size,
      root_hash: hex(inclusion.root),
      path: inclusion.path.map(hex),
    },
    consistency,
    checkpoint: newest.note,
    verifier_keys: [...issuer.verifierKeys(issuer.log_origin)],
    tlog_proof: proofText(inclusion, newest.note),
    anchor,
  };
}

const hex = (hash: Buffer) => hash.toString('hex');

/** RFC 9162 §2.1.4, whichever of the two is the smaller. */
async function consistencyBetween(database: Database, one: number, other: number): Promise<JsonObject> {
  const [from, to] = one < other ? [one, other] : [other, one];
  return { from, to, proof: (await consistencyProof(database, from, to)).map(hex) };
}

const ANCHORED = 'Anchored(address,uint256,uint64,bytes32)';
const anchored_topic = `0x${Buffer.from(keccak256(Buffer.from(ANCHORED))).toString('hex')}`;

/** Null where nothing is anchored, or what was is no head of this log (a break was declared since). */
async function anchorEvidence(database: Database, { treeSize }: Receipt, size_max: number): Promise<JsonObject | null> {
  const anchor = await newestAnchor(database, size_max);
  if (anchor === null || !(await isOfThisLog(database, anchor))) return null;
  const { tree_size, root_hash, sender, tx_hash, block_number, final } = anchor;
  return {
    tree_size,
    root_hash,
    network: networks.base.name,
    chain: networks.base.caip2,
    tx_hash,
    block_number,
    final,
    sender,
    event: ANCHORED,
    topic: anchored_topic,
    consistency: await consistencyBetween(database, treeSize, tree_size),
  };
}

async function isOfThisLog(database: Database, { tree_size, root_hash }: JournalledAnchor): Promise<boolean> {
  return tree_size > 0 && hex(await storedRoot(database, tree_size)) === root_hash;
}
