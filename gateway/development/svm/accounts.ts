import { type Address, address, getAddressEncoder } from '@solana/kit';
import type { LiteSVM } from 'litesvm';
import { networks } from '../../../schema/network.ts';
import { TOKEN_PROGRAM, usdcAccountOf } from '../../rails/solana/transfer.ts';
import { developmentFeePayer, developmentSolanaBuyers } from './wallets.ts';

export type SvmAccount = Parameters<LiteSVM['setAccount']>[0];

const USDC_MINT = address(networks.solana.usdc);
export const USDC_DECIMALS = 6;

const TOKEN_ACCOUNT_BYTES = 165;
const MINT_BYTES = 82;
/** Lamports that exceed the rent exemption of either account. */
const RENT_EXEMPT_LAMPORTS = 10_000_000n;
const SYSTEM_PROGRAM = address('11111111111111111111111111111111');
const encoder = getAddressEncoder();

/** Account of the mint in SPL Token's layout, without freeze authority and mint authority. */
function usdcMint(supply_atomic: bigint): SvmAccount {
  const data = Buffer.alloc(MINT_BYTES);
  data.writeBigUInt64LE(supply_atomic, 36);
  data[44] = USDC_DECIMALS;
  data[45] = 1;
  return ofTokenProgram(USDC_MINT, data);
}

/** A token account in SPL Token's layout, initialized and without a delegate. */
export function usdcHolding(at: string, owner: string, amount_atomic: bigint): SvmAccount {
  const data = Buffer.alloc(TOKEN_ACCOUNT_BYTES);
  data.set(encoder.encode(USDC_MINT), 0);
  data.set(encoder.encode(address(owner)), 32);
  data.writeBigUInt64LE(amount_atomic, 64);
  data[108] = 1;
  return ofTokenProgram(address(at), data);
}

/** An account of the system program, with lamports. */
function systemAccount(at: string, lamports: bigint): SvmAccount {
  return accountAt(address(at), SYSTEM_PROGRAM, Buffer.alloc(0), lamports);
}

function ofTokenProgram(at: Address, data: Buffer): SvmAccount {
  return accountAt(at, address(TOKEN_PROGRAM), data, RENT_EXEMPT_LAMPORTS);
}

function accountAt(at: Address, programAddress: Address, data: Buffer, lamports: bigint): SvmAccount {
  const facts = { address: at, programAddress, executable: false, lamports, space: BigInt(data.length) };
  // LiteSVM has a separate copy of @solana/kit, whose branded types differ.
  return { ...facts, data: new Uint8Array(data) } as unknown as SvmAccount;
}

const BUYER_USDC_ATOMIC = 1_000_000_000n;
const SUPPLY_ATOMIC = 1_000_000_000_000_000n;
/** Lamports of the fee payer. A settlement costs 10,000. */
const FEE_PAYER_LAMPORTS = 1_000_000_000_000n;

/**
 * The accounts that turn an empty LiteSVM into the development Solana. They never change, because the journal is replayed on them.
 */
export async function genesisAccounts(): Promise<SvmAccount[]> {
  const owners = developmentSolanaBuyers.map(({ address }) => address);
  const holdings = owners.map(async owner => usdcHolding(await usdcAccountOf(owner), owner, BUYER_USDC_ATOMIC));
  const feePayer = systemAccount(developmentFeePayer.address, FEE_PAYER_LAMPORTS);
  return [usdcMint(SUPPLY_ATOMIC), feePayer, ...(await Promise.all(holdings))];
}
