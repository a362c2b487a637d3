import {
  AccountRole,
  type Address,
  appendTransactionMessageInstructions,
  type Blockhash,
  createNoopSigner,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  type Instruction,
  type KeyPairSigner,
  partiallySignTransactionMessageWithSigners,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import { TOKEN_PROGRAM, usdcAccountOf } from '../../../gateway/rails/solana/transfer.ts';
import { decodePayment } from '../../../gateway/x402/payment-header.ts';
import { networks } from '../../../schema/network.ts';
import type { PresentedPayment } from '../../../subgraphs/context.ts';

const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111' as Address;
const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr' as Address;
const mint = networks.solana.usdc as Address;

/** Parts of a payment that its payer chooses. A test gives those that it changes. */
export interface TransactionParts {
  readonly payer: KeyPairSigner;
  readonly fee_payer: string;
  readonly pay_to: string;
  readonly blockhash: string;
  readonly amount_atomic?: bigint;
  readonly units?: number;
  readonly price_microlamports?: bigint;
  readonly source?: string;
  readonly token_program?: string;
  readonly decimals?: number;
  readonly memo?: string;
  readonly signers?: readonly KeyPairSigner[];
  /** Instructions that follow all others. */
  readonly more?: readonly Instruction[];
}

/** A signed transaction in base64. It is made without the official client, which makes only valid ones. */
export async function makeTransaction(made: TransactionParts): Promise<string> {
  const { fee_payer, blockhash, memo = crypto.randomUUID(), more = [] } = made;
  const memoIx = { programAddress: MEMO, accounts: signing(made.signers ?? []), data: Buffer.from(memo) };
  const instructions = [
    unitLimit(made.units ?? 20_000),
    unitPrice(made.price_microlamports ?? 1n),
    await transfer(made),
  ];
  const lifetime = { blockhash: blockhash as Blockhash, lastValidBlockHeight: 0n };
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    tx => setTransactionMessageFeePayer(fee_payer as Address, tx),
    tx => setTransactionMessageLifetimeUsingBlockhash(lifetime, tx),
    tx => appendTransactionMessageInstructions([...instructions, memoIx, ...more] as Instruction[], tx),
  );
  return getBase64EncodedWireTransaction(await partiallySignTransactionMessageWithSigners(message));
}

async function transfer({
  payer,
  pay_to,
  amount_atomic = 2000n,
  decimals = 6,
  ...made
}: TransactionParts): Promise<Instruction> {
  const data = Buffer.alloc(10);
  data[0] = 12;
  data.writeBigUInt64LE(amount_atomic, 1);
  data[9] = decimals;
  const source = (made.source ?? (await usdcAccountOf(payer.address))) as Address;
  return {
    programAddress: (made.token_program ?? TOKEN_PROGRAM) as Address,
    accounts: [
      { address: source, role: AccountRole.WRITABLE },
      { address: mint, role: AccountRole.READONLY },
      { address: (await usdcAccountOf(pay_to)) as Address, role: AccountRole.WRITABLE },
      ...signing([payer]),
    ],
    data,
  };
}

function signing(signers: readonly KeyPairSigner[]) {
  return signers.map(signer => ({ address: signer.address, role: AccountRole.READONLY_SIGNER, signer }));
}

/** An allowed instruction that requires the account's signature. */
export function memoBy(address: string): Instruction {
  const signer = createNoopSigner(address as Address);
  const accounts = [{ address: signer.address, role: AccountRole.READONLY_SIGNER, signer }];
  return { programAddress: MEMO, accounts, data: Buffer.from('second') } as Instruction;
}

function unitLimit(units: number): Instruction {
  const data = Buffer.alloc(5, 2);
  data.writeUInt32LE(units, 1);
  return { programAddress: COMPUTE_BUDGET, data };
}

function unitPrice(microlamports: bigint): Instruction {
  const data = Buffer.alloc(9, 3);
  data.writeBigUInt64LE(microlamports, 1);
  return { programAddress: COMPUTE_BUDGET, data };
}

/** The payment as the service reads it from a header. */
export function presentedSolanaPayment(version: 1 | 2, transaction: string, accepted: object): PresentedPayment {
  const envelope =
    version === 2
      ? { x402Version: 2, accepted, payload: { transaction } }
      : { x402Version: 1, scheme: 'exact', network: 'solana', payload: { transaction } };
  const decoded = decodePayment(version, Buffer.from(JSON.stringify(envelope)).toString('base64'));
  if (decoded.kind !== 'decoded') throw new Error('the payment under test has no x402 shape');
  return decoded.payment;
}
