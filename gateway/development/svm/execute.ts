import { FailedTransactionMetadata, LiteSVM } from 'litesvm';
import type { Json } from '../../../schema/canonical-json.ts';
import { type SvmAccount, usdcHolding } from './accounts.ts';
import type { JournalEntry } from './journal.ts';
import {
  type BlockTransaction,
  decodeTransaction,
  holdingsOf,
  type ParsedTransaction,
  traceOf,
} from './transactions.ts';

type SvmTransaction = Parameters<LiteSVM['sendTransaction']>[0];
export type Address = Parameters<LiteSVM['getAccount']>[0];

export interface Simulation {
  readonly err: Json;
  readonly logs: readonly string[];
  readonly units: number;
  readonly inner: Json;
}

export function emptySvm(genesis: readonly SvmAccount[]): LiteSVM {
  // LiteSVM has only one valid blockhash, but Solana accepts the last 150. Blockhashes and replays are therefore checked in this
  // folder.
  const svm = new LiteSVM().withBlockhashCheck(false).withTransactionHistory(0n);
  for (const account of genesis) svm.setAccount(account);
  return svm;
}

export function fund(svm: LiteSVM, deed: JournalEntry & { kind: 'funded' }): void {
  const account = svm.getAccount(deed.usdc_account as Address);
  const held = account.exists ? Buffer.from(account.data).readBigUInt64LE(64) : 0n;
  svm.setAccount(usdcHolding(deed.usdc_account, deed.owner, held + BigInt(deed.usdc_atomic)));
  if (deed.lamports !== '0')
    svm.airdrop(deed.owner as Address, BigInt(deed.lamports) as Parameters<LiteSVM['airdrop']>[1]);
}

/** Executes a transaction. Null for one that no block can include: it is not signed, or its fee payer has no lamports. */
export function land(svm: LiteSVM, raw: Buffer, slot: number, time: number): BlockTransaction | null {
  const read = decodeTransaction(raw);
  const clock = svm.getClock();
  clock.slot = BigInt(slot);
  clock.unixTimestamp = BigInt(time);
  svm.setClock(clock);
  const before = holdingsOf(svm, read.keys);
  const result = withoutThrow(() => svm.sendTransaction(read.transaction as SvmTransaction));
  if (result === null) return null;
  const failure = result instanceof FailedTransactionMetadata ? result.err() : null;
  if (failure !== null && !stands(failure)) return null;
  const after = holdingsOf(svm, read.keys);
  const err = failure === null ? null : failureJson(failure);
  const meta = {
    err,
    status: statusJson(err),
    fee: (before.lamports[0] ?? 0) - (after.lamports[0] ?? 0),
    preBalances: before.lamports,
    postBalances: after.lamports,
    preTokenBalances: before.tokens,
    postTokenBalances: after.tokens,
    rewards: [],
    loadedAddresses: { readonly: [], writable: [] },
    ...traceOf(result instanceof FailedTransactionMetadata ? result.meta() : result),
  };
  return { ...read, raw, slot, err, meta };
}

export function tryOut(svm: LiteSVM, read: ParsedTransaction, signatures: boolean): Simulation {
  const unsigned = Object.entries(read.transaction.signatures).map(([key, bytes]) => [
    key,
    bytes ?? new Uint8Array(64),
  ]);
  const transaction = signatures ? read.transaction : { ...read.transaction, signatures: Object.fromEntries(unsigned) };
  svm.withSigverify(signatures);
  const result = withoutThrow(() => svm.simulateTransaction(transaction as SvmTransaction));
  svm.withSigverify(true);
  if (result === null) return failedSimulation('SignatureFailure');
  const trace = traceOf(result.meta());
  return {
    err: result instanceof FailedTransactionMetadata ? failureJson(result.err()) : null,
    logs: result.meta().logs(),
    units: Number(result.meta().computeUnitsConsumed()),
    inner: trace.innerInstructions ?? [],
  };
}

/** Result of `act`, or null if it throws, as LiteSVM's binding does if a signature is missing. */
function withoutThrow<T>(act: () => T): T | null {
  try {
    return act();
  } catch {
    return null;
  }
}

export function failedSimulation(err: string): Simulation {
  return { err, logs: [], units: 0, inner: [] };
}

type Failure = ReturnType<FailedTransactionMetadata['err']>;

/** Names of errors, in the order of litesvm's enumerations, which are only types and do not exist at run time. */
const transactionErrors = [
  'AccountInUse',
  'AccountLoadedTwice',
  'AccountNotFound',
  'ProgramAccountNotFound',
  'InsufficientFundsForFee',
  'InvalidAccountForFee',
  'AlreadyProcessed',
  'BlockhashNotFound',
  'CallChainTooDeep',
  'MissingSignatureForFee',
  'InvalidAccountIndex',
  'SignatureFailure',
  'InvalidProgramForExecution',
  'SanitizeFailure',
];
const instructionErrors = [
  'GenericError',
  'InvalidArgument',
  'InvalidInstructionData',
  'InvalidAccountData',
  'AccountDataTooSmall',
  'InsufficientFunds',
  'IncorrectProgramId',
  'MissingRequiredSignature',
  'AccountAlreadyInitialized',
  'UninitializedAccount',
  'UnbalancedInstruction',
  'ModifiedProgramId',
  'ExternalAccountLamportSpend',
];

/** An error in the form of JSON-RPC: `"BlockhashNotFound"`, `{InstructionError: [2, {Custom: 1}]}`. */
function failureJson(failure: Failure): Json {
  if (typeof failure === 'number') return transactionErrors[failure] ?? `TransactionError${failure}`;
  if (!('err' in failure)) return { [failure.toString().split(/[ ({]/)[0] ?? 'TransactionError']: {} };
  const inner = failure.err();
  if (typeof inner === 'number')
    return { InstructionError: [failure.index, instructionErrors[inner] ?? `InstructionError${inner}`] };
  return { InstructionError: [failure.index, 'code' in inner ? { Custom: inner.code } : 'BorshIoError'] };
}

/** Whether a transaction with this error is included in a block nevertheless, with its fee paid. */
function stands(failure: Failure): boolean {
  return typeof failure !== 'number';
}

export function statusJson(err: Json): Json {
  return err === null ? { Ok: null } : { Err: err };
}
