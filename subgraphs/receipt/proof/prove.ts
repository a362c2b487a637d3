import { atomicAmount } from '../../../schema/amount.ts';
import { isJsonObject } from '../../../schema/canonical-json.ts';
import { limits } from '../../../schema/limits.ts';
import { networkNamed, networks } from '../../../schema/network.ts';
import type { ForeignRail } from '../../../schema/observed-transfer.ts';
import { signedPayment } from '../../../schema/receipt-payload.ts';
import type { ReceiptPayload, ReceiptPayment } from '../../../schema/receipt-shapes.ts';
import type { ProofReason } from '../../../schema/result-proof.ts';
import { notSettledHere } from '../../../schema/router/work-report.ts';
import type { Database } from '../../database.ts';
import { routeSentences } from '../auditor/sentences.ts';
import { newestHead } from '../log/signed-heads.ts';
import { inclusionOf } from '../log/stored-proofs.ts';
import { receiptsByTask } from '../receipt/find.ts';
import type { Receipt } from '../receipt/receipt.entity.ts';
import type { Task } from '../receipt/task-status.ts';
import type { LogInclusion, ResultProof, SettlementProof } from './proof.type.ts';

const proves = [
  'The issuer signed this payload: it is the leaf at leaf_index of the log under the signed tree head.',
  'Nothing before that head can be changed or taken out without another root_hash.',
] as const;

/** Where the transfer is to be looked for is said beside it, and where it is not shown that it can be. */
const moved = (token: string) =>
  `That ${token} moved: look up tx_hash on its chain, and the transfer at transfer_index.`;
const movedUnshown = (token: string) =>
  `That ${token} moved: ask with requested=true, and look the transfer up on its chain.`;

const NOTHING_PAID = 'That anything was paid: no payment stands behind this task.';
const PAYER_UNPROVEN = 'That the agent of the book paid it: nobody has shown that, and it counts in no sum.';
const VOUCHED = 'That this service has seen the transfer: it rests on the word of a facilitator.';

const doesNotProve = [
  'That these keys are the issuer’s: compare them with a key set, or an issuer history, that you had before.',
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
      doesNotProve: withoutReceipt(task),
    };
  }
  const payload = JSON.parse(receipt.payload) as ReceiptPayload;
  const payment = signedPayment(payload) as ProvablePayment | null;
  const shownFor = payment && reasonToShow(payment, requested);
  const token = payment?.rail.toUpperCase() ?? '';
  return {
    ...head,
    shownFor,
    settlement: payment && shownFor && settlementOf(payment, receipt),
    inclusion: await includedIn(database, receipt, payload),
    proves,
    doesNotProve: [
      ...(payment ? [(shownFor ? moved : movedUnshown)(token)] : [NOTHING_PAID]),
      ...(payload.payer_proven === false ? [PAYER_UNPROVEN] : []),
      ...(payment && !isObserved(receipt) ? [VOUCHED] : []),
      ...(isJsonObject(payload.reported) ? [`That what was reported is so. ${notSettledHere(payload.reported)}`] : []),
      ...routeSentences(payload),
      ...doesNotProve,
    ],
  };
}

/** Only a refused task has a signed refusal at its verify_url; of a task whose payment will not come any more nothing moved. */
function withoutReceipt({ status, proofOutcome }: Task): readonly string[] {
  if (status === 'refused') return ofRefused;
  return [proofOutcome === 'none' ? NOTHING_PAID : movedUnshown('USDC'), ...doesNotProve];
}

function reasonToShow({ rail, gross_amount }: ProvablePayment, requested: boolean): ProofReason | null {
  if (requested) return 'requested';
  // The gate is one of USDC.
  return rail === 'usdc' && BigInt(gross_amount) >= limits.settlement_proof_gate_atomic ? 'above_cost_gate' : null;
}

/** The transfer of a book chain served another purchase, and has no payment id here. */
type ProvablePayment = Omit<ReceiptPayment, 'payment_id' | 'rail'> & {
  readonly rail: ForeignRail;
  readonly payment_id?: string;
};

function settlementOf(payment: ProvablePayment, { settledBy, ingressReceipt }: Receipt): SettlementProof {
  const { ref, transfer_index, network, asset, gross_amount, payer, pay_to, payment_id = null } = payment;
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
    observed: isObserved({ settledBy }),
  };
}

function isObserved({ settledBy }: Pick<Receipt, 'settledBy'>): boolean {
  return settledBy === 'observed_transfer';
}

async function includedIn(database: Database, receipt: Receipt, payload: ReceiptPayload): Promise<LogInclusion> {
  const head = await newestHead(database);
  if (head === null) throw new Error(`${receipt.taskId} has a receipt, and the log no head`);
  const { leaf, leaf_index, path } = await inclusionOf(database, receipt, head.treeSize, head.rootHash);
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
