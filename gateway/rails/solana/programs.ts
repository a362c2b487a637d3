import { type Address, getAddressEncoder, getProgramDerivedAddress } from '@solana/addresses';
import { networks } from '../../../schema/network.ts';

/** SPL Token: USDC's own program. Token-2022 is another, and has no USDC. */
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL' as Address;

const encoder = getAddressEncoder();

/** Where an owner's USDC lies: his associated token account. @throws where it is no address. */
export async function usdcAccountOf(owner: string): Promise<string> {
  const seeds = [owner, TOKEN_PROGRAM, networks.solana.usdc].map(seed => encoder.encode(seed as Address));
  return (await getProgramDerivedAddress({ programAddress: ASSOCIATED_TOKEN_PROGRAM, seeds }))[0];
}
