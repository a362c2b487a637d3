import { type Hex, hex, selector, tail, words } from './abi.ts';
import type { Authorization } from './authorization.ts';
import type { Call } from './multicall.ts';
import type { ContractSignature } from './signature.ts';
import { transferCall, USDC } from './usdc.ts';

/** What ERC-1271 answers to a good signature, as one whole word: of four bytes alone a precompile might answer any. */
export const VALID_SIGNATURE: Hex = `0x${selector('isValidSignature(bytes32,bytes)').padEnd(64, '0')}`;

const AFTER_TWO_WORDS = 2 * 32;

/** A contract wallet's payment: the wallet is made, where it does not stand yet, and then the transfer. */
export function paymentCalls(authorization: Authorization, signature: ContractSignature): Call[] {
  return after(signature, { target: USDC, callData: transferCall(authorization, signature) });
}

/** A contract wallet asked by ERC-1271 whether a signature is its own; it too is made first where it does not stand. */
export function proofCalls(wallet: Hex, digest: Uint8Array, signature: ContractSignature): Call[] {
  const question = `${words(hex(digest), AFTER_TWO_WORDS)}${tail(signature.bytes)}`;
  const callData: Hex = `0x${selector('isValidSignature(bytes32,bytes)')}${question}`;
  return after(signature, { target: wallet, callData });
}

function after({ deploy }: ContractSignature, call: Call): Call[] {
  return deploy ? [{ target: deploy.factory, callData: deploy.data }, call] : [call];
}
