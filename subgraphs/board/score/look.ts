import { scoreLimits } from '../../../schema/limits.ts';
import { scoreWeights } from './weights.ts';

/* Searches a chain for the funders of a wallet, within limits. Each way in which a search can fail has its own kind. */

export interface FundingTransfer {
  readonly from: string;
  readonly to: string;
  /** Amount in atomic USDC. */
  readonly amount: bigint;
}

/** A page of transfers. `refused`: the node does not search that many blocks at once. */
export type MovedPage =
  | { readonly kind: 'read'; readonly moved: readonly FundingTransfer[] }
  | { readonly kind: 'refused' | 'unreachable' };

/** Reads transfers of USDC on Base. Addresses are in lower case. Never throws. */
export interface FundingChain {
  /** Number of the newest block. Null if the chain cannot be read now. */
  head(): Promise<number | null>;
  into(wallet: string, from_block: number, to_block: number): Promise<MovedPage>;
  outOf(wallet: string, from_block: number, to_block: number): Promise<MovedPage>;
}

export interface Funder {
  readonly funder: string;
  /** Amount that the funder sent in these blocks, digits of atomic USDC. Absent in results of earlier versions. */
  readonly amount?: string;
  /** Number of wallets to which the funder sent, counted up to one more than `funder_wallets_max`. Null if it could not be determined. */
  readonly funded_wallets: number | null;
}

export type FundingLook =
  | { readonly kind: 'known'; readonly funders: readonly Funder[] }
  | { readonly kind: 'refused' | 'unreachable' };

interface Range {
  readonly from_block: number;
  readonly to_block: number;
}

/** The zero address, which is the sender of minted tokens. */
const NOBODY = `0x${'0'.repeat(40)}`;
const BP = 10_000n;

/**
 * Finds the senders of at least `funder_part_min_bp` of what the wallet received in these blocks, and the number of wallets to which each
 * of them sent.
 */
export async function fundersOf(chain: FundingChain, payer: string, range: Range): Promise<FundingLook> {
  const came = new Map<string, bigint>();
  const read = await eachPage(
    range,
    page => chain.into(payer, ...page),
    ({ from, amount }) => {
      if (from !== payer) came.set(from, (came.get(from) ?? 0n) + amount);
      return true;
    },
  );
  if (read !== 'read') return { kind: read };
  const total = [...came.values()].reduce((sum, amount) => sum + amount, 0n);
  const part_min = BigInt(scoreWeights.funder_part_min_bp);
  const large = [...came].filter(([from, amount]) => from !== NOBODY && amount * BP >= total * part_min);
  const funders: Funder[] = [];
  for (const [funder, amount] of large.sort(([one], [other]) => (one < other ? -1 : 1))) {
    const funded_wallets = await fundedBy(chain, funder, range);
    if (funded_wallets === 'unreachable') return { kind: 'unreachable' };
    funders.push({ funder, amount: String(amount), funded_wallets });
  }
  return { kind: 'known', funders };
}

async function fundedBy(chain: FundingChain, funder: string, range: Range): Promise<number | null | 'unreachable'> {
  const wallets = new Set<string>();
  const read = await eachPage(
    range,
    page => chain.outOf(funder, ...page),
    ({ to }) => {
      wallets.add(to);
      return wallets.size <= scoreWeights.funder_wallets_max;
    },
  );
  if (read === 'unreachable') return read;
  return read === 'refused' ? null : wallets.size;
}

/** Reads pages of transfers until `take` returns false, or until the range ends. */
async function eachPage(
  { from_block, to_block }: Range,
  ask: (page: readonly [from: number, to: number]) => Promise<MovedPage>,
  take: (moved: FundingTransfer) => boolean,
): Promise<'read' | 'refused' | 'unreachable'> {
  for (let from = from_block; from <= to_block; from += scoreLimits.page_blocks_max) {
    const page = await ask([from, Math.min(to_block, from + scoreLimits.page_blocks_max - 1)]);
    if (page.kind !== 'read') return page.kind;
    if (!page.moved.every(take)) return 'read';
  }
  return 'read';
}
