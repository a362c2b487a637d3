import { type AtomicAmount, atomicAmount, formatUsdc } from '../../../schema/amount.ts';
import { canonicalJson, type JsonObject } from '../../../schema/canonical-json.ts';
import { checksummedAddress } from '../../../schema/eip55.ts';
import { networks } from '../../../schema/network.ts';
import { BOOK_CHAIN_VERSION, signedTransfer } from '../../../schema/receipt-payload.ts';
import { sumsAsJson } from '../../../schema/reconciliation.ts';
import {
  classifyTransfers,
  noSums,
  type SentTransfer,
  sumClasses,
  type TransferClassification,
  type TransferUse,
  transferClasses,
} from '../../../schema/reconciliation-rule.ts';
import { systemClock } from '../../../subgraphs/clock.ts';
import { verifyReceipt } from '../../../subgraphs/receipt/verify/receipt.ts';
import { OperatorFault } from '../../config/fault.ts';
import { progressBar } from '../export/progress-bar.ts';
import { TransferSource } from '../witness/monitor/chain.ts';
import { paidOf } from '../witness/monitor/checked-receipt.ts';
import { WatchedService, walletSigner } from '../witness/monitor/watched-service.ts';
import type { ReconcileOptions } from './options.ts';

/** Reads the chain and the wallet's receipts, and compares them. @throws LogAway, OperatorFault */
export async function reconcile(options: ReconcileOptions): Promise<ReconcileReport> {
  const { wallet, own, url, signature_file } = options;
  const sign = await walletSigner({ wallet, base_url: url, signature_file }, systemClock);
  const transfers = await readTransfers(options);
  const service = new WatchedService(url);
  const jwks = await service.jwks();
  const checked: CheckedUse[] = [];
  const bar = progressBar(process.stderr, { unit: 'receipts', total: null });
  // Receipts are read after the chain, so that the payments in the last of these blocks already have theirs.
  for await (const document of service.receipts(wallet, sign, -1))
    bar.show(checked.push(checkedUse(document, jwks, url)));
  bar.end();
  const uses = checked.flatMap(each => (each.kind === 'verified' ? [each.use] : []));
  return {
    options,
    transfers: classifyTransfers(transfers, { own: new Set([wallet, ...own]), uses }),
    wrong: checked.filter(each => each.kind === 'wrong'),
  };
}

async function readTransfers({ wallet, from, to, rpc }: ReconcileOptions): Promise<SentTransfer[]> {
  const chain = new TransferSource(rpc);
  const [chain_id, newest] = await Promise.all([chain.chainId(), chain.newestBlock()]);
  if (chain_id !== networks.base.chain_id)
    throw new OperatorFault(
      `the node of --rpc or BASE_RPC_URL is of chain ${chain_id}; give one of Base (chain ${networks.base.chain_id}) with --rpc`,
    );
  if (to > newest)
    throw new OperatorFault(`--to is ${to}, but the newest block of the chain is ${newest}; use a lower --to`);
  const bar = progressBar(process.stderr, { unit: 'blocks', total: to - from + 1 });
  const read = await chain.transfers({ wallet, treasuries: null }, { from, to }, done => bar.show(done));
  bar.end();
  if (!process.stderr.isTTY) console.error(`Read ${to - from + 1} blocks: ${read.length} transfers.`);
  return read;
}

interface ReconcileReport {
  readonly options: ReconcileOptions;
  readonly transfers: readonly TransferClassification<SentTransfer, VerifiedUse>[];
  readonly wrong: readonly Extract<CheckedUse, { kind: 'wrong' }>[];
}

const usdc = (amount: bigint) => formatUsdc(atomicAmount(amount) satisfies AtomicAmount);

/** The transfers as a table, with the sum of each class. */
export function reconciledLines({ options, transfers, wrong }: ReconcileReport): string[] {
  const sums = sumClasses(noSums, transfers);
  const rows = transfers.map(({ class: of, transfer, use }) => {
    const { block_number, log_index, tx_hash, to, amount } = transfer;
    const place = `${block_number} ${tx_hash} ${log_index}`;
    return `  ${of.padEnd(11)} ${usdc(amount).padStart(16)} to ${checksummedAddress(to)}  ${place}${use ? `  ${use.task_id}` : ''}`;
  });
  return [
    ...wrong.map(({ task_id, sentence, code }) => `WRONG RECEIPT: ${task_id}: ${sentence} (${code})`),
    `${transfers.length} transfers of ${checksummedAddress(options.wallet)} in blocks ${options.from} to ${options.to}:`,
    ...rows,
    ...transferClasses.map(
      of => `${`${of}:`.padEnd(12)} ${String(sums[of].count).padStart(6)}, ${usdc(sums[of].amount)}`,
    ),
  ];
}

/** The transfers and sums as JSON. */
export function reconciledJson({ options, transfers, wrong }: ReconcileReport): string {
  return canonicalJson({
    wallet: checksummedAddress(options.wallet),
    from_block: options.from,
    to_block: options.to,
    transfers: transfers.map(({ class: of, transfer, use }) => ({
      block_number: transfer.block_number,
      log_index: transfer.log_index,
      tx_hash: transfer.tx_hash,
      payee: checksummedAddress(transfer.to),
      amount: transfer.amount.toString(),
      class: of,
      task_id: use?.task_id ?? null,
    })),
    sums: sumsAsJson(sumClasses(noSums, transfers)),
    wrong_receipts: wrong.map(({ task_id, code, sentence }) => ({ task_id, code, sentence })),
  });
}

/** The payment of a receipt with valid signatures. */
interface VerifiedUse extends TransferUse {
  readonly task_id: string;
}

type CheckedUse =
  | { readonly kind: 'verified'; readonly use: VerifiedUse }
  /** Paid on another network, not paid, or paid by a payer who is not proven. */
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'wrong'; readonly task_id: string; readonly code: string; readonly sentence: string };

/** The payment on Base that a receipt names, if the receipt is valid. */
function checkedUse(document: JsonObject, jwks: JsonObject, url: string): CheckedUse {
  const task_id = String(document.task_id);
  const verified = verifyReceipt(document, jwks, { base_url: url });
  if (verified.kind === 'invalid') return { kind: 'wrong', task_id, code: verified.code, sentence: verified.sentence };
  const { claims } = verified;
  const payment = signedTransfer(claims);
  if (payment?.network !== 'base') return { kind: 'elsewhere' };
  // A receipt in a book chain is for a payment to others if it has a row. Otherwise it is for the stamp that paid for the recording.
  const ingested = claims.payload_version === BOOK_CHAIN_VERSION && typeof claims.book_seq === 'number';
  if (ingested && claims.payer_proven === false) return { kind: 'elsewhere' };
  return { kind: 'verified', use: { kind: ingested ? 'ingest' : 'receipt', ...paidOf(task_id, payment, document) } };
}
