import { isJsonObject, type JsonObject, present } from '../../../schema/canonical-json.ts';
import { keccak256 } from '../../../schema/digest.ts';
import { documents } from '../../../schema/documents.ts';
import { networks } from '../../../schema/network.ts';
import { signedPayment } from '../../../schema/receipt-payload.ts';
import type { ReceiptPayload } from '../../../schema/receipt-shapes.ts';
import { lookUpOf } from '../../../schema/transfer-look-up.ts';
import { iso } from '../../clock.ts';
import type { Database } from '../../database.ts';
import type { ReceiptContext } from '../context.ts';
import type { Issuer } from '../issuer/signing-keys.ts';
import { type JournalledAnchor, newestAnchor } from '../log/anchor-journal.ts';
import { type CheckpointParts, checkpoint, proofText } from '../log/checkpoint.ts';
import { signedHead } from '../log/signed-heads.ts';
import { consistencyProof, inclusionOf, storedRoot } from '../log/stored-proofs.ts';
import { LOG_ID } from '../log/tree-head.ts';
import { laneOf, receiptDocument } from '../receipt/document.ts';
import type { Receipt } from '../receipt/receipt.entity.ts';
import { refusalDocument } from '../refusal/find.ts';
import type { SignedRefusal } from '../refusal/refusal.entity.ts';
import {
  receiptChecks,
  receiptDoesNotProve,
  receiptProves,
  refusalChecks,
  refusalDoesNotProve,
  refusalProves,
  routeSentences,
} from './sentences.ts';

/**
 * Everything an auditor needs for one receipt, in one document (GET /receipt/{task_id}?format=auditor). `npm run verify` checks it offline,
 * without further requests. Unsigned parts are evidence to be checked, not statements of the issuer.
 */
export async function receiptAudit(receipt: Receipt, context: ReceiptContext): Promise<JsonObject> {
  const { issuer, base_url, profile, clock } = context;
  await issuer.renew();
  const log = await logEvidence(context, receipt);
  const payload = JSON.parse(receipt.payload) as ReceiptPayload;
  const newest_size = context.newestSize();
  const transfer = lookUpOf(payload, receipt.ingressReceipt);
  const anchored = isJsonObject(log?.anchor);
  return present({
    schema: documents.receipt_audit,
    as_of: iso(clock.now_ms()),
    receipt: receiptDocument(receipt, base_url, profile, newest_size),
    preimage: receipt.payload,
    keys: issuer.jwks,
    issuer_history: historyOf(issuer, payload),
    receipt_policy: policyOf(issuer.policyHistory, payload),
    log,
    transfer,
    lane: laneFactsOf(receipt, payload, newest_size),
    proves: receiptProves({ in_log: log !== null, anchored }),
    does_not_prove: receiptDoesNotProve({
      moved: tokenOf(payload),
      payer_unproven: payload.payer_proven === false,
      named: routeSentences(payload),
      reported: isJsonObject(payload.reported) ? payload.reported : null,
      in_log: log !== null,
      anchored,
    }),
    checks: receiptChecks({ transfer, anchored }),
  });
}

/** Usual name of the token that moved. Null if nothing was paid. */
function tokenOf(payload: JsonObject): string | null {
  const { rail } = signedPayment(payload) ?? {};
  return typeof rail === 'string' ? rail.toUpperCase() : null;
}

/** Snapshot of the issuer history whose hash the receipt signs. Null if the version of the receipt signs none. */
function historyOf(issuer: Issuer, { issuer_history: signed }: JsonObject): JsonObject | null {
  return isJsonObject(signed) ? issuer.historySnapshot({ hash: String(signed.hash) }) : null;
}

/** Policy whose hash the receipt signs, as the policy history shows it. Null if the version of the receipt signs none. */
function policyOf({ policies }: JsonObject, { receipt_policy: signed }: JsonObject): JsonObject | null {
  const hash = isJsonObject(signed) ? signed.hash : null;
  const found = Array.isArray(policies) ? policies.find(each => isJsonObject(each) && each.hash === hash) : null;
  return isJsonObject(found) ? found : null;
}

function laneFactsOf(receipt: Receipt, payload: JsonObject, newest_size: number | null): JsonObject {
  const { proofOutcome, settledBy, ingressReceipt, omissionRule, bookSeq } = receipt;
  return {
    book_seq: bookSeq,
    settled_by: settledBy,
    proof_outcome: proofOutcome,
    ingress_receipt: ingressReceipt,
    omission_rule: omissionRule,
    ...laneOf(receipt, payload, newest_size),
  };
}

/**
 * Proofs that the log contains a receipt and has only grown since, and the tree head that is anchored on Base. All of them refer to one
 * newest tree head, so that they agree. Null while the log is halted.
 */
async function logEvidence(parts: CheckpointParts, receipt: Receipt): Promise<JsonObject | null> {
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

/** Consistency proof between two sizes of the log, which may be given in either order (RFC 9162 §2.1.4). */
async function consistencyBetween(database: Database, one: number, other: number): Promise<JsonObject> {
  const [from, to] = one < other ? [one, other] : [other, one];
  return { from, to, proof: (await consistencyProof(database, from, to)).map(hex) };
}

const ANCHORED = 'Anchored(address,uint256,uint64,bytes32)';
const anchored_topic = `0x${Buffer.from(keccak256(Buffer.from(ANCHORED))).toString('hex')}`;

/**
 * Evidence of the newest anchor. Null if nothing is anchored, or if the anchored tree head is not of this log, because a break was declared
 * since.
 */
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

/** Everything an auditor needs for one refusal (GET /refusal/{refusal_id}?format=auditor). Refusals are not leaves of the log. */
export async function refusalAudit(refusal: SignedRefusal, context: ReceiptContext): Promise<JsonObject> {
  const { issuer, base_url, clock } = context;
  await issuer.renew();
  return present({
    schema: documents.refusal_audit,
    as_of: iso(clock.now_ms()),
    refusal: refusalDocument(refusal, base_url),
    preimage: refusal.payload,
    keys: issuer.jwks,
    issuer_history: issuer.historySnapshot({}),
    proves: [...refusalProves],
    does_not_prove: [...refusalDoesNotProve],
    checks: [...refusalChecks],
  });
}
