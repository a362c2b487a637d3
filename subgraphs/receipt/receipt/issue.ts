import { atomicAmount } from '../../../schema/amount.ts';
import { type JsonObject, present } from '../../../schema/canonical-json.ts';
import type { ProofOutcome } from '../../../schema/receipt-payload.ts';
import { iso } from '../../clock.ts';
import { asEntity } from '../../columns.ts';
import { insertRows, type Tx } from '../../database.ts';
import type { Issuer } from '../issuer/keys.ts';
import type { LeafPosition, OpenLog } from '../log/head.ts';
import type { PreparedReceipt, ReceiptFacts } from './prepare.ts';
import { Receipt } from './receipt.entity.ts';

export interface ReceiptItem {
  readonly prepared: PreparedReceipt;
  /** The row's place on its book; null for a receipt without a book. */
  readonly book_seq: number | null;
}

/**
 * Gives each receipt its leaf, in the order of `items`, signs its place and writes it.
 * The log's head is locked: nothing here waits for anything but the database and our own threads. The caller stores the log.
 */
export async function issueReceipts(
  tx: Tx,
  log: OpenLog,
  issuer: Issuer,
  items: readonly ReceiptItem[],
): Promise<Receipt[]> {
  const receipts = await Promise.all(items.map(item => placeReceipt(item, log, issuer)));
  insertRows(tx, 'receipt', receipts.map(record));
  return receipts;
}

/** One receipt in its place, which it takes before anything is waited for, signed; not yet written. */
export async function placeReceipt(
  { prepared, book_seq }: ReceiptItem,
  log: OpenLog,
  issuer: Issuer,
): Promise<Receipt> {
  const { facts, payload } = prepared;
  const place = log.append(prepared.leaf_hash);
  const claims = claimsOf(prepared, place, book_seq, log.collected_at_ms, issuer.base_url);
  const [jws, [value, signature]] = await Promise.all([issuer.signJwsAside(claims), prepared.signed]);
  const receipt: Receipt = {
    taskId: facts.task_id,
    leafIndex: place.leaf_index,
    treeSize: place.tree_size,
    rootHash: place.root_hash,
    treeHeadHash: place.tree_head_hash,
    payload: prepared.canonical,
    payloadHash: prepared.payload_hash,
    payloadVersion: payload.payload_version,
    jws,
    kid: issuer.kid,
    value,
    signature,
    coSignature: prepared.co_signature,
    paymentRef: facts.payment?.ref ?? null,
    agentId: facts.agent_id,
    bookSeq: book_seq,
    payerWallet: facts.caller_binding.payer_wallet ?? null,
    hub: facts.hub,
    model: facts.model,
    amount: facts.payment && atomicAmount(BigInt(facts.payment.gross_amount)),
    settledBy: facts.settled_by,
    proofOutcome: proofOutcomeOf(facts),
    ingressReceipt: null,
    omissionRule: null,
    chainEpoch: facts.chain_epoch ?? 0,
    chainEnded: false,
    issuedAt: new Date(facts.issued_at),
    collectedAt: new Date(log.collected_at_ms),
  };
  return asEntity(Receipt, receipt);
}

function proofOutcomeOf({ settled_by, waived_by }: ReceiptFacts): ProofOutcome {
  if (waived_by) return 'none';
  return settled_by === 'receipt' ? 'pending' : 'settled';
}

/** The payload's members and, beside them, what is only known once the head is locked (RFC 7519 §4.1 names first). */
function claimsOf(
  { payload, payload_hash }: PreparedReceipt,
  { leaf_index, tree_size, tree_head_hash }: LeafPosition,
  book_seq: number | null,
  collected_at_ms: number,
  iss: string,
): JsonObject {
  return present({
    iss,
    iat: Math.floor(collected_at_ms / 1000),
    jti: payload.task_id,
    ...payload,
    payload_hash,
    tree_head_hash,
    tree_size,
    leaf_index,
    book_seq,
    collected_at: iso(collected_at_ms),
  });
}

/** The columns, spelled out: what is written here is what `Receipt` reads. */
function record(receipt: Receipt): object {
  return {
    task_id: receipt.taskId,
    leaf_index: receipt.leafIndex,
    tree_size: receipt.treeSize,
    root_hash: receipt.rootHash,
    tree_head_hash: receipt.treeHeadHash,
    payload: receipt.payload,
    payload_hash: receipt.payloadHash,
    payload_version: receipt.payloadVersion,
    jws: receipt.jws,
    kid: receipt.kid,
    value: receipt.value,
    signature: receipt.signature,
    co_signature: receipt.coSignature,
    payment_ref: receipt.paymentRef,
    agent_id: receipt.agentId,
    book_seq: receipt.bookSeq,
    payer_wallet: receipt.payerWallet,
    hub: receipt.hub,
    model: receipt.model,
    amount: receipt.amount?.toString() ?? null,
    settled_by: receipt.settledBy,
    proof_outcome: receipt.proofOutcome,
    chain_epoch: receipt.chainEpoch,
    issued_at: receipt.issuedAt,
    collected_at: receipt.collectedAt,
  };
}
