import type { FailedTransactionMetadata } from 'litesvm';
import type { Json } from '../../../schema/canonical-json.ts';

type Failure = ReturnType<FailedTransactionMetadata['err']>;

/** In the order of litesvm's enumerations, which are types alone and gone when the program runs. */
const transactionErrors = [
  ...['AccountInUse', 'AccountLoadedTwice', 'AccountNotFound', 'ProgramAccountNotFound', 'InsufficientFundsForFee'],
  ...['InvalidAccountForFee', 'AlreadyProcessed', 'BlockhashNotFound', 'CallChainTooDeep', 'MissingSignatureForFee'],
  ...['InvalidAccountIndex', 'SignatureFailure', 'InvalidProgramForExecution', 'SanitizeFailure'],
];
const instructionErrors = [
  ...['GenericError', 'InvalidArgument', 'InvalidInstructionData', 'InvalidAccountData', 'AccountDataTooSmall'],
  ...['InsufficientFunds', 'IncorrectProgramId', 'MissingRequiredSignature', 'AccountAlreadyInitialized'],
  ...['UninitializedAccount', 'UnbalancedInstruction', 'ModifiedProgramId', 'ExternalAccountLamportSpend'],
];

/** As JSON-RPC tells of it: `"BlockhashNotFound"`, `{InstructionError: [2, {Custom: 1}]}`. */
export function failureJson(failure: Failure): Json {
  if (typeof failure === 'number') return transactionErrors[failure] ?? `TransactionError${failure}`;
  if (!('err' in failure)) return { [failure.toString().split(/[ ({]/)[0] ?? 'TransactionError']: {} };
  const inner = failure.err();
  if (typeof inner === 'number')
    return { InstructionError: [failure.index, instructionErrors[inner] ?? `InstructionError${inner}`] };
  return { InstructionError: [failure.index, 'code' in inner ? { Custom: inner.code } : 'BorshIoError'] };
}

/** Whether a transaction that fails so stands in a block all the same, its fee paid. */
export function stands(failure: Failure): boolean {
  return typeof failure !== 'number';
}

export function statusJson(err: Json): Json {
  return err === null ? { Ok: null } : { Err: err };
}
