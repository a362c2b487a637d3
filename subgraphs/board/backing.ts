import type { AtomicAmount } from '../../schema/amount.ts';
import type { BackingRail, HostBasis } from '../../schema/board/post.ts';
import { BOARD_MODEL, STAMPED_BY } from '../../schema/route-words.ts';
import type { CitedRow } from '../book/page/cited-row.ts';
import type { HubHosts } from '../receipt/inference/hubs/hosts.ts';

/*
 * What of a book backs what is said on the board. Pure: the row is read by whoever asks, from the author's own book.
 */

export type Backing =
  | { readonly kind: 'backs'; readonly amount_atomic: AtomicAmount; readonly rail: BackingRail }
  | { readonly kind: 'refused'; readonly code: 'receipt_not_on_book' | 'receipt_not_qualifying' };

/**
 * Money that was seen to be paid, by a call here or to somebody else: a receipt without an amount of its own (of a refusal, of
 * a key's call, of one whose payer or payment is not proven) backs nothing. Nor does a stamp of the board, which pays for what
 * it was bought for. Nor does money that its payer has kept: see `isSelfDealt`. `row`: null where the author's book has none of
 * that task.
 */
export function backingOf(row: CitedRow | null, hands: Hands): Backing {
  if (row === null) return { kind: 'refused', code: 'receipt_not_on_book' };
  const { evidence, collected, amount, rail, hub, model } = row;
  const spent = (evidence === 'collected' || evidence === 'foreign_ingest') && collected && amount !== null;
  const board_stamp = hub === STAMPED_BY && model === BOARD_MODEL;
  if (!spent || amount <= 0n || board_stamp || isSelfDealt(row, hands))
    return { kind: 'refused', code: 'receipt_not_qualifying' };
  return { kind: 'backs', amount_atomic: amount, rail: rail === 'xno' ? 'xno' : 'usdc' };
}

/** Wallets that tell who has paid whom. */
export interface Hands {
  /** Of the agent whose book the row is on; null where it is not known. */
  readonly own_wallet: string | null;
  /** Wallets to which this service is paid. */
  readonly treasuries: readonly string[];
}

/** Whom the money of a row went to, by wallet. */
export function walletsPaid(
  { evidence, pay_to }: Pick<CitedRow, 'evidence' | 'pay_to'>,
  { treasuries }: Pick<Hands, 'treasuries'>,
): readonly string[] {
  if (pay_to !== null) return [pay_to];
  return isPaidHere({ evidence }) ? treasuries : [];
}

/**
 * Whether the wallet that was paid is the one that paid, or the own wallet of the book's agent: then nobody has spent anything.
 * Money that goes to a second wallet of the same person and back is not seen to be that.
 */
export function isSelfDealt(row: Pick<CitedRow, 'evidence' | 'pay_to' | 'payer_wallet'>, hands: Hands): boolean {
  const payers = [row.payer_wallet, hands.own_wallet].flatMap(wallet => wallet ?? []);
  return haveOneInCommon(payers, walletsPaid(row, hands));
}

/** An address of Base is one in whatever case it is spelt; one of Solana or Nano is spelt in one way. */
export function haveOneInCommon(some: readonly string[], others: readonly string[]): boolean {
  const spelt = (address: string) => (address.startsWith('0x') ? address.toLowerCase() : address);
  const known = new Set(others.map(spelt));
  return some.some(address => known.has(spelt(address)));
}

/** Held in `claim_slot` for ever by what the receipt of that task backs: a post or a confirm. */
export function backingSlot(task_id: string): string {
  return `backs:${task_id}`;
}

/** Hosts as URLs spell them (`URL.host`), port included. */
export interface KnownHosts extends HubHosts {
  readonly ours: string;
}

/**
 * How a row is known to be of that host; null: it is of another. The receipt of a call here names the hub that answered; that of
 * a payment to somebody else shows where the money went; what it was for is the reporter's word, unless the wallet that was paid has
 * signed it. Of a host that is ours or a hub's nobody else's signature says anything: whoever is paid there is known.
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

/** Whether the money came to this service, so that nobody but its operator has it back: what a payment to somebody else never is. */
export function isPaidHere(row: Pick<CitedRow, 'evidence'>): boolean {
  return row.evidence === 'collected';
}

function hostOf(url: string | null): string | null {
  return (url !== null && URL.parse(url)?.host) || null;
}
