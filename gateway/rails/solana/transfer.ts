import { createHash } from 'node:crypto';
import { getAddressEncoder, getProgramDerivedAddress } from '@solana/addresses';
import {
  type Address,
  type CompiledTransactionMessage,
  getBase58Decoder,
  getBase64EncodedWireTransaction,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  getPublicKeyFromAddress,
  getTransactionDecoder,
  type Transaction,
  verifySignature,
} from '@solana/kit';
import { networks } from '../../../schema/network.ts';

type Lifetime = { readonly lifetimeToken: string };

export interface DecodedTransaction {
  readonly transaction: Transaction;
  readonly message: CompiledTransactionMessage & Lifetime;
  /** SHA-256 of the signed message, as lower-case hex. */
  readonly message_hash: string;
}

/**
 * Decodes a transaction. Null if the bytes are not one, or have an encoding that no block accepts: with trailing bytes, or with a
 * count that is written longer than necessary.
 */
export function readWireTransaction(raw: Uint8Array): DecodedTransaction | null {
  try {
    const transaction = getTransactionDecoder().decode(raw);
    const message = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes);
    const plain = getCompiledTransactionMessageEncoder().encode(message as CompiledTransactionMessage & Lifetime);
    if (!Buffer.from(plain).equals(Buffer.from(transaction.messageBytes))) return null;
    const message_hash = createHash('sha256')
      .update(transaction.messageBytes as unknown as Uint8Array)
      .digest('hex');
    return { transaction, message: message as DecodedTransaction['message'], message_hash };
  } catch {
    // The codecs throw if the bytes are not a transaction.
    return null;
  }
}

/** The wire transaction as base64, with another signature of `signer`. */
export function withSignature({ transaction }: DecodedTransaction, signer: string, signature: Uint8Array): string {
  const signatures = { ...transaction.signatures, [signer]: signature } as Transaction['signatures'];
  return getBase64EncodedWireTransaction({ ...transaction, signatures });
}

export async function isTransactionSignedBy({ transaction }: DecodedTransaction, signer: string): Promise<boolean> {
  const signature = transaction.signatures[signer as Address];
  if (!signature) return false;
  try {
    return await verifySignature(await getPublicKeyFromAddress(signer as Address), signature, transaction.messageBytes);
  } catch {
    // An address is not always a key.
    return false;
  }
}

/**
 * The chain's id of the transaction: the signature of its fee payer, who is the first signer, in base58. Null if the fee payer has
 * not signed.
 */
export function signatureName({ transaction, message }: DecodedTransaction): string | null {
  const [fee_payer] = message.staticAccounts;
  const signature = fee_payer && transaction.signatures[fee_payer];
  return signature ? getBase58Decoder().decode(signature) : null;
}

/** The USDC transfer of a payment. */
export interface TransferInstruction {
  readonly source: string;
  readonly destination: string;
  readonly authority: string;
  readonly amount_atomic: bigint;
}

/** Index of the transfer. It follows ComputeUnitLimit and ComputeUnitPrice (x402's `exact` on Solana). */
export const TRANSFER_INDEX = 2;
const TRANSFER_CHECKED = 12;
const USDC_DECIMALS = 6;
/** Length of the instruction's data: discriminator, amount as u64, decimals. */
const TRANSFER_BYTES = 10;

/** Reads the TransferChecked of USDC at its index; null if another instruction is at that index. */
export function transferIn({ message }: DecodedTransaction): TransferInstruction | null {
  const { instructions, staticAccounts } = message as {
    readonly instructions: readonly Instruction[];
    readonly staticAccounts: readonly string[];
  };
  const instruction = instructions[TRANSFER_INDEX];
  if (!instruction?.data || staticAccounts[instruction.programAddressIndex] !== TOKEN_PROGRAM) return null;
  const data = Buffer.from(instruction.data);
  const [source, mint, destination, authority, ...more] = (instruction.accountIndices ?? []).map(
    index => staticAccounts[index],
  );
  if (data.length !== TRANSFER_BYTES || data[0] !== TRANSFER_CHECKED || data[9] !== USDC_DECIMALS) return null;
  if (mint !== networks.solana.usdc || more.length > 0 || !source || !destination || !authority) return null;
  return { source, destination, authority, amount_atomic: data.readBigUInt64LE(1) };
}

interface Instruction {
  readonly programAddressIndex: number;
  readonly accountIndices?: readonly number[];
  readonly data?: Readonly<Uint8Array>;
}

/** Whether any instruction uses the fee payer's account, although the fee payer signs only for the fee. */
export function usesFeePayer({ message }: DecodedTransaction): boolean {
  const instructions = message.instructions as readonly Instruction[];
  return instructions.some(
    ({ programAddressIndex, accountIndices = [] }) => programAddressIndex === 0 || accountIndices.includes(0),
  );
}

/** Address of SPL Token, the program of USDC. Token-2022 is another program and has no USDC. */
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL' as Address;

const encoder = getAddressEncoder();

/** Address of the owner's associated token account for USDC. @throws if `owner` is not an address */
export async function usdcAccountOf(owner: string): Promise<string> {
  const seeds = [owner, TOKEN_PROGRAM, networks.solana.usdc].map(seed => encoder.encode(seed as Address));
  return (await getProgramDerivedAddress({ programAddress: ASSOCIATED_TOKEN_PROGRAM, seeds }))[0];
}
