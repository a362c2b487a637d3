import type { AtomicAmount } from '../../schema/amount.ts';
import type { BackingRail, HostBasis } from '../../schema/board/post.ts';
import { BOARD_MODEL, STAMPED_BY } from '../../schema/route-words.ts';
import type { CitedRow } from '../book/page/cited-row.ts';
import type { HubHosts } from '../receipt/inference/hubs/hosts.ts';

/* Decides whether the row of a book backs a post. Pure: the caller reads the row from the author's own book. */

export type Backing =
  | { readonly kind: 'backs'; readonly amount_atomic: AtomicAmount; readonly rail: BackingRail }
  | { readonly kind: 'refused'; readonly code: 'receipt_not_on_book' | 'receipt_not_qualifying' };

/**
 * Only a proven payment backs a post: for a call here, or to another party. Receipts without an amount (of a refusal, of a call with an API
 * key, of an unproven payer or payment) back nothing. A stamp of the board backs nothing either, because it pays for its own entry, and
 * neither does money that its payer has kept (see `isSelfDealt`). `row` is null if the author's book has no row of that task.
 */
export function backingOf(row: CitedRow | null, hands: PartyWallets): Backing {
  if (row === null) return { kind: 'refused', code: 'receipt_not_on_book' };
  const { evidence, collected, amount, rail, hub, model } = row;
  const spent = (evidence === 'collected' || evidence === 'foreign_ingest') && collected && amount !== null;
  const board_stamp = hub === STAMPED_BY && model === BOARD_MODEL;
  if (!spent || amount <= 0n || board_stamp || isSelfDealt(row, hands))
    return { kind: 'refused', code: 'receipt_not_qualifying' };
  return { kind: 'backs', amount_atomic: amount, rail: rail === 'xno' ? 'xno' : 'usdc' };
}

/** Wallets that decide whether payer and payee of a row are the same party. */
export interface PartyWallets {
  /** Wallet of the agent whose book the row is on. Null if unknown. */
  readonly own_wallet: string | null;
  /** Wallets to which this service is paid. */
  readonly treasuries: readonly string[];
}

/** Wallets that received the money of a row. Empty if they are unknown. */
export function walletsPaid(
  { evidence, pay_to }: Pick<CitedRow, 'evidence' | 'pay_to'>,
  { treasuries }: Pick<PartyWallets, 'treasuries'>,
): readonly string[] {
  if (pay_to !== null) return [pay_to];
  return isPaidHere({ evidence }) ? treasuries : [];
}

/**
 * Whether the paid wallet belongs to the payer or to the agent: nothing was spent then. A round trip through a second wallet of the same
 * person is not detected.
 */
export function isSelfDealt(row: Pick<CitedRow, 'evidence' | 'pay_to' | 'payer_wallet'>, hands: PartyWallets): boolean {
  const payers = [row.payer_wallet, hands.own_wallet].flatMap(wallet => wallet ?? []);
  return shareWallet(payers, walletsPaid(row, hands));
}

/**
 * Whether both lists contain the same wallet. Addresses of Base are compared without case. An address of Solana or Nano has only one
 * spelling.
 */
export function shareWallet(some: readonly string[], others: readonly string[]): boolean {
  const spelt = (address: string) => (address.startsWith('0x') ? address.toLowerCase() : address);
  const known = new Set(others.map(spelt));
  return some.some(address => known.has(spelt(address)));
}

/**
 * Slot of a receipt that backs something. The post or the confirmation that takes it holds it for ever, so a receipt backs only one of
 * them.
 */
export function backingSlot(task_id: string): string {
  return `backs:${task_id}`;
}

/** Hosts of this service and of the hubs, as URLs spell them (`URL.host`), port included. */
export interface KnownHosts extends HubHosts {
  readonly ours: string;
}

/**
 * What proves that a row concerns the host. Null if it concerns another host. The receipt of a call here names the hub that answered. A
 * payment to another party only shows where the money went, so its host is only declared by the reporter, unless the paid wallet has signed
 * it. For a host of this service or of a hub, the signature of another party proves nothing.
 */
export function hostBasis(
  { evidence, hub, resource, merchant_signed }: Pick<CitedRow, 'evidence' | 'hub' | 'resource' | 'merchant_signed'>,
  endpoint_host: string,
  known: KnownHosts,
): HostBasis | null {
  if (evidence === 'foreign_ingest') {
    if (hostOf(resource) !== endpoint_host) return null;
    const known_payee = endpoint_host === known.ours || known.isHubHost(endpoint_host);
    return merchant_signed && !known_payee ? 'signed' : 'declared';
  }
  const hosts = [known.ours, hub === null ? null : known.hostOfHub(hub)];
  return hosts.includes(endpoint_host) ? 'signed' : null;
}

/** Whether the payment went to this service. Only its operator could return it then. */
export function isPaidHere(row: Pick<CitedRow, 'evidence'>): boolean {
  return row.evidence === 'collected';
}

function hostOf(url: string | null): string | null {
  return (url !== null && URL.parse(url)?.host) || null;
}
