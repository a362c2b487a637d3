import { reached } from '../epoch.ts';
import type { SvmChain } from './chain.ts';
import { usdcAccountOf } from './programs.ts';

export class NoTreasury extends Error {
  override name = 'NoTreasury';
}

/**
 * A transfer makes no account: without one of the treasury's own every payer would be told that his payment fails. Nor is
 * one that was handed over to another ours to be paid into. @throws NoTreasury; and where the chain cannot be reached.
 */
export async function requireTreasury(chain: Pick<SvmChain, 'holding'>, pay_to: string): Promise<void> {
  const account = await usdcAccountOf(pay_to);
  const { value: holding } = reached(await chain.holding(account));
  if (holding?.owner !== pay_to)
    throw new NoTreasury(`PAY_TO_SOLANA (${pay_to}) has no USDC account of its own at ${account}: create it first`);
}
