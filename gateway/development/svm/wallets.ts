import { createHash } from 'node:crypto';
import { getBase58Decoder } from '@solana/codecs-strings';
import { publicKeyOf } from '../../config/solana.ts';

export interface SolanaWallet {
  readonly address: string;
  /** Key in the form that wallets export: base58 of seed and public key, 64 bytes. */
  readonly private_key: string;
}

/** The wallet of an Ed25519 seed of 32 bytes. */
export function solanaWallet(seed: Uint8Array): SolanaWallet {
  const public_key = publicKeyOf(seed);
  const base58 = getBase58Decoder();
  return { address: base58.decode(public_key), private_key: base58.decode(Buffer.concat([seed, public_key])) };
}

/** A wallet whose key is publicly known, like those of anvil's accounts. It has nothing on real chains. */
function knownWallet(role: string): SolanaWallet {
  return solanaWallet(createHash('sha256').update(`development wallet: ${role}`).digest());
}

/** Wallet that pays the fees of settlements and signs nothing else. */
export const developmentFeePayer = knownWallet('fee payer');
/** Wallets that hold USDC for new users and tests. */
export const developmentSolanaBuyers = [1, 2, 3, 4, 5].map(number => knownWallet(`buyer ${number}`));
