import {
  type CompiledTransactionMessage,
  getAddressDecoder,
  getBase58Decoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  type Transaction,
} from '@solana/kit';
import type { LiteSVM, TransactionMetadata } from 'litesvm';
import type { Json } from '../../../schema/canonical-json.ts';
import { TOKEN_PROGRAM } from '../../rails/solana/transfer.ts';
import { USDC_DECIMALS } from './accounts.ts';

/** A transaction that was decoded from its bytes. */
export interface ParsedTransaction {
  readonly signature: string;
  readonly transaction: Transaction;
  readonly message: CompiledTransactionMessage & { readonly lifetimeToken: string };
  readonly keys: readonly string[];
}

/** A transaction in a block. */
export interface BlockTransaction extends ParsedTransaction {
  readonly raw: Buffer;
  readonly slot: number;
  readonly err: Json;
  /** Metadata as in the result of `getTransaction`. */
  readonly meta: { readonly [name: string]: Json };
}

/** Balances of a transaction's accounts, before or after it. */
export interface SvmHoldings {
  readonly lamports: number[];
  readonly tokens: Json[];
}

/** Decodes a transaction. @throws if the bytes are not one */
export function decodeTransaction(raw: Buffer): ParsedTransaction {
  const transaction = getTransactionDecoder().decode(raw);
  const message = getCompiledTransactionMessageDecoder().decode(
    transaction.messageBytes,
  ) as ParsedTransaction['message'];
  const [first] = Object.values(transaction.signatures);
  return {
    // If the fee payer has not signed, the signature is all zeros.
    signature: getBase58Decoder().decode(first ?? new Uint8Array(64)),
    transaction: transaction as Transaction,
    message,
    keys: message.staticAccounts,
  };
}

/** Lamports of programs. They are cached because programs never change here, and each read of a program copies its code. */
const programLamports = new Map<string, number>();

export function holdingsOf(svm: LiteSVM, keys: readonly string[]): SvmHoldings {
  const accounts = keys.map(key => {
    if (programLamports.has(key)) return null;
    const account = svm.getAccount(key as Parameters<LiteSVM['getAccount']>[0]);
    if (account.exists && account.executable) programLamports.set(key, Number(account.lamports));
    return account;
  });
  return {
    lamports: accounts.map((account, index) =>
      account?.exists ? Number(account.lamports) : (programLamports.get(keys[index] ?? '') ?? 0),
    ),
    tokens: accounts.flatMap((account, accountIndex): Json[] => {
      if (!account?.exists || account.programAddress !== String(TOKEN_PROGRAM) || account.data.length !== 165)
        return [];
      const address = getAddressDecoder();
      return [
        {
          accountIndex,
          mint: address.decode(account.data, 0),
          owner: address.decode(account.data, 32),
          programId: TOKEN_PROGRAM,
          uiTokenAmount: tokenAmount(Buffer.from(account.data).readBigUInt64LE(64)),
        },
      ];
    }),
  };
}

export function tokenAmount(atomic: bigint): { readonly [name: string]: Json } {
  const unit = 10n ** BigInt(USDC_DECIMALS);
  const uiAmountString = `${atomic / unit}.${String(atomic % unit).padStart(USDC_DECIMALS, '0')}`.replace(/\.?0+$/, '');
  // `uiAmount` is a float and deprecated.
  return { amount: String(atomic), decimals: USDC_DECIMALS, uiAmount: null, uiAmountString };
}

/** Results of an execution, except the accounts. */
export function traceOf(metadata: TransactionMetadata): { readonly [name: string]: Json } {
  const inner = metadata.innerInstructions().map((instructions, index) => ({
    index,
    instructions: instructions.map(one => ({
      programIdIndex: one.instruction().programIdIndex(),
      accounts: [...one.instruction().accounts()],
      data: getBase58Decoder().decode(one.instruction().data()),
      stackHeight: one.stackHeight(),
    })),
  }));
  return {
    logMessages: metadata.logs(),
    innerInstructions: inner.filter(({ instructions }) => instructions.length > 0),
    computeUnitsConsumed: Number(metadata.computeUnitsConsumed()),
  };
}

/** A transaction in the form of JSON-RPC with `encoding: "json"`. */
export function transactionJson({ transaction, message, keys }: ParsedTransaction): Json {
  const { header, instructions } = message as unknown as {
    readonly header: {
      readonly numSignerAccounts: number;
      readonly numReadonlySignerAccounts: number;
      readonly numReadonlyNonSignerAccounts: number;
    };
    readonly instructions: readonly {
      readonly programAddressIndex: number;
      readonly accountIndices?: readonly number[];
      readonly data?: Uint8Array;
    }[];
  };
  const base58 = getBase58Decoder();
  return {
    signatures: Object.values(transaction.signatures).map(bytes => base58.decode(bytes ?? new Uint8Array(64))),
    message: {
      accountKeys: [...keys],
      header: {
        numRequiredSignatures: header.numSignerAccounts,
        numReadonlySignedAccounts: header.numReadonlySignerAccounts,
        numReadonlyUnsignedAccounts: header.numReadonlyNonSignerAccounts,
      },
      recentBlockhash: message.lifetimeToken,
      instructions: instructions.map(one => ({
        programIdIndex: one.programAddressIndex,
        accounts: [...(one.accountIndices ?? [])],
        data: base58.decode(one.data ?? new Uint8Array()),
        stackHeight: null,
      })),
    },
  };
}
