import { type NetworkName, networks } from '../../../schema/network.ts';
import type { ObservedTransfer } from '../../../schema/observed-transfer.ts';
import type {
  ChainPosition,
  NamedTransfer,
  Observation,
  TransferFault,
  TransferStanding,
} from '../../../subgraphs/foreign-transfers.ts';
import type { Unreachable } from '../rpc.ts';

/** Verifies payments to others on one chain. */
export interface TransferVerifier {
  observe(named: NamedTransfer): Promise<Observation>;
  standing(transfer: ObservedTransfer, seen_in: ChainPosition): Promise<TransferStanding>;
}

export const notBelieved = (reason: TransferFault): Observation => ({ kind: 'not_believed', reason });
export const noAnswer = (cause: unknown): Observation => ({ kind: 'unknown', cause });

class Inconsistent extends Error {
  override name = 'Inconsistent';
}

/** Failure for a node whose records contradict each other: it has responded, but nothing can be concluded. */
export function contradiction(what: string): Unreachable {
  return { kind: 'unreachable', cause: new Inconsistent(what) };
}

/** USDC that moved from one owner to another in a transaction, with normalized addresses. */
export interface UsdcMovement {
  /** Index as in `ObservedTransfer`. */
  readonly index: number;
  readonly payer: string;
  readonly pay_to: string;
  readonly amount_atomic: bigint;
}

/** Finds the named movement among all movements of a transaction. `named` has the movements' spelling of addresses. */
export function namedMovement(movements: readonly UsdcMovement[], named: NamedTransfer) {
  return theOneMeant(
    movements.filter(movement => isNamed(movement, named)),
    named.index,
  );
}

function isNamed(moved: UsdcMovement, { payer, pay_to, amount_atomic }: NamedTransfer): boolean {
  // Anyone can transfer 0 from any wallet (EIP-20).
  if (moved.amount_atomic !== amount_atomic || amount_atomic === 0n) return false;
  return moved.pay_to === pay_to && (payer === null || moved.payer === payer);
}

/** Describes a movement as a transfer. `movement` has addresses in the chain's own spelling. */
export function observedUsdc(network: NetworkName, transaction: string, movement: UsdcMovement): ObservedTransfer {
  const { index, payer, pay_to, amount_atomic } = movement;
  const what = { network, rail: 'usdc', asset: networks[network].usdc, transaction } as const;
  return { ...what, index, payer, pay_to, amount: amount_atomic.toString() };
}

/** Whether two transfers of the same transaction are the same. */
export function isSameTransfer(a: ObservedTransfer, b: ObservedTransfer): boolean {
  return a.index === b.index && a.payer === b.payer && a.pay_to === b.pay_to && a.amount === b.amount;
}

/** Maximum number of indexes in a refusal. If there are more, the caller must look at the transaction anyway. */
const INDEXES_SAID_MAX = 32;

/** The transfer at the given index, or the only one if no index is given. */
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
