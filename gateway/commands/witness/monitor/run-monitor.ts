import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { systemClock } from '../../../../subgraphs/clock.ts';
import { OperatorFault } from '../../../config/fault.ts';
import { progressBar } from '../../export/progress-bar.ts';
import type { LeafFile } from '../catch-up.ts';
import type { LogCheck } from '../follower.ts';
import { LogAway } from '../log-source.ts';
import { ChainSilent, TransferSource } from './chain.ts';
import { type CheckedReceipt, checkedReceipt, type WrongReceipt } from './checked-receipt.ts';
import {
  type MatchReport,
  matchPayments,
  type PaymentMismatch,
  type SeenTransfer,
  type WalletPayment,
} from './match.ts';
import { WatchedService, walletSigner } from './watched-service.ts';

/** The wallet whose receipts are checked, and the chain's node from which its transfers are read. */
export interface MonitoredWallet {
  /** In lower case. */
  readonly wallet: string;
  readonly rpc: string;
  /** First block that is read; null for the block of the first receipt. */
  readonly from_block: number | null;
  /** Addresses in addition to the one that the service offers now. */
  readonly treasuries: readonly string[];
  readonly signature_file: string | null;
}

interface MonitoredLog {
  readonly url: string;
  /** Checks the log, which also stores its new leaves in `leaves`. */
  look(): Promise<LogCheck>;
  readonly leaves: LeafFile;
}

/** Time to wait for the receipt of a call, which follows its payment after a moment. */
const GRACE_MS = 3_000;

/**
 * Checks a wallet once: each receipt against its signatures and the log's leaves, and all receipts against the transfers to the
 * treasury. Prints a line for each mismatch and returns the exit code. @throws OperatorFault
 */
export async function monitorWallet(monitored: MonitoredWallet, watching: MonitoredLog): Promise<number> {
  try {
    return await monitor(monitored, watching);
  } catch (fault) {
    if (!(fault instanceof LogAway)) throw fault;
    console.error(`Cannot check: ${fault.message}.`);
    return 1;
  }
}

async function monitor(monitored: MonitoredWallet, { url, look, leaves }: MonitoredLog): Promise<number> {
  const { wallet, signature_file } = monitored;
  const sign = await walletSigner({ wallet, base_url: url, signature_file }, systemClock);
  const service = new WatchedService(url);
  const chain = new TransferSource(monitored.rpc);
  const [jwks, current, newest] = await Promise.all([service.jwks(), service.treasury(), chain.newestBlock()]);
  const known = new Receipts(async behind => {
    const found: JsonObject[] = [];
    const bar = progressBar(process.stderr, { unit: 'receipts', total: null });
    for await (const document of service.receipts(wallet, sign, behind)) bar.show(found.push(document));
    bar.end();
    const looked = await look();
    if ('sentence' in looked) throw new LogAway(looked.sentence);
    return Promise.all(found.map(document => checkedReceipt(document, { jwks, wallet, url, leaves })));
  });
  await known.readMore();
  const treasuries = [
    ...new Set([...monitored.treasuries, ...(current ? [current] : []), ...known.paid.map(it => it.pay_to)]),
  ];
  if (treasuries.length === 0)
    throw new OperatorFault(
      'the treasury address is unknown: the service offers no payment on Base, and no valid receipt of the wallet names it; give --treasury',
    );
  const between = { wallet, treasuries };
  const from = monitored.from_block ?? (await firstBlock(chain, known.paid, between)) ?? newest;
  const bar = progressBar(process.stderr, { unit: 'blocks', total: newest - from + 1 });
  const transfers = await chain.transfers(between, { from, to: newest }, done => bar.show(done));
  bar.end();
  if (matchPayments(known.paid, transfers).findings.some(({ kind }) => kind === 'transfer_without_receipt')) {
    await sleep(GRACE_MS);
    await known.readMore();
  }
  const matching = await matchedAll(known.paid, transfers, { chain, between, from, newest });
  return report({ wallet, treasuries, from, newest, known, matching });
}

/** The receipts that were checked so far. `readMore` reads the later ones. */
class Receipts {
  readonly paid: WalletPayment[] = [];
  readonly wrong: WrongReceipt[] = [];
  readonly elsewhere: string[] = [];
  #behind = -1;
  readonly #read: (behind: number) => Promise<readonly CheckedReceipt[]>;

  constructor(read: (behind: number) => Promise<readonly CheckedReceipt[]>) {
    this.#read = read;
  }

  async readMore(): Promise<void> {
    for (const checked of await this.#read(this.#behind)) {
      this.#behind = Math.max(this.#behind, checked.leaf_index);
      if (checked.kind === 'paid') this.paid.push(checked.receipt);
      else if (checked.kind === 'elsewhere') this.elsewhere.push(checked.task_id);
      else this.wrong.push(checked);
    }
  }
}

type TransferRange = Parameters<TransferSource['transfers']>[0];

/** Block of the first payment that the chain has; null if it has none of them. */
async function firstBlock(
  chain: TransferSource,
  paid: readonly WalletPayment[],
  between: TransferRange,
): Promise<number | null> {
  for (const { tx_hash } of paid.slice(0, 8)) {
    const [transfer] = await chain.transfersOf(tx_hash, between);
    if (transfer) return transfer.block_number;
  }
  return null;
}

interface ReadBlocks {
  readonly chain: TransferSource;
  readonly between: TransferRange;
  /** First block that was read; `newest` is the last one. */
  readonly from: number;
  readonly newest: number;
}

/**
 * Compares receipts with transfers. A payment outside of the blocks that were read is looked up by its transaction. @throws
 * ChainSilent if the node shows such a payment in one of these blocks, because it may have omitted others too
 */
async function matchedAll(
  paid: readonly WalletPayment[],
  transfers: readonly SeenTransfer[],
  { chain, between, from, newest }: ReadBlocks,
): Promise<MatchReport> {
  const read = new Set(transfers.map(({ tx_hash }) => tx_hash));
  const unread = new Set(paid.map(({ tx_hash }) => tx_hash).filter(tx_hash => !read.has(tx_hash)));
  const others: SeenTransfer[] = [];
  for (const tx_hash of unread) others.push(...(await chain.transfersOf(tx_hash, between)));
  const left_out = others.find(({ block_number }) => from <= block_number && block_number <= newest);
  if (left_out)
    throw new ChainSilent(`the chain's node omitted ${left_out.tx_hash} from its logs, or the block has changed`);
  const { matched, findings } = matchPayments(paid, [...transfers, ...others]);
  // A transfer in a newer block may not have a receipt yet.
  const later = (it: PaymentMismatch) => it.kind === 'transfer_without_receipt' && it.transfer.block_number > newest;
  return { matched, findings: findings.filter(it => !later(it)) };
}

interface MonitorReport {
  readonly wallet: string;
  readonly treasuries: readonly string[];
  readonly from: number;
  readonly newest: number;
  readonly known: Receipts;
  readonly matching: MatchReport;
}

function report({ wallet, treasuries, from, newest, known, matching }: MonitorReport): number {
  for (const { task_id, sentence, code } of known.wrong)
    console.error(`WRONG RECEIPT: ${task_id}: ${sentence} (${code})`);
  for (const finding of matching.findings) console.error(sentenceOf(finding, newest));
  for (const task_id of known.elsewhere) console.log(`Not checked: ${task_id} was paid on another network.`);
  const wrong = known.wrong.length + matching.findings.length;
  console.log(
    `Wallet ${wallet}: ${matching.matched} receipts are in the log and match a transfer to ${treasuries.join(', ')}. Blocks ${from} to ${newest} were read.`,
  );
  console.log(wrong === 0 ? 'No mismatch was found.' : `Mismatches found: ${wrong}.`);
  return wrong === 0 ? 0 : 1;
}

/**
 * Number of blocks after which a receipt should exist: five minutes of Base. A stream continues after its payment has moved, and a
 * call whose process ended is finished later.
 */
const UNFINISHED_BLOCKS = 150;

function sentenceOf(finding: PaymentMismatch, newest: number): string {
  if (finding.kind === 'transfer_without_receipt') {
    const { tx_hash, log_index, amount, to, block_number } = finding.transfer;
    const unfinished =
      newest - block_number < UNFINISHED_BLOCKS
        ? '; it is recent, and a stream gets its receipt only when it ends'
        : '';
    return `TRANSFER WITHOUT RECEIPT: base:${tx_hash}, log ${log_index} of block ${block_number}: ${amount} atomic USDC to ${to}${unfinished}`;
  }
  const { task_id, tx_hash, amount, transfer_index } = finding.receipt;
  if (finding.kind === 'receipt_without_transfer') {
    const vouched = transfer_index === null ? '; the receipt was signed before the transfer was on the chain' : '';
    return `RECEIPT WITHOUT TRANSFER: ${task_id}: the chain has no transfer of ${amount} atomic USDC in ${tx_hash}${vouched}`;
  }
  if (finding.kind === 'amount_differs')
    return `AMOUNT DIFFERS: ${task_id} names ${amount} atomic USDC, the chain ${finding.transfer.amount} in ${tx_hash}`;
  return `PAYMENT USED TWICE: ${task_id}: another receipt names the same transfer in ${tx_hash}`;
}
