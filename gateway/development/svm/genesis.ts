import { usdcAccountOf } from '../../rails/solana/programs.ts';
import { type SvmAccount, systemAccount, usdcHolding, usdcMint } from './accounts.ts';
import { developmentFeePayer, developmentSolanaBuyers } from './wallets.ts';

const BUYER_USDC_ATOMIC = 1_000_000_000n;
const SUPPLY_ATOMIC = 1_000_000_000_000_000n;
/** A settlement costs 10,000. */
const FEE_PAYER_LAMPORTS = 1_000_000_000_000n;

/** What turns an empty LiteSVM into the development Solana. The same each time: what the journal tells is done upon it. */
export async function genesisAccounts(): Promise<SvmAccount[]> {
  const owners = developmentSolanaBuyers.map(({ address }) => address);
  const holdings = owners.map(async owner => usdcHolding(await usdcAccountOf(owner), owner, BUYER_USDC_ATOMIC));
  const feePayer = systemAccount(developmentFeePayer.address, FEE_PAYER_LAMPORTS);
  return [usdcMint(SUPPLY_ATOMIC), feePayer, ...(await Promise.all(holdings))];
}
