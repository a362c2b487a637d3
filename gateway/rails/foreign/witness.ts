import { type NetworkName, networks } from '../../../schema/network.ts';
import type { ObservedTransfer } from '../../../schema/observed-transfer.ts';
import type {
  NamedTransfer,
  Observation,
  SeenIn,
  TransferFault,
  TransferStanding,
} from '../../../subgraphs/foreign-transfers.ts';
import type { Unreachable } from '../rpc.ts';

/** One chain, asked about payments that were made to somebody else. */
export interface Witness {
  observe(named: NamedTransfer): Promise<Observation>;
  standing(transfer: ObservedTransfer, seen_in: SeenIn): Promise<TransferStanding>;
}

export const notBelieved = (reason: TransferFault): Observation => ({ kind: 'not_believed', reason });
export const noAnswer = (cause: unknown): Observation => ({ kind: 'unknown', cause });

class Inconsistent extends Error {
  override name = 'Inconsistent';
}

/** Where what a node shows does not hang together: it has answered, and nothing is known. */
export function contradiction(what: string): Unreachable {
  return { kind: 'unreachable', cause: new Inconsistent(what) };
}

/** USDC that went from one owner to another inside a transaction, the addresses in one spelling. */
export interface UsdcMovement {
  /** As in `ObservedTransfer`. */
  readonly index: number;
  readonly payer: string;
  readonly pay_to: string;
  readonly amount_atomic: bigint;
}

/** Of all that a transaction moved the one that is named; `named` in the spelling of the movements. */
export function theOneNamed(movements: readonly UsdcMovement[], named: NamedTransfer) {
  return theOneMeant(
    movements.filter(movement => isNamed(movement, named)),
    named.index,
  );
}

function isNamed(moved: UsdcMovement, { payer, pay_to, amount_atomic }: NamedTransfer): boolean {
  // Anybody may have anybody pay nothing (EIP-20).
  if (moved.amount_atomic !== amount_atomic || amount_atomic === 0n) return false;
  return moved.pay_to === pay_to && (payer === null || moved.payer === payer);
}

/** @param movement in the chain's own spelling */
export function observedUsdc(network: NetworkName, transaction: string, movement: UsdcMovement): ObservedTransfer {
  const { index, payer, pay_to, amount_atomic } = movement;
  const what = { network, rail: 'usdc', asset: networks[network].usdc, transaction } as const;
  return { ...what, index, payer, pay_to, amount: amount_atomic.toString() };
}

/** Of one transaction. */
export function isSameTransfer(a: ObservedTransfer, b: ObservedTransfer): boolean {
  return a.index === b.index && a.payer === b.payer && a.pay_to === b.pay_to && a.amount === b.amount;
}

/** Of a transaction that moves the same a hundred times whoever has to choose needs a look at it. */
const INDEXES_SAID_MAX = 32;

/** The one that is meant of all that a transaction moved: by its index where that is named, or else there is one alone. */
function theOneMeant<T extends { readonly index: number }>(
  found: readonly T[],
  index: number | null,
): { readonly kind: 'one'; readonly transfer: T } | Extract<Observation, { kind: 'not_believed' }> {
  const meant = index === null ? found : found.filter(one => one.index === index);
  const [transfer, second] = meant;
  if (transfer === undefined) return { kind: 'not_believed', reason: 'no_such_transfer' };
  if (second === undefined) return { kind: 'one', transfer };
  const transfer_indexes = meant.slice(0, INDEXES_SAID_MAX).map(one => one.index);
  return { kind: 'not_believed', reason: 'ambiguous', transfer_indexes };
}
