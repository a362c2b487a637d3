import { atomicAmount } from '../../../schema/amount.ts';
import { limits } from '../../../schema/limits.ts';
import { networkNamed, networks } from '../../../schema/network.ts';
import type { ReceiptPayload, ReceiptPayment } from '../../../schema/receipt-payload.ts';
import type { Database } from '../../database.ts';
import { newestHead } from '../log/signed-heads.ts';
import { inclusionOf } from '../log/stored-proofs.ts';
import { receiptsByTask } from '../receipt/find.ts';
import type { Receipt } from '../receipt/receipt.entity.ts';
import type { Task } from '../receipt/task-status.ts';
import type { LogInclusion, ResultProof, SettlementProof, ShownFor } from './proof.type.ts';

const proves = [
  'The issuer signed this payload: it is the leaf at leaf_index of the log under the signed tree head.',
  'Nothing before that head can be changed or taken out without another root_hash.',
] as const;

/** Where the transfer is to be looked for is said beside it, and where it is not shown that it can be. */
const MOVED = 'That USDC moved: look up tx_hash on its chain, and the transfer at transfer_index.';
const MOVED_UNSHOWN = 'That USDC moved: ask with requested=true, and look the transfer up on its chain.';

const doesNotProve = [
  'That the answer was right, or that it reached anybody.',
  'That no other log is shown to others: compare tree heads with whoever else has one.',
] as const;

/** Nothing was charged, so there is no transaction to speak of. */
const ofRefused = [
  'That the call was refused rightly: the signed refusal at verify_url says by which policy.',
] as const;

/** What can be shown of a task that stands somewhere; of one without a receipt, that there is nothing to prove yet. */
export async function proveResult(database: Database, task: Task, requested: boolean): Promise<ResultProof> {
  const [receipt] = await receiptsByTask(database, [task.taskId]);
  const { taskId, status, proofOutcome, verifyUrl } = task;
  const head = { taskId, status, proofOutcome, verifyUrl };
  if (!receipt) {
    const nothing = { shownFor: null, settlement: null, inclusion: null, proves: [] };
    return {
      ...head,
      ...nothing,
      doesNotProve: proofOutcome === 'none' ? ofRefused : [MOVED_UNSHOWN, ...doesNotProve],
    };
  }
  const payload = JSON.parse(receipt.payload) as ReceiptPayload;
  const payment = (payload.payment ?? null) as ReceiptPayment | null;
  const shownFor = payment && reasonToShow(BigInt(payment.gross_amount), requested);
  return {
    ...head,
    shownFor,
    settlement: payment && shownFor && settlementOf(payment, receipt),
    inclusion: await includedIn(database, receipt, payload),
    proves,
    doesNotProve: payment ? [shownFor ? MOVED : MOVED_UNSHOWN, ...doesNotProve] : doesNotProve,
  };
}

function reasonToShow(amount_atomic: bigint, requested: boolean): ShownFor | null {
  if (requested) return 'requested';
  return amount_atomic >= limits.settlement_proof_gate_atomic ? 'above_cost_gate' : null;
}

function settlementOf(payment: ReceiptPayment, { settledBy, ingressReceipt }: Receipt): SettlementProof {
  const { ref, transfer_index, network, asset, gross_amount, payer, pay_to, payment_id } = payment;
  // Where the money was seen to come, once a transfer that was vouched for has been seen.
  const seen = typeof ingressReceipt?.ref === 'string' ? ingressReceipt.ref : ref;
  const known = networkNamed(network);
  return {
    paymentRef: seen,
    network,
    chain: known === null ? network : networks[known].caip2,
    txHash: seen.slice(seen.indexOf(':') + 1),
    transferIndex: transfer_index,
    asset,
    amount: atomicAmount(BigInt(gross_amount)),
    payer,
    payTo: pay_to,
    paymentId: payment_id,
    observed: settledBy === 'observed_transfer',
  };
}

async function includedIn(database: Database, receipt: Receipt, payload: ReceiptPayload): Promise<LogInclusion> {
  const head = await newestHead(database);
  if (head === null) throw new Error(`${receipt.taskId} has a receipt, and the log no head`);
  const { leaf, leaf_index, path } = await inclusionOf(database, receipt, head.treeSize);
  const { logId, treeSize, rootHash, treeHeadHash, jws, kid, at } = head;
  return {
    logId,
    leafIndex: leaf_index,
    leafHash: leaf.toString('hex'),
    path: path.map(hash => hash.toString('hex')),
    treeSize,
    rootHash,
    treeHeadHash,
    jws,
    kid,
    at,
    payload,
  };
}
