import { limits } from '../../../schema/limits.ts';
import type { ObservedTransfer } from '../../../schema/observed-transfer.ts';
import type {
  ChainPosition,
  NamedTransfer,
  Observation,
  TransferStanding,
} from '../../../subgraphs/foreign-transfers.ts';
import type { ChainAnswer } from '../rpc.ts';
import type { LandedStatus, LandedTransaction, SolanaChain } from '../solana/chain.ts';
import { movementsIn } from '../solana/movements.ts';
import {
  type DecodedTransaction,
  isTransactionSignedBy,
  readWireTransaction,
  signatureName,
} from '../solana/transfer.ts';
import {
  contradiction,
  isSameTransfer,
  namedMovement,
  noAnswer,
  notBelieved,
  observedUsdc,
  type TransferVerifier,
  type UsdcMovement,
} from './transfer-verifier.ts';

export interface SolanaVerifierParts {
  readonly chain: Pick<SolanaChain, 'statuses' | 'transaction' | 'finalized' | 'oldest' | 'genesisHash'>;
  /** Prefix of the chain's genesis hash; null on a development chain, whose genesis hash differs. */
  readonly genesis: string | null;
}

/**
 * Verifies USDC transfers on Solana by the signed transaction, its instructions and its balance changes. The payer is the owner of
 * the source account.
 */
export function openSolanaTransferVerifier(parts: SolanaVerifierParts): TransferVerifier {
  return {
    observe: named => observe(parts, named),
    standing: (transfer, seen_in) => standing(parts, transfer, seen_in),
  };
}

async function observe({ chain, genesis }: SolanaVerifierParts, named: NamedTransfer): Promise<Observation> {
  const { transaction: signature } = named;
  const [look, ours] = await Promise.all([lookUp(chain, signature), isOurs(chain, genesis)]);
  if (look.kind !== 'ok') return noAnswer(look.cause);
  if (ours.kind !== 'ok') return noAnswer(ours.cause);
  if (look.value === null) return notBelieved('not_found');
  const { status, movements } = look.value;
  if (status.err !== null) return notBelieved('reverted');
  const meant = namedMovement(movements, named);
  if (meant.kind !== 'one') return meant;
  const seen_in = { block_number: status.slot, block_hash: null, final: status.final };
  return { kind: 'observed', transfer: observedUsdc('solana', signature, meant.transfer), seen_in };
}

async function isOurs(chain: SolanaVerifierParts['chain'], genesis: string | null): Promise<ChainAnswer<null>> {
  if (genesis === null) return { kind: 'ok', value: null };
  const found = await chain.genesisHash();
  if (found.kind !== 'ok') return found;
  return found.value.startsWith(genesis)
    ? { kind: 'ok', value: null }
    : contradiction('the node belongs to another chain');
}

interface TransactionLook {
  readonly status: LandedStatus;
  readonly movements: readonly UsdcMovement[];
}

/** Null if the transaction is in no confirmed block. */
async function lookUp(
  chain: SolanaVerifierParts['chain'],
  signature: string,
): Promise<ChainAnswer<TransactionLook | null>> {
  const [statuses, landed] = await Promise.all([chain.statuses([signature]), chain.transaction(signature)]);
  if (statuses.kind !== 'ok') return statuses;
  if (landed.kind !== 'ok') return landed;
  const [status = null] = statuses.value.value;
  if (status === null && landed.value === null) return { kind: 'ok', value: null };
  // A node has a status shortly before the transaction itself, and nodes behind one URL may differ.
  if (status === null || landed.value === null)
    return contradiction('the node has only the status or only the transaction');
  return readLanded(signature, status, landed.value);
}

async function readLanded(
  signature: string,
  status: LandedStatus,
  landed: LandedTransaction,
): Promise<ChainAnswer<TransactionLook>> {
  const read = readWireTransaction(landed.raw);
  if (read === null || signatureName(read) !== signature || !(await isSigned(read)))
    return contradiction('the node returned another transaction');
  if (landed.slot !== status.slot || (landed.err === null) !== (status.err === null))
    return contradiction('the node reports two different outcomes');
  if (status.err !== null) return { kind: 'ok', value: { status, movements: [] } };
  const found = movementsIn(read, landed);
  if (found.kind === 'contradiction') return contradiction('balance changes do not match the instructions');
  return { kind: 'ok', value: { status, movements: found.movements } };
}

/** Whether all required signers have signed, so that the content is theirs whichever node returns it. */
async function isSigned(read: DecodedTransaction): Promise<boolean> {
  const { header, staticAccounts } = read.message;
  const signers = staticAccounts.slice(0, header.numSignerAccounts);
  return (await Promise.all(signers.map(signer => isTransactionSignedBy(read, signer)))).every(signed => signed);
}

/**
 * State of a transfer. It has vanished if a node that still keeps its slot, and has seen a final slot so much later that no block
 * can include the transaction, has no such transaction.
 */
async function standing(
  { chain }: SolanaVerifierParts,
  transfer: ObservedTransfer,
  seen_in: ChainPosition,
): Promise<TransferStanding> {
  // The final slot is read first: a transaction that is in no block by then, according to a node that has seen that slot, will
  // never be in one.
  const finalized = await chain.finalized();
  if (finalized.kind !== 'ok') return { kind: 'unknown' };
  const look = await lookUp(chain, transfer.transaction);
  if (look.kind !== 'ok') return { kind: 'unknown' };
  if (look.value === null) return absent(chain, finalized.value.slot, transfer.transaction, seen_in);
  const { status, movements } = look.value;
  if (!status.final) return { kind: 'pending', seen_in: { block_number: status.slot, block_hash: null, final: false } };
  const seen = movements.map(movement => observedUsdc('solana', transfer.transaction, movement));
  const stands = seen.some(each => isSameTransfer(each, transfer));
  return { kind: stands ? 'final' : 'vanished' };
}

async function absent(
  chain: SolanaVerifierParts['chain'],
  final_slot: number,
  signature: string,
  seen_in: ChainPosition,
): Promise<TransferStanding> {
  const { block_number } = seen_in;
  if (block_number === null) return { kind: 'unknown' };
  if (final_slot < block_number + limits.foreign_vanished_slots_min) return { kind: 'pending', seen_in };
  const [statuses, oldest] = await Promise.all([chain.statuses([signature]), chain.oldest()]);
  if (statuses.kind !== 'ok' || oldest.kind !== 'ok') return { kind: 'unknown' };
  const { slot, value } = statuses.value;
  const known = value[0] === null && slot >= final_slot && oldest.value <= block_number;
  return { kind: known ? 'vanished' : 'unknown' };
}
