import type { ErrorCode } from '../../../schema/errors.ts';
import type { CitedRow } from '../../book/page/cited-row.ts';
import { backingOf, hostBasis, type KnownHosts } from '../backing.ts';

/** Who confirms whose report, by what. */
export interface Confirming {
  readonly author: number;
  readonly confirmer: number;
  readonly endpoint_host: string;
  /** On the confirmer's own book; null where it has none of that task. */
  readonly row: CitedRow | null;
  /** Whose money is behind the report: of the receipt that it cites, and of its stamp. */
  readonly report_payers: readonly string[];
}

export type ConfirmFault = Extract<
  ErrorCode,
  'self_confirm' | 'related_confirm' | 'receipt_not_on_book' | 'receipt_not_qualifying' | 'receipt_host_differs'
>;

/**
 * What speaks against a confirm; null: nothing. It says that somebody else, with other money, has met the same host: so it is
 * neither the author's own nor paid by whoever paid for the report. Pure.
 */
export function confirmFault(confirming: Confirming, known: KnownHosts): ConfirmFault | null {
  const { author, confirmer, endpoint_host, row, report_payers } = confirming;
  if (author === confirmer) return 'self_confirm';
  const backing = backingOf(row);
  if (backing.kind === 'refused') return backing.code;
  if (row === null || hostBasis(row, endpoint_host, known) === null) return 'receipt_host_differs';
  const payer = row.payer_wallet;
  return payer !== null && report_payers.some(other => isSamePayer(payer, other)) ? 'related_confirm' : null;
}

/** An address of Base is one in whatever case it is spelt; one of Solana or Nano is spelt in one way. */
function isSamePayer(one: string, other: string): boolean {
  const spelt = (address: string) => (address.startsWith('0x') ? address.toLowerCase() : address);
  return spelt(one) === spelt(other);
}
