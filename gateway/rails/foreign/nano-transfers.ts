import type { ChainPosition, NamedTransfer, Observation } from '../../../subgraphs/foreign-transfers.ts';
import type { BlockInfo, NanoNode } from '../nano/nano-node.ts';
import {
  hashOfBlock,
  isGenuine,
  keyOfNanoAddress,
  nanoAddressOf,
  type StateBlock,
  workOf,
} from '../nano/state-block.ts';
import { noAnswer, notBelieved, type TransferVerifier } from './transfer-verifier.ts';

export interface NanoVerifierParts {
  readonly node: Pick<NanoNode, 'block'>;
  /** Minimum work of a send: the network's, unless a test sets less. */
  readonly work_min: bigint;
}

/** A cemented block is permanent. No other network has it, because later blocks name earlier ones by their hashes. */
const CEMENTED: ChainPosition = { block_number: null, block_hash: null, final: true };

/** Verifies transfers on Nano, where one block is one transfer. */
export function openNanoTransferVerifier(parts: NanoVerifierParts): TransferVerifier {
  return { observe: named => observe(parts, named), standing: async () => ({ kind: 'final' }) };
}

/**
 * Verifies a send by its own bytes: hash, signature and work are recomputed, and the amount is the previous block's balance minus
 * its own. Only `confirmed` is accepted from the node without a check.
 */
async function observe({ node, work_min }: NanoVerifierParts, named: NamedTransfer): Promise<Observation> {
  const hash = named.transaction.toUpperCase();
  const found = await node.block(hash);
  if (found.kind !== 'ok') return noAnswer(found.cause);
  if (found.value === null) return notBelieved('not_found');
  if ('legacy' in found.value) return notBelieved('no_such_transfer');
  const { block, confirmed } = found.value;
  if (!isGenuine(block, hash)) return notBelieved('forged_block');
  if (!confirmed) return notBelieved('not_confirmed');
  if (/^0+$/.test(block.previous)) return notBelieved('no_such_transfer');

  const before = await node.block(block.previous);
  if (before.kind !== 'ok') return noAnswer(before.cause);
  if (before.value === null) return noAnswer(new Error('the node has a block but not the previous one'));
  // The balance before the first state block cannot be read from a single block.
  if ('legacy' in before.value) return notBelieved('no_such_transfer');
  if (hashOfBlock(before.value.block) !== block.previous) return notBelieved('forged_block');
  const judged = judge(found.value, before.value.block, named, hash);
  // A block that receives needs less work than a send, so the type of the block is checked first.
  return judged.kind === 'observed' && workOf(block) < work_min ? notBelieved('forged_block') : judged;
}

function judge({ block, subtype }: BlockInfo, before: StateBlock, named: NamedTransfer, hash: string): Observation {
  const account = keyOfNanoAddress(block.account);
  if (account === null || keyOfNanoAddress(before.account)?.equals(account) !== true)
    return notBelieved('forged_block');
  const amount = before.balance - block.balance;
  const sends = amount > 0n;
  if (sends !== (subtype === 'send')) {
    return sends
      ? noAnswer(new Error('the node reports a send block as another type'))
      : notBelieved('no_such_transfer');
  }
  const payee = Buffer.from(block.link, 'hex');
  const meant =
    sends &&
    named.index === null &&
    amount === named.amount_atomic &&
    keyOfNanoAddress(named.pay_to)?.equals(payee) === true &&
    (named.payer === null || keyOfNanoAddress(named.payer)?.equals(account) === true);
  if (!meant) return notBelieved('no_such_transfer');
  const [payer, pay_to] = [nanoAddressOf(account), nanoAddressOf(payee)];
  const what = { network: 'nano', rail: 'xno', asset: 'XNO', transaction: hash, index: null } as const;
  return { kind: 'observed', transfer: { ...what, payer, pay_to, amount: amount.toString() }, seen_in: CEMENTED };
}
