import type { JsonObject } from '../canonical-json.ts';
import { type ReceiptSummary, type SpendLane, spendLanes } from './receipt-summary.ts';

/* What many receipts come to: sums of what was seen to be paid, by network, rail and payer, and how many receipts are of each lane. */

export interface SpendSum extends JsonObject {
  readonly network: string;
  readonly rail: string;
  readonly payer: string;
  readonly receipts: number;
  /** Digits of atomic units. */
  readonly amount: string;
}

export interface ReceiptTally extends JsonObject {
  /** Receipts that were counted, each once. */
  readonly receipts: number;
  /** Documents of a receipt that had been counted already: they count in no sum. */
  readonly duplicates: number;
  /** Receipts of a transfer that another receipt is of: they count in no sum. */
  readonly transfers_repeated: number;
  readonly lanes: Readonly<Partial<Record<SpendLane, number>>>;
  /** Spend whose transfer the issuer had seen. */
  readonly spend: readonly SpendSum[];
  /** Amounts that are no spend, or not known to be: pending, not found, by an unproven payer. */
  readonly not_counted: readonly SpendSum[];
}

export type TallyOutcome = 'counted' | 'duplicate' | 'transfer_repeated';

/** Counts receipts that were found to be valid. */
export function openTally() {
  const seen = new Set<string>();
  const transfers = new Set<string>();
  const lanes: Partial<Record<SpendLane, number>> = {};
  const [spend, others] = [new Map<string, SpendSum>(), new Map<string, SpendSum>()];
  let [receipts, duplicates, transfers_repeated] = [0, 0, 0];
  return {
    /** @param claims what was signed  @param summary of the same receipt */
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
