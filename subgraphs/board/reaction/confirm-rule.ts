import type { ErrorCode } from '../../../schema/errors.ts';
import type { CitedRow } from '../../book/page/cited-row.ts';
import { backingOf, hostBasis, type KnownHosts, type PartyWallets, shareWallet } from '../backing.ts';

/** Facts that decide whether a confirmation is accepted. */
export interface ConfirmFacts {
  readonly author: number;
  readonly confirmer: number;
  readonly endpoint_host: string;
  /** The cited row on the confirmer's own book. Null if the book has no row of that task. */
  readonly row: CitedRow | null;
  /** Wallets of the report: of its author, of the payers of its stamp and of the cited receipt, and of the payee of the cited receipt. */
  readonly report_wallets: readonly string[];
  /** Wallets of the confirmer and of this service, for `backingOf`. */
  readonly hands: PartyWallets;
}

export type ConfirmFault = Extract<
  ErrorCode,
  'self_confirm' | 'related_confirm' | 'receipt_not_on_book' | 'receipt_not_qualifying' | 'receipt_host_differs'
>;

/**
 * Why a confirmation is refused. Null if it is accepted. A confirmation states that another party with other money had the same outcome at
 * the host, so the author, the payer of the report and the payee of its receipt are refused. These checks come before those of the receipt.
 * Pure.
 */
export function confirmFault(confirming: ConfirmFacts, known: KnownHosts): ConfirmFault | null {
  const { author, confirmer, endpoint_host, row, report_wallets, hands } = confirming;
  if (author === confirmer) return 'self_confirm';
  if (row === null) return 'receipt_not_on_book';
  const confirmers = [row.payer_wallet, hands.own_wallet].flatMap(wallet => wallet ?? []);
  if (shareWallet(confirmers, report_wallets)) return 'related_confirm';
  const backing = backingOf(row, hands);
  if (backing.kind === 'refused') return backing.code;
  return hostBasis(row, endpoint_host, known) === null ? 'receipt_host_differs' : null;
}
