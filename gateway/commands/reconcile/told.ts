import { type AtomicAmount, atomicAmount, formatUsdc } from '../../../schema/amount.ts';
import { canonicalJson } from '../../../schema/canonical-json.ts';
import { spelt } from '../../../schema/eip55.ts';
import { sumsAsJson } from '../../../schema/reconciliation.ts';
import {
  type Classified,
  noSums,
  type SentTransfer,
  sumClasses,
  transferClasses,
} from '../../../schema/reconciliation-rule.ts';
import type { ReconcileOptions } from './options.ts';
import type { CheckedUse, VerifiedUse } from './verified-uses.ts';

export interface Reconciled {
  readonly asked: ReconcileOptions;
  readonly transfers: readonly Classified<SentTransfer, VerifiedUse>[];
  readonly wrong: readonly Extract<CheckedUse, { kind: 'wrong' }>[];
}

const usdc = (amount: bigint) => formatUsdc(atomicAmount(amount) satisfies AtomicAmount);

/** A table for people, and what each class comes to. */
export function reconciledLines({ asked, transfers, wrong }: Reconciled): string[] {
  const sums = sumClasses(noSums, transfers);
  const rows = transfers.map(({ class: of, transfer, use }) => {
    const { block_number, log_index, tx_hash, to, amount } = transfer;
    const place = `${block_number} ${tx_hash} ${log_index}`;
    return `  ${of.padEnd(11)} ${usdc(amount).padStart(16)} to ${spelt(to)}  ${place}${use ? `  ${use.task_id}` : ''}`;
  });
  return [
    ...wrong.map(({ task_id, sentence, code }) => `WRONG RECEIPT: ${task_id}: ${sentence} (${code})`),
    `${transfers.length} transfers of ${spelt(asked.wallet)} in blocks ${asked.from} to ${asked.to}:`,
    ...rows,
    ...transferClasses.map(
      of => `${`${of}:`.padEnd(12)} ${String(sums[of].count).padStart(6)}, ${usdc(sums[of].amount)}`,
    ),
  ];
}

/** The same for programs. */
export function reconciledJson({ asked, transfers, wrong }: Reconciled): string {
  return canonicalJson({
    wallet: spelt(asked.wallet),
    from_block: asked.from,
    to_block: asked.to,
    transfers: transfers.map(({ class: of, transfer, use }) => ({
      block_number: transfer.block_number,
      log_index: transfer.log_index,
      tx_hash: transfer.tx_hash,
      payee: spelt(transfer.to),
      amount: transfer.amount.toString(),
      class: of,
      task_id: use?.task_id ?? null,
    })),
    sums: sumsAsJson(sumClasses(noSums, transfers)),
    wrong_receipts: wrong.map(({ task_id, code, sentence }) => ({ task_id, code, sentence })),
  });
}
