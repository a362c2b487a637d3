import type { JsonObject } from '../canonical-json.ts';
import { type ReceiptSummary, type SpendLane, spendLanes } from './receipt-summary.ts';

/* Totals over many receipts: sums of seen payments by network, rail and payer, and the number of receipts by lane. */

export interface SpendSum extends JsonObject {
  readonly network: string;
  readonly rail: string;
  readonly payer: string;
  readonly receipts: number;
  /** Digits of atomic units. */
  readonly amount: string;
}

export interface ReceiptTally extends JsonObject {
  /** Number of receipts, each counted once. */
  readonly receipts: number;
  /** Number of repeated documents of a receipt. They count in no sum. */
  readonly duplicates: number;
  /** Number of receipts for a transfer that another receipt covers. They count in no sum. */
  readonly transfers_repeated: number;
  readonly lanes: Readonly<Partial<Record<SpendLane, number>>>;
  /** Spending whose transfer the issuer saw. */
  readonly spend: readonly SpendSum[];
  /** Amounts that are not, or may not be, spending: pending, not found, or by an unproven payer. */
  readonly not_counted: readonly SpendSum[];
}

export type TallyOutcome = 'counted' | 'duplicate' | 'transfer_repeated';

/** Adds up valid receipts. */
export function openTally() {
  const seen = new Set<string>();
  const transfers = new Set<string>();
  const lanes: Partial<Record<SpendLane, number>> = {};
  const [spend, others] = [new Map<string, SpendSum>(), new Map<string, SpendSum>()];
  let [receipts, duplicates, transfers_repeated] = [0, 0, 0];
  return {
    /**
     * @param claims the verified payload
     * @param summary the summary of the same receipt
     */
    add(claims: JsonObject, summary: ReceiptSummary): TallyOutcome {
      // The same receipt in another envelope is the same receipt.
      const name = JSON.stringify(claims.payload_hash ?? [claims.iss ?? null, claims.jti ?? null]);
      if (seen.has(name)) {
        duplicates++;
        return 'duplicate';
      }
      seen.add(name);
      receipts++;
      lanes[summary.lane] = (lanes[summary.lane] ?? 0) + 1;
      if (summary.transfers.some(transfer => transfers.has(transfer))) {
        transfers_repeated++;
        return 'transfer_repeated';
      }
      for (const transfer of summary.transfers) transfers.add(transfer);
      addTo(spendLanes[summary.lane].seen ? spend : others, summary);
      return 'counted';
    },
    tally: (): ReceiptTally => ({
      receipts,
      duplicates,
      transfers_repeated,
      lanes: { ...lanes },
      spend: [...spend.values()],
      not_counted: [...others.values()],
    }),
  };
}

function addTo(sums: Map<string, SpendSum>, { network, rail, payer, total }: ReceiptSummary): void {
  if (total === null || network === null || rail === null || payer === null) return;
  const name = JSON.stringify([network, rail, payer]);
  const { receipts = 0, amount = '0' } = sums.get(name) ?? {};
  const sum = String(BigInt(amount) + BigInt(total));
  sums.set(name, { network, rail, payer, receipts: receipts + 1, amount: sum });
}
